"""Both pages in a real browser, every request watched."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect

from ldptrace.device import Reporter
from ldptrace.device.track import occasion_among
from ldptrace.protocol.reports import read_report, window_of
from ldptrace.protocol.shares import Wanted
from ldptrace.protocol.standing import Standing
from ldptrace.server import campaigns, registry, releases, tallies, tokens
from ldptrace.server.campaigns import plan_from_facts
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.storage import Database, open_database
from server_kit import Server, drawn, opened, reports_counted, running, streets, texts

pytestmark = pytest.mark.slow
# A machine that is busy with other tests may take its time.
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)

WORLD = plan_from_facts(1000, "1", 6, (13.0, 52.0, 14.0, 53.0), "EPSG:4326")
PLANE = plan_from_facts(1000, "1", 6, (0.0, 0.0, 6.0, 6.0))
GPX = """<?xml version="1.0"?><gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1"><trk><trkseg>
<trkpt lat="52.123456" lon="13.123456"><time>2026-03-01T08:00:00Z</time></trkpt>
<trkpt lat="52.523456" lon="13.323456"><time>2026-03-01T08:20:00Z</time></trkpt>
<trkpt lat="52.923456" lon="13.923456"><time>2026-03-01T08:40:00Z</time></trkpt>
</trkseg></trk></gpx>"""
# The contributor's words for what is asked.
TEXT = texts()["en"]["questions"]
LINE = {"type": "LineString", "coordinates": [[13.123456, 52.123456], [13.523456, 52.523456]]}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    found = open_database(tmp_path_factory.mktemp("pages"))
    yield found
    found.close_all()


@pytest.fixture(scope="module")
def server(database: Database) -> Iterator[Server]:
    with running("--data", database.url) as found:
        yield found


class Visit:
    """A tab whose requests are all kept."""

    def __init__(self, browser: Browser, server: Server, **options: Any) -> None:
        self.context: BrowserContext = browser.new_context(
            **{"viewport": {"width": 1100, "height": 900}, **options}
        )
        self.context.add_init_script("globalThis.ldptraceLongestWait ??= 0")
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.server = server
        self.requests: list[Request] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def go(self, path: str) -> Page:
        self.page.goto(self.server.url + path)
        return self.page

    def sent(self) -> list[bytes]:
        """Bodies of everything that was sent, in the order of sending."""
        return [request.post_data_buffer or b"" for request in self.requests if request.method != "GET"]


@contextlib.contextmanager
def visit(browser: Browser, server: Server, **options: Any) -> Iterator[Visit]:
    found = Visit(browser, server, **options)
    yield found
    elsewhere = [one.url for one in found.requests if not one.url.startswith((server.url, "data:", "blob:"))]
    assert elsewhere == []
    assert found.complaints == []
    found.context.close()


def choose(page: Page, name: str, text: str) -> None:
    # Playwright fills in what is hidden, too, before the page has begun to listen.
    expect(page.locator("#trip")).to_be_visible()
    page.set_input_files(
        "#file", {"name": name, "mimeType": "application/octet-stream", "buffer": text.encode()}
    )


def agree_and_send(page: Page) -> None:
    page.check("#consent")
    page.click("#send")
    expect(page.locator("#outcome")).to_contain_text("counted")


def ledger(page: Page) -> Any:
    """What the page's ledger holds, through the client that wrote it."""
    script = """async () => {
        const { BrowserStorage } = await import("/assets/client/index.js");
        return new BrowserStorage().change("ldptrace-ledger", (text) => [undefined, text]);
    }"""
    return json.loads(page.evaluate(script) or "null")


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
        assert f"To the question about {TEXT[ask.question.name]}" in said
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


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.gpx", "<gpx><trk>", "not well-formed XML"),
        ("a.gpx", "<html></html>", "not a GPX file"),
        ("a.geojson", '{"type": "FeatureCollection", "features": [', "not well-formed JSON"),
        ("a.geojson", '{"type": "FeatureCollection", "features": 3}', "not GeoJSON"),
        ("a.json", '{"hello": 1}', "not GeoJSON"),
        ("a.json", "[1, 2]", "not GeoJSON"),
        ("a.bin", "\x00\x01\x02", "neither a GPX nor a GeoJSON"),
        ("a.txt", "", "neither a GPX nor a GeoJSON"),
    ],
)
def test_bad_files(shared: Visit, name: str, text: str, says: str) -> None:
    page = shared.page
    choose(page, name, text)
    expect(page.locator("#message")).to_contain_text(says)
    page.check("#consent")
    expect(page.locator("#send")).to_be_disabled()
    page.uncheck("#consent")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"type": "FeatureCollection", "features": []}', "no trip in this file"),
        ('{"type": "Feature", "properties": {}, "geometry": null}', "no trip in this file"),
        ('{"type": "Point", "coordinates": [13.4, 52.5]}', "1 point."),
        ('{"type": "LineString", "coordinates": [[null, "x"], [1e999, 52.5]]}', "2 points"),
        ('{"type": "LineString", "coordinates": [[0, 0], [13.5, 52.5]]}', "1 of them lie outside"),
        (
            '{"type": "MultiLineString", "coordinates": [[[13.1, 52.1]], [[13.2, 52.2]]]}',
            "2 trips are in this file",
        ),
        ("<gpx></gpx>", "no trip in this file"),
    ],
)
def test_strange_trips_are_answered_like_any_other(shared: Visit, text: str, says: str) -> None:
    page = shared.page
    choose(page, "a.json", text)
    expect(page.locator("#found")).to_contain_text(says)
    page.check("#consent")
    expect(page.locator("#send")).to_be_enabled()
    page.uncheck("#consent")


