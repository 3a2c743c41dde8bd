"""A standing campaign in the browser: answered when due, changed, published."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser, Page, expect

from ldptrace.curator.facts import Facts
from ldptrace.device import Reporter
from ldptrace.device.track import occasion_among
from ldptrace.protocol.reports import read_report, window_of
from ldptrace.protocol.standing import Standing
from ldptrace.server import registry, rounds, tokens
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.storage import Database
from server_kit import Server, opened
from visit_kit import Visit, agree_and_send, choose, ledger, visit

pytestmark = pytest.mark.slow


def test_a_standing_campaign_is_answered_when_it_is_due(
    browser: Browser, server: Server, database: Database
) -> None:
    """Windows of an hour, and a browser whose clock runs ahead by less than a day, which the server allows for."""
    plan = opened(
        database, "hourly", Facts(1000, "1", (0.0, 0.0, 6.0, 6.0), grid=6, every=3600, lifetime=2).plan()
    )
    with visit(browser, server) as tab:
        tab.page.clock.install()
        page = tab.go("/c/hourly")
        expect(page.locator("#due")).to_contain_text("you are asked once in every 1 hours")
        assert page.locator("#trip").is_hidden()
        page.click("#accept")
        expect(page.locator("#due")).to_contain_text("Your next answer is due on")
        expect(page.locator("#due")).to_contain_text("2 answers are left")
        assert page.locator("#trip").is_hidden()
        phase = ledger(page)["standing"][0]["phase"]
        for answer in (1, 2):
            page.clock.fast_forward(3_700_000)
            page.reload()
            expect(page.locator("#due")).to_contain_text("An answer is due now")
            page.locator("#map").click(position={"x": 60, "y": 60})
            agree_and_send(page)
            [row] = ledger(page)["standing"]
            assert (row["answers"], row["phase"], row["report"]) == (answer, phase, None)
        page.clock.fast_forward(3_700_000)
        page.reload()
        expect(page.locator("#due")).to_contain_text("You have given all answers")
        assert page.locator("#trip").is_hidden()
        first, second = tab.sent()
    windows = [window_of(first), window_of(second)]
    with database.reading() as session:
        found = {entry.window: entry.reports for entry in rounds.rounds_of(session, "hourly")}
    assert found == {windows[0]: 1, windows[1]: 1}
    assert read_report(first, plan, 0, windows[0])


def due(tab: Visit, name: str) -> Page:
    """The page of a campaign with windows of an hour, accepted more than an hour ago."""
    tab.page.clock.install()
    page = tab.go(f"/c/{name}")
    page.click("#accept")
    expect(page.locator("#due")).to_contain_text("Your next answer is due on")
    page.clock.fast_forward(3_700_000)
    page.reload()
    return page


def test_trips_of_a_file_are_those_of_the_time_that_is_asked_for(
    browser: Browser, server: Server, database: Database
) -> None:
    """All of them may be drawn; one without a date, or of another time, may not."""
    standing = Standing.of(3600, epsilon=1)
    opened(database, "dated", Facts(1000, "1", (0.0, 0.0, 6.0, 6.0), grid=6, every=3600).plan())
    with visit(browser, server) as tab:
        page = due(tab, "dated")
        expect(page.locator("#due")).to_contain_text("An answer is due now")
        [row] = ledger(page)["standing"]
        end = standing.end(row["window"] + 1, row["phase"])
        kept = max(row["accepted"] + 1, end - 60)

        def file(*arrivals: float | None) -> str:
            """A trip of two points for each arrival."""
            lines = [
                {
                    "type": "Feature",
                    "properties": {} if time is None else {"times": [time - 1, time]},
                    "geometry": {"type": "LineString", "coordinates": [[1, 1], [2, 2]]},
                }
                for time in arrivals
            ]
            return json.dumps({"type": "FeatureCollection", "features": lines})

        choose(page, "a.geojson", file(None, end + 1, end - 3601))
        expect(page.locator("#found")).to_contain_text(
            "None of the trips in this file (3) arrived in the time"
        )
        choose(page, "b.geojson", file(None, kept, end, end + 1))
        expect(page.locator("#found")).to_contain_text("2 trips. One of them is drawn at random")
        expect(page.locator("#found")).to_contain_text("4 points")
        assert page.locator("#map polyline.track").count() == 2
        agree_and_send(page)
        assert [window_of(report) for report in tab.sent()] == [row["window"] + 1]


def test_a_kept_answer_is_not_sent_as_one_of_a_later_window(
    browser: Browser, server: Server, database: Database
) -> None:
    """The later window is asked about its own trips: nothing is drawn for it before."""
    opened(database, "kept", Facts(1000, "1", (0.0, 0.0, 6.0, 6.0), grid=6, every=3600).plan())
    with visit(browser, server) as tab:
        page = due(tab, "kept")
        page.click("#none")
        page.check("#consent")
        tab.context.set_offline(True)
        page.click("#send")
        expect(page.locator("#outcome")).to_contain_text("could not be reached")
        tab.context.set_offline(False)
        page.clock.fast_forward(3_700_000)
        page.click("#again")
        expect(page.locator("#due")).to_contain_text("An answer is due now")
        expect(page.locator("#trip")).to_be_visible()
        [row] = ledger(page)["standing"]
        assert row["answers"] == 1


def test_a_standing_campaign_goes_on_with_another_plan(
    browser: Browser, server: Server, database: Database
) -> None:
    plan = Facts(
        1000,
        "1",
        (0.0, 0.0, 6.0, 6.0),
        grid=6,
        time=True,
        week=True,
        centre=(1.5, 4.5),
        every=7 * 86_400,
        lifetime=8,
        recent=86_400,
        grace=3600,
    ).plan()
    old = opened(database, "another", plan)
    text, _ = tokens.create_token(database, "another", "manage", "", actor="test")
    with visit(browser, server) as tab:
        page = tab.go("/operate")
        page.fill("#token", text)
        page.click("#enter button")
        page.click("#change summary")
        expect(page.locator("#change-form [name=every]")).to_have_value("7")
        expect(page.locator("#change-form [name=lifetime]")).to_have_value("8")
        expect(page.locator("#change-form [name=week]")).to_be_checked()
        page.fill("#change-form [name=epsilon]", "0.5")
        page.fill("#change-form [name=every]", "14")
        page.click("#change-form button")
        page.click("#yes")
        expect(page.locator("#needed")).to_contain_text("Epsilon 0.5")
        assert page.locator("#change").get_attribute("open") is None
    with database.reading() as session:
        now = registry.find(session, "another").plan
        assert list(rounds.plans_of(session, "another")) == [old.id, now.id]
    assert now.standing == Standing.of(14 * 86_400, epsilon="0.5", lifetime=8, recent=86_400, grace=3600)
    assert (now.campaign, now.grid) == (old.campaign, old.grid)
    for name in ("departure", "tides"):
        before, after = (
            [ask.question for ask in one.rounds[0].asks if ask.question.name == name] for one in (old, now)
        )
        assert before == after != []


def test_everybody_can_read_what_a_standing_campaign_has_published(
    browser: Browser, server: Server, database: Database
) -> None:
    standing = Standing.of(7 * 86_400, epsilon=1)
    plan = Facts(1000, "1", (0.0, 0.0, 6.0, 6.0), grid=4, every=7 * 86_400).plan()
    plan = opened(database, "weekly", plan, title="Week <by> week", organiser="Stadt")
    with visit(browser, server) as tab:
        page = tab.go("/c/weekly/release")
        expect(page.locator("body")).to_contain_text("No window has been published yet")
        for number in (3000, 3001):
            report = Reporter(plan, "none").draw_about(occasion_among([], plan.grid), 0, window=number)
            at = float(standing.start + (number + 1) * standing.every)
            Counter(database, lambda at=at: at).count("weekly", [Submission(report)])  # type: ignore[misc]
        with database.writing() as session:
            session.run("INSERT INTO releases VALUES ('weekly', 1, 'a', 'done', 'done', 100, '', 0, 0)")
            made = b"<head><style>h1 { font-size: 40px }</style></head><h1>made</h1><a href=profile.html>more</a>"
            session.run("INSERT INTO files VALUES ('weekly', '1/index.html', 0, ?)", made)
            more = b'<h1 style="font-size: 30px">profile</h1>'
            session.run("INSERT INTO files VALUES ('weekly', '1/profile.html', 0, ?)", more)
        page = tab.go("/c/weekly/release")
        expect(page.locator("h1")).to_have_text("Week <by> week")
        expect(page.locator("td a")).to_have_text("2027-07-12 to 2027-07-19")
        page.click("td a")
        # The style is the one of the version that made the page.
        assert page.locator("h1").evaluate("one => getComputedStyle(one).fontSize") == "40px"
        page.click("a")
        expect(page.locator("h1")).to_have_text("profile")
        assert page.locator("h1").evaluate("one => getComputedStyle(one).fontSize") == "30px"
        page = tab.go("/c/weekly")
        page.click("#release-link a")
        expect(page.locator("h1")).to_have_text("Week <by> week")
