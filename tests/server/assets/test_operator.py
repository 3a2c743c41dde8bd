"""The operator's page; and both pages at every width."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from ldptrace.server import registry, tokens
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.storage import Database
from server_kit import Server, drawn, opened, streets
from visit_kit import PLANE, WORLD, visit

pytestmark = pytest.mark.slow


def test_an_operator_makes_a_campaign_and_watches_it(
    browser: Browser, server: Server, database: Database, tmp_path: Path
) -> None:
    text, _ = tokens.create_token(database, "*", "manage", "an operator", actor="test")
    with visit(browser, server) as tab:
        page = tab.go("/operate")
        page.fill("#token", "ldpt_00000000_" + "0" * 64)
        page.click("#enter button")
        expect(page.locator("#message")).to_contain_text("not valid")
        page.fill("#token", text)
        page.click("#enter button")
        page.click("#new summary")
        for field, value in {"name": "watched", "bounds": "0,0,6,6", "grid": "3", "users": "400"}.items():
            page.fill(f"#create [name={field}]", value)
        page.fill("#create [name=min_reports]", "200")
        # A day of the week and a centre belong to the questions about time.
        expect(page.locator("#create [name=week]")).to_be_disabled()
        page.check("#create [name=time]")
        page.check("#create [name=week]")
        page.fill("#create [name=centre]", "3, 3")
        page.fill("#create [name=organiser]", "The town")
        page.fill("#create [name=until]", "2030-01-31")
        town = streets(tmp_path / "streets")
        page.set_input_files("#create [name=roads]", list(town.iterdir()))
        page.click("#create button")
        # The form is folded when the streets have arrived too.
        expect(page.locator("#new")).not_to_have_attribute("open", "")
        expect(page.locator("#state")).to_have_text("draft")
        with database.reading() as session:
            made = registry.find(session, "watched")
            assert (made.terms.organiser, made.terms.until) == ("The town", 1_896_134_400)
        page.click("#open")
        page.click("#yes")
        expect(page.locator("#state")).to_have_text("open")
        expect(page.locator("#hidden-yet")).to_contain_text("from 200 reports on")
        with database.reading() as session:
            plan = registry.find(session, "watched").plan
        assert {"departure", "pace", "tides"} <= {ask.question.name for ask in plan.rounds[0].asks}
        counter = Counter(database)
        counter.count("watched", [Submission(b"".join(drawn(plan, 199)))])
        expect(page.locator("#count")).to_have_text("199 reports counted")
        assert page.locator("#map-figure").is_hidden()
        counter.count("watched", [Submission(drawn(plan, 1)[0]), Submission(b"garbage")])
        expect(page.locator("#map-figure")).to_be_visible()
        assert page.locator("#map .layer-cells rect").count() >= 9
        assert page.locator("#lengths rect.bar").count() > 5
        # What the colour and a length on the map mean, and one name for a cell.
        expect(page.locator("#map-legend")).to_contain_text("The strongest blue is ")
        assert page.locator("#map path.scale").count() == 1
        assert page.locator("#map .layer-scale text").last.text_content() == "1 m"
        assert (page.locator("#map .layer-cells title").first.text_content() or "").startswith("cell A1: ")
        expect(page.locator("#lengths-card figcaption")).to_contain_text("Noise makes some bars negative")
        assert page.locator("#errors circle.dot").count() == 1
        expect(page.locator("#rejected")).to_contain_text("unknown-version")
        # The streets that came with the form are under the map.
        assert page.locator("#map path.street").count() == 1
        page.click("#close")
        page.click("#no")
        expect(page.locator("#state")).to_have_text("open")
        page.click("#close")
        page.click("#yes")
        expect(page.locator("#state")).to_have_text("closed")
        page.click("#publish")
        page.click("#yes")
        expect(page.locator("#release")).to_be_visible()
        expect(page.locator("#state")).to_have_text("published", timeout=120_000)
        expect(page.locator("#fit-note")).to_contain_text("The map alone, without any report, misses")
        expect(page.locator("#fit th")).to_have_text(
            ["question", "answered by", "model", "map alone", "noise"]
        )
        assert "visits" in page.locator("#fit").inner_text()
        with page.expect_download() as download:
            page.get_by_role("button", name="synthetic.csv (").click()
        rows = Path(download.value.path()).read_text().splitlines()
        assert len(rows) > 200
        page.click("#leave")
        expect(page.locator("#enter")).to_be_visible()
        # Everybody can read what was published.
        shown = tab.go("/c/watched/release")
        expect(shown.locator("h1")).to_have_text("watched")
        assert shown.locator("svg path.trip").count() == 200
        assert shown.locator("h1").evaluate("one => getComputedStyle(one).fontSize") == "25.6px"
        shown.get_by_role("link", name="Trips by hour").click()
        expect(shown.locator("h1")).to_contain_text("watched")
        tab.go("/operate")
        assert page.evaluate("() => sessionStorage.length") == 0


def test_a_token_that_may_only_look(browser: Browser, server: Server, database: Database) -> None:
    opened(database, "looked-at", PLANE)
    text, _ = tokens.create_token(database, "looked-at", "read", "", actor="test")
    with visit(browser, server) as tab:
        page = tab.go("/operate")
        page.fill("#token", text)
        page.click("#enter button")
        expect(page.locator("#name")).to_have_text("looked-at")
        assert page.locator("#list button").count() == 1
        assert page.locator("#actions").is_hidden()
        assert page.locator("#new").is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 820])
def test_every_width(browser: Browser, server: Server, database: Database, width: int, scheme: Any) -> None:
    with contextlib.suppress(Exception):
        opened(database, "widths", WORLD)
    text, _ = tokens.create_token(database, "*", "manage", "", actor="test")
    options = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    with visit(browser, server, **options) as tab:
        for path, ready in (("/c/widths", "#trip"), ("/operate", "#enter")):
            page = tab.go(path)
            expect(page.locator(ready)).to_be_visible()
            if path == "/operate":
                page.fill("#token", text)
                page.keyboard.press("Enter")
                expect(page.locator("#campaign")).to_be_visible()
            # Texts that are folded hold ids of 64 characters.
            page.evaluate(
                "() => [...document.querySelectorAll('details')].filter((one) => one.checkVisibility())"
                ".forEach((one) => (one.open = true))"
            )
            assert page.evaluate("() => document.documentElement.scrollWidth") <= width
            # Whatever can be pressed or filled in has a name, and is large enough for a finger.
            nameless = page.evaluate(
                "() => [...document.querySelectorAll('button, input, select, svg[role=img]')].filter((one) => "
                "one.checkVisibility() && !one.labels?.length && !one.textContent.trim() && !one.ariaLabel)"
                ".map((one) => one.outerHTML)"
            )
            assert nameless == []
            small = page.evaluate(
                "() => [...document.querySelectorAll('button')].filter((one) => one.checkVisibility())"
                ".filter((one) => one.getBoundingClientRect().height < 40).map((one) => one.outerHTML)"
            )
            assert small == []