def test_times_come_from_gpx_and_from_geojson(shared: Visit) -> None:
    """As seconds of the clocks where the browser is: the first hour of a trip is the hour that the person saw."""
    line = {"type": "Feature", "geometry": LINE, "properties": {"times": [1_772_352_000, 1_772_353_200]}}
    dates = {**line, "properties": {"coordTimes": ["2026-03-01T08:00:00Z", "2026-03-01T08:20:00Z"]}}
    of_day = {**line, "properties": {"times": [28_800, 30_000]}}
    unknown = {**line, "properties": {"times": [28_800]}}
    script = """async (text) => {
        const { tripsIn } = await import("/assets/trips.js");
        const [trip] = await tripsIn(new File([text], "trip"), { geographic: true });
        return [trip.map((point) => point.length), trip.map((point) => point[2] % 86400)];
    }"""
    offset = 60 * shared.page.evaluate("() => new Date(1772352000000).getTimezoneOffset()")
    clocks = [(28_800 - offset) % 86_400, (30_000 - offset) % 86_400]
    for text in (GPX, json.dumps(line), json.dumps(dates)):
        sizes, times = shared.page.evaluate(script, text)
        assert set(sizes) == {3}
        assert times[:2] == clocks
    assert shared.page.evaluate(script, json.dumps(of_day))[1] == [28_800, 30_000]
    assert shared.page.evaluate(script, json.dumps(unknown))[0] == [2, 2]


@pytest.fixture(scope="module")
def shared(browser: Browser, server: Server, database: Database) -> Iterator[Visit]:
    """One tab for all files, in which nothing is ever sent."""
    opened(database, "files", WORLD)
    with visit(browser, server) as tab:
        tab.go("/c/files")
        expect(tab.page.locator("#trip")).to_be_visible()
        yield tab
        assert tab.sent() == []


def test_a_trip_drawn_with_the_mouse_and_one_with_the_keyboard(
    browser: Browser, server: Server, database: Database
) -> None:
    opened(database, "drawing", PLANE)
    for keyboard in (False, True):
        with visit(browser, server) as tab:
            page = tab.go("/c/drawing")
            figure = page.locator("#map")
            expect(figure).to_be_visible()
            if keyboard:
                figure.focus()
                for key in ("Enter", "ArrowUp", "ArrowRight", "Enter", "ArrowUp", "Enter", "Backspace"):
                    page.keyboard.press(key)
            else:
                for x, y in ((60, 60), (200, 90), (300, 300)):
                    figure.click(position={"x": x, "y": y})
                page.click("#undo")
            expect(page.locator("#found")).to_contain_text("2 points")
            assert page.locator("#map circle.point").count() == 2
            # Longitudes in a file make no sense on a map of other coordinates.
            choose(page, "a.gpx", GPX)
            expect(page.locator("#message")).to_contain_text("Draw your trip instead")
            expect(page.locator("#found")).to_have_text("")
            figure.click(position={"x": 50, "y": 50})
            agree_and_send(page)
            assert len(tab.sent()) == 1


@pytest.mark.parametrize("width", [390, 1280])
def test_a_point_is_drawn_where_the_person_clicked(
    browser: Browser, server: Server, database: Database, width: int
) -> None:
    """On a map that is taller than wide, in a window that is wider than tall, and the other way round."""
    with contextlib.suppress(Exception):
        opened(database, "tall", WORLD)
    with visit(browser, server, viewport={"width": width, "height": 700}) as tab:
        page = tab.go("/c/tall")
        figure = page.locator("#map")
        figure.click(position={"x": 40, "y": 70})
        spot, point = figure.bounding_box(), page.locator("#map circle.point").bounding_box()
        assert spot is not None
        assert point is not None
        assert point["x"] + point["width"] / 2 - spot["x"] == pytest.approx(40, abs=2)
        assert point["y"] + point["height"] / 2 - spot["y"] == pytest.approx(70, abs=2)
        # The border is that of the map: nothing around it can be clicked.
        assert spot["height"] / spot["width"] == pytest.approx(1 / 0.6088, rel=0.02)


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
        expect(page.locator("#outcome")).to_contain_text("admission token")
        page.fill("#admission", code)
        page.click("#again")
        expect(page.locator("#outcome")).to_contain_text("was counted")
        first, second = tab.sent()
        assert first == second


