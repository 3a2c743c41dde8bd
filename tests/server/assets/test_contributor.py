"""The page of a person who answers a campaign."""

from __future__ import annotations

import contextlib
import json

import pytest
from playwright.sync_api import Browser, expect

from ldptrace.curator.facts import Facts
from ldptrace.protocol.reports import read_report
from ldptrace.server import campaigns, tokens
from ldptrace.server.storage import Database
from server_kit import Server, opened, reports_counted, terms, texts
from shuffled_kit import KEY, shuffled
from visit_kit import GPX, LINE, PLANE, WORLD, choose, ledger, visit

pytestmark = pytest.mark.slow


def test_the_whole_way_of_a_contributor(browser: Browser, server: Server, database: Database) -> None:
    plan = opened(
        database,
        "way",
        WORLD,
        title="Cycling <b>in</b> town",
        organiser="The town",
        contact="trips@town.example",
        notice="One.\n\nTwo <i>parts</i>.",
        until=1_900_000_000,
    )
    with visit(browser, server) as tab:
        page = tab.go("/c/way")
        expect(page.locator("h1")).to_have_text("Cycling <b>in</b> town")
        # Who runs it and what was given so far is there before a trip is asked for; numbers are behind a fold.
        expect(page.locator("#who")).to_have_text(
            "Run by The town. Open until March 17, 2030. Questions: trips@town.example"
        )
        expect(page.locator("#given")).to_have_text("You have not answered this campaign yet.")
        expect(page.locator("#ledger")).to_contain_text("used 0 of the 5 units")
        expect(page.locator("#asking")).to_be_hidden()
        page.get_by_text("The numbers").click()
        expect(page.locator("#asking")).to_contain_text("at most 2.72 times as likely")
        expect(page.locator("#plan")).to_contain_text(plan.id)
        page.get_by_text("Privacy notice").click()
        assert page.locator("#notice p").all_inner_texts() == ["One.", "Two <i>parts</i>."]
        assert page.locator("#asking li").count() == len(WORLD.rounds[0].asks)
        expect(page.locator("#send")).to_be_disabled()
        choose(page, "trip.gpx", GPX)
        expect(page.locator("#found")).to_contain_text("3 points")
        expect(page.locator("#send")).to_be_disabled()
        # Nothing is drawn before the person agrees, and nothing has been sent.
        assert ledger(page) is None
        page.check("#consent")
        expect(page.locator("#send")).to_be_enabled()
        assert ledger(page) is None
        assert tab.sent() == []
        page.click("#send")
        expect(page.locator("#outcome")).to_have_text("Your answer was counted. Thank you.")
        expect(page.locator("#given")).to_contain_text("You have answered this campaign.")
        page.get_by_text("Byte for byte").click()
        [body] = tab.sent()
        assert page.locator("#bytes").inner_text().replace(" ", "").replace("\n", "") == body.hex()
        [(ask, slots)] = read_report(body, plan, 0)
        said = page.locator("#meaning").inner_text()
        assert f"To the question about {texts()['en']['questions'][ask.question.name]}" in said
        first = next(iter(slots[0]), ask.question.domain)
        assert ("nothing" if first >= ask.question.domain else ask.question.words(first)) in said
        assert reports_counted(database, "way") == 1
        # The file never leaves the page: nothing of it is in any request.
        for request in tab.requests:
            text = request.url + str(request.headers) + (request.post_data_buffer or b"").decode("latin-1")
            assert not any(part in text for part in ("123456", "523456", "trip.gpx", "2026-03-01"))
        assert {one.method for one in tab.requests} == {"GET", "POST"}
        assert ledger(page)["entries"][0]["report"] is None
        page.reload()
        expect(page.locator("#message")).to_contain_text("You have answered. Nothing more is asked of you")
        assert page.locator("#trip").is_hidden()
        assert len(tab.sent()) == 1


def test_a_report_leaves_at_a_random_moment(browser: Browser, server: Server, database: Database) -> None:
    opened(database, "later", WORLD)
    with visit(browser, server) as found:
        found.context.add_init_script("globalThis.ldptraceLongestWait = 1000000")
        page = found.go("/c/later")
        page.click("#none")
        page.check("#consent")
        page.click("#send")
        expect(page.locator("#outcome")).to_contain_text(
            "It leaves at a random moment within 1,000,000 seconds"
        )
        # It is in the ledger, nothing left the page (but with a chance of 1e-5), and another visit can send it.
        assert found.sent() == []
        page = found.go("/c/later")
        expect(page.locator("#again")).to_be_visible()


