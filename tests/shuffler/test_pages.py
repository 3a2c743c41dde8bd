"""The page on which people answer a shuffled plan, as the shuffler serves it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from starlette.testclient import TestClient

from ldptrace.device.explanation import explain_asking
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import CampaignName, Plan
from ldptrace.protocol.reports import read_report
from ldptrace.protocol.seals import label_bytes
from ldptrace.shuffler.app import create_app
from ldptrace.shuffler.store import Store
from ldptrace.web.limits import Settings
from ports_kit import free_port
from shuffled_kit import KEY, UNTIL, shuffled, weekly
from shuffler_kit import running
from visit_kit import Visit

WORLD = Plan.single_report(Grid((13.0, 52.0, 14.0, 53.0), 6), 2, crs="EPSG:4326").changed(
    campaign=CampaignName("spring", "0" * 32)
)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    store = Store(tmp_path, lambda: UNTIL - 1.0)
    store.add_plan(shuffled(WORLD), "https://curator.example/v1/campaigns/spring", "token", admission=False)
    app = create_app(store, Settings(clock=lambda: UNTIL - 1.0), lambda request: (500, ""))
    with TestClient(app) as found:
        yield found


def test_the_page_and_what_it_shows(client: TestClient) -> None:
    plan = shuffled(WORLD)
    assert "contributor.js" in client.get(f"/c/{plan.id}").text
    assert client.get("/assets/client/src/seals.js").status_code == 200
    about = client.get(f"/v2/plans/{plan.id}/about").json()
    assert (about["title"], about["state"], about["plan"], about["until"]) == (
        "spring",
        "open",
        plan.id,
        UNTIL,
    )
    assert about["notice"] == "https://curator.example/c/spring"
    asked = client.get(f"/v2/plans/{plan.id}/words").json()["questions"]
    assert [one["name"] for one in asked] == [ask.question.name for ask in plan.rounds[0].asks]
    for path in (f"/c/{'0' * 64}", "/c/spring", "/assets/nothing.js", f"/v2/plans/{'0' * 64}/about"):
        assert client.get(path).status_code == 404, path


@pytest.mark.slow
def test_a_person_answers_on_the_page(browser: Browser, tmp_path: Path) -> None:
    """The operator is shown before anything is sent to the shuffler, and nobody but the curator reads it."""
    port, now = free_port(), [time.time()]
    plan = shuffled(WORLD, batch=2, epsilon=Fraction(2), address=f"http://127.0.0.1:{port}")
    store = Store(tmp_path, lambda: now[0])
    store.add_plan(plan, "http://127.0.0.1:9/v1/campaigns/spring", "token", admission=False)
    with running(tmp_path, port) as server:
        tabs = [Visit(browser, server) for _ in range(2)]
        for tab in tabs:
            page = tab.go(f"/c/{plan.id}")
            expect(page.locator("#shuffler")).to_contain_text(f"A club, http://127.0.0.1:{port}")
            expect(page.locator("#notice-link")).to_contain_text("server, which sees your address")
            expect(page.locator("#ledger")).to_contain_text("of that, 0 of at most 30 are used")
            page.locator("#map").click(position={"x": 60, "y": 60})
            page.check("#consent")
            assert tab.sent() == []
            page.click("#send")
            expect(page.locator("#outcome")).to_contain_text("The shuffler holds your answer")
            expect(page.locator("#ledger")).to_contain_text("of that, 2 of at most 30 are used")
            page.reload()
            expect(page.locator("#message")).to_contain_text("You have answered")
            assert tab.complaints == []
            assert {one.url for one in tab.requests if one.method == "POST"} == {
                f"{server.url}/v2/plans/{plan.id}/reports"
            }
        sent = [body for tab in tabs for body in tab.sent()]
    now[0] = UNTIL + 1.0
    [batch] = store.close_due()
    assert batch.reports == len(sent) == 2
    for body in sent:
        opened = KEY.opener(plan.id).open(body, label_bytes(None))
        assert opened is not None
        read_report(opened, plan, 0)
    store.close()


@pytest.mark.slow
def test_a_plan_that_the_address_does_not_name_is_not_answered(browser: Browser, tmp_path: Path) -> None:
    port = free_port()
    plan, other = (shuffled(WORLD, batch=batch, address=f"http://127.0.0.1:{port}") for batch in (2, 3))
    store = Store(tmp_path, time.time)
    store.add_plan(plan, "http://127.0.0.1:9/v1/campaigns/spring", "token", admission=False)
    with running(tmp_path, port) as server:
        tab = Visit(browser, server)
        tab.page.route(f"**/v2/plans/{plan.id}", lambda route: route.fulfill(body=other.to_json()))
        page = tab.go(f"/c/{plan.id}")
        expect(page.locator("#message")).to_contain_text("not the one whose id the device was given")
        assert page.locator("#trip").is_hidden()
    store.close()


@pytest.mark.slow
def test_the_total_is_shown_before_a_person_takes_part(browser: Browser, tmp_path: Path) -> None:
    """The eps0 of all answers that the lifetime allows, which counts from then on."""
    port = free_port()
    plan = weekly(WORLD, answers=3, batch=2, address=f"http://127.0.0.1:{port}")
    store = Store(tmp_path, time.time)
    store.add_plan(plan, "http://127.0.0.1:9/v1/campaigns/spring", "token", admission=False)
    with running(tmp_path, port) as server:
        tab = Visit(browser, server)
        page = tab.go(f"/c/{plan.id}")
        expect(page.locator("#ledger")).to_contain_text(
            "As soon as you take part, 6 count as used, for all 3 answers"
        )
        expect(page.locator("#ledger")).to_contain_text("0 of at most 30 are used")
        # How often the answer is true, as the explanation of a device says it.
        questions = [line.strip() for line in explain_asking(plan, 0) if line.startswith("  ")]
        assert page.locator("#asking li").all_text_contents() == questions
        page.click("#accept")
        expect(page.locator("#ledger")).to_contain_text("6 of at most 30 are used")
        expect(page.locator("#ledger")).not_to_contain_text("As soon as")
        assert tab.complaints == []
    store.close()