def test_campaigns_that_cannot_be_answered(browser: Browser, server: Server, database: Database) -> None:
    opened(database, "over", PLANE)
    campaigns.close_round(database, "over", actor="test")
    with visit(browser, server) as tab:
        page = tab.go("/c/over")
        expect(page.locator("#message")).to_contain_text("closed")
        assert page.locator("#trip").is_hidden()
    expensive = plan_from_facts(1000, "6", 6, (0.0, 0.0, 6.0, 6.0))
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


def test_the_map_shows_the_streets_of_the_campaign(
    browser: Browser, server: Server, database: Database, tmp_path: Path
) -> None:
    folder = streets(tmp_path / "streets")
    rows = (folder / "nodes.csv").read_text().splitlines()
    rows = [
        f"{row},{'Market' if number == 25 else ''}" if number else f"{row},name"
        for number, row in enumerate(rows)
    ]
    (folder / "nodes.csv").write_text("\n".join(rows))
    opened(database, "streets", PLANE)
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    releases.keep_roads(database, "streets", files, actor="test")
    with visit(browser, server) as tab:
        page = tab.go("/c/streets")
        way = page.locator("#map path.street.rank2")
        expect(way).to_be_visible()
        assert (way.get_attribute("d") or "").count("M") == 84
        expect(page.locator("#map text.place")).to_have_text("Market")


def test_a_standing_campaign_is_answered_when_it_is_due(
    browser: Browser, server: Server, database: Database
) -> None:
    """Windows of an hour, and a browser whose clock runs ahead by less than a day, which the server allows for."""
    standing = Standing.of(3600, epsilon=1, lifetime=2)
    plan = opened(database, "hourly", plan_from_facts(1000, "1", 6, (0.0, 0.0, 6.0, 6.0), standing=standing))
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
        found = {entry.window: entry.reports for entry in tallies.counts_of(session, "hourly")}
    assert found == {windows[0]: 1, windows[1]: 1}
    assert read_report(first, plan, 0, windows[0])


def test_a_standing_campaign_goes_on_with_another_plan(
    browser: Browser, server: Server, database: Database
) -> None:
    standing = Standing.of(7 * 86_400, epsilon=1, lifetime=8, recent=86_400, grace=3600)
    wanted = Wanted(time=True, week=True, centre=(1.5, 4.5))
    plan = plan_from_facts(1000, "1", 6, (0.0, 0.0, 6.0, 6.0), wanted=wanted, standing=standing)
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
        assert list(registry.plans_of(session, "another")) == [old.id, now.id]
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
    plan = plan_from_facts(1000, "1", 4, (0.0, 0.0, 6.0, 6.0), standing=standing)
    plan = opened(database, "weekly", plan, title="Week <by> week", organiser="Stadt")
    with visit(browser, server) as tab:
        page = tab.go("/c/weekly/release")
        expect(page.locator("body")).to_contain_text("No window has been published yet")
        for number in (3000, 3001):
            report = Reporter(plan).draw_about(occasion_among([], plan.grid), 0, window=number)
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
        for missing in ("/c/weekly/release/1", "/c/weekly/release/9", "/c/none/release/1"):
            assert server.ask("GET", missing)[0] == 404
            assert server.ask("GET", f"{missing}/profile.html")[0] == 404
        assert server.ask("GET", "/c/weekly/release/profile.html")[0] == 404
        page = tab.go("/c/weekly")
        page.click("#release-link a")
        expect(page.locator("h1")).to_have_text("Week <by> week")


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 820])
def test_every_width(browser: Browser, server: Server, database: Database, width: int, scheme: Any) -> None:
    with contextlib.suppress(Exception):
        opened(database, "files", WORLD)
    text, _ = tokens.create_token(database, "*", "manage", "", actor="test")
    options = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    with visit(browser, server, **options) as tab:
        for path, ready in (("/c/files", "#trip"), ("/operate", "#enter")):
            page = tab.go(path)
            expect(page.locator(ready)).to_be_visible()
            if path == "/operate":
                page.fill("#token", text)
                page.keyboard.press("Enter")
                expect(page.locator("#campaign")).to_be_visible()
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
            assert (made.about.organiser, made.schedule.until) == ("The town", 1_896_134_400)
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
        expect(page.locator("#fit th")).to_have_text(["question", "answered by", "model", "map alone"])
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