def test_a_report_that_did_not_arrive_is_sent_again_as_it_was(
    browser: Browser, server: Server, database: Database
) -> None:
    opened(database, "offline", WORLD)
    with visit(browser, server) as tab:
        page = tab.go("/c/offline")
        choose(page, "trip.geojson", json.dumps(LINE))
        page.check("#consent")
        tab.context.set_offline(True)
        page.click("#send")
        expect(page.locator("#outcome")).to_contain_text("could not be reached")
        tab.context.set_offline(False)
        page.reload()
        expect(page.locator("#pending")).to_be_visible()
        assert page.locator("#trip").is_hidden()
        page.click("#again")
        expect(page.locator("#outcome")).to_contain_text("was counted")
        first, second = tab.sent()
        assert first == second
        assert reports_counted(database, "offline") == 1


def test_admission_codes(browser: Browser, server: Server, database: Database) -> None:
    campaigns.create(database, "invited", PLANE, actor="test")
    [code] = tokens.create_admissions(database, "invited", 1, actor="test")
    campaigns.open_round(database, "invited", actor="test")
    with visit(browser, server) as tab:
        page = tab.go("/c/invited")
        page.locator("#map").click(position={"x": 60, "y": 60})
        page.check("#consent")
        expect(page.locator("#send")).to_be_disabled()
        page.fill("#admission", "wrong")
        page.click("#send")
        expect(page.locator("#outcome")).to_contain_text("admission code")
        page.fill("#admission", code)
        page.click("#again")
        expect(page.locator("#outcome")).to_contain_text("was counted")
        first, second = tab.sent()
        assert first == second


def test_campaigns_that_cannot_be_answered(browser: Browser, server: Server, database: Database) -> None:
    opened(database, "over", PLANE)
    campaigns.close(database, "over", actor="test", now=0)
    with visit(browser, server) as tab:
        page = tab.go("/c/over")
        expect(page.locator("#message")).to_contain_text("closed")
        assert page.locator("#trip").is_hidden()
    expensive = Facts(1000, "6", (0.0, 0.0, 6.0, 6.0), grid=6).plan()
    opened(database, "dear", expensive)
    with visit(browser, server) as tab:
        # That it cannot be answered is known before a trip is asked for.
        page = tab.go("/c/dear")
        expect(page.locator("#message")).to_contain_text("more privacy than is left")
        assert page.locator("#trip").is_hidden()
        assert tab.sent() == []


def test_an_answer_that_was_not_sent_can_be_erased(
    browser: Browser, server: Server, database: Database
) -> None:
    """It is never sent then, and the ledger still knows that it was given away."""
    opened(database, "stopping", PLANE)
    with visit(browser, server) as tab:
        page = tab.go("/c/stopping")
        page.click("#none")
        expect(page.locator("#found")).to_contain_text("somebody without a trip counts too")
        page.check("#consent")
        tab.context.set_offline(True)
        page.click("#send")
        expect(page.locator("#outcome")).to_contain_text("could not be reached")
        tab.context.set_offline(False)
        page.get_by_text("How to stop").click()
        page.click("#stop")
        expect(page.locator("#message")).to_contain_text("Erased")
        page.reload()
        expect(page.locator("#given")).to_contain_text("You have answered")
        assert page.locator("#trip").is_hidden()
        assert page.locator("#pending").is_hidden()
        assert [entry["report"] for entry in ledger(page)["entries"]] == [None]
    assert reports_counted(database, "stopping") == 0


@pytest.mark.parametrize("chosen", ["browser", "person"])
def test_the_page_in_another_language(
    browser: Browser, server: Server, database: Database, chosen: str
) -> None:
    with contextlib.suppress(Exception):
        opened(database, "deutsch", PLANE, organiser="Stadt")
    with visit(browser, server, locale="de-DE" if chosen == "browser" else "fr-FR") as tab:
        page = tab.go("/c/deutsch")
        if chosen == "person":
            expect(page.locator("#what-title")).to_have_text("What happens here")
            page.select_option("#language", "de")
        expect(page.locator("#what-title")).to_have_text("Was hier geschieht")
        expect(page.locator("#who")).to_have_text("Veranstaltet von Stadt.")
        assert page.locator("html").get_attribute("lang") == "de"
        page.locator("#map").click(position={"x": 60, "y": 60})
        page.check("#consent")
        page.click("#send")
        expect(page.locator("#outcome")).to_have_text("Deine Antwort wurde gezählt. Danke.")


def test_a_shuffled_campaign_is_answered_at_its_shuffler(
    browser: Browser, server: Server, database: Database
) -> None:
    campaigns.create(database, "mixed", shuffled(WORLD), terms(), actor="test", key=KEY)
    plan = campaigns.open_round(database, "mixed", actor="test").plan
    with visit(browser, server) as tab:
        page = tab.go("/c/mixed")
        expect(page.locator("#message")).to_contain_text("It is run by: A club.")
        link = page.locator("#message a")
        expect(link).to_have_attribute("href", f"https://club.example/c/{plan.id}")
        assert page.locator("#trip").is_hidden()
        assert page.locator("#you").is_hidden()
