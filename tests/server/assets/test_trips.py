"""Files that a person chooses on the page of a campaign."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from ldptrace.server.storage import Database
from server_kit import Server, opened
from visit_kit import GPX, LINE, WORLD, Visit, choose, visit

pytestmark = pytest.mark.slow


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
            "2 trips. One of them is drawn",
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


def test_the_page_says_what_the_device_makes_of_trips(shared: Visit) -> None:
    page = shared.page
    exchanged = [[y, x] for x, y in LINE["coordinates"]]
    choose(page, "a.json", json.dumps({"type": "LineString", "coordinates": exchanged}))
    expect(page.locator("#checked")).to_contain_text("all would be inside with x and y exchanged")
    page.click("#clear")
    expect(page.locator("#checked li")).to_have_count(0)
    page.click("#none")
    expect(page.locator("#checked")).to_contain_text("The answer says that there is no trip")
    page.click("#clear")


def test_times_come_from_gpx_and_from_geojson(shared: Visit) -> None:
    """As seconds of the clocks where the browser is: the first hour of a trip is the hour that the person saw."""
    line = {"type": "Feature", "geometry": LINE, "properties": {"times": [1_772_352_000, 1_772_353_200]}}
    dates = {**line, "properties": {"coordTimes": ["2026-03-01T08:00:00Z", "2026-03-01T08:20:00Z"]}}
    of_day = {**line, "properties": {"times": [28_800, 30_000]}}
    unknown = {**line, "properties": {"times": [28_800]}}
    script = """async (text) => {
        const { tripsIn } = await import("/assets/trips.js");
        const [{ points: trip }] = await tripsIn(new File([text], "trip"), { geographic: true });
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


def test_an_arrival_is_kept_while_clocks_are_put_back(browser: Browser, server: Server) -> None:
    """Half past two comes twice in Berlin on 2026-10-25: at 00:30 and at 01:30 UTC."""
    script = """async (text) => {
        const { tripsIn } = await import("/assets/trips.js");
        const [trip] = await tripsIn(new File([text], "trip"), { geographic: true });
        return [trip.arrival, trip.points.at(-1)[2]];
    }"""
    with visit(browser, server, timezone_id="Europe/Berlin") as tab:
        page = tab.go("/")
        for arrival in (1_792_888_200, 1_792_891_800):
            line = {"type": "Feature", "geometry": LINE, "properties": {"times": [arrival - 60, arrival]}}
            found, shown = page.evaluate(script, json.dumps(line))
            assert found == arrival
            assert shown % 86_400 == 2.5 * 3600


@pytest.fixture(scope="module")
def shared(browser: Browser, server: Server, database: Database) -> Iterator[Visit]:
    """One tab for all files, in which nothing is ever sent."""
    opened(database, "files", WORLD)
    with visit(browser, server) as tab:
        tab.go("/c/files")
        expect(tab.page.locator("#trip")).to_be_visible()
        yield tab
        assert tab.sent() == []
