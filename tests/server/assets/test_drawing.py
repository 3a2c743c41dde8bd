"""A trip drawn on the map of a campaign's page."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from ldptrace.server import releases
from ldptrace.server.storage import Database
from server_kit import Server, opened, streets
from visit_kit import GPX, PLANE, WORLD, agree_and_send, choose, visit

pytestmark = pytest.mark.slow


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


@pytest.mark.parametrize("width", [390, 1280])
def test_the_map_zooms_and_points_stay_where_they_are(
    browser: Browser, server: Server, database: Database, width: int
) -> None:
    with contextlib.suppress(Exception):
        opened(database, "zoomed", PLANE)
    with visit(browser, server, viewport={"width": width, "height": 900}) as tab:
        page = tab.go("/c/zoomed")
        figure = page.locator("#map")
        expect(figure).to_be_visible()
        whole = figure.get_attribute("viewBox")
        figure.hover(position={"x": 100, "y": 100})
        page.mouse.wheel(0, -300)
        expect(figure).not_to_have_attribute("viewBox", whole or "")
        page.click("#closer")
        nearer = figure.get_attribute("viewBox")
        figure.click(position={"x": 120, "y": 140})
        spot, point = figure.bounding_box(), page.locator("#map circle.point").bounding_box()
        assert spot is not None
        assert point is not None
        assert abs(point["x"] + point["width"] / 2 - spot["x"] - 120) < 2
        assert abs(point["y"] + point["height"] / 2 - spot["y"] - 140) < 2
        # Dragging moves the map, and draws nothing.
        expect(page.locator("#found")).to_contain_text("1 point")
        figure.scroll_into_view_if_needed()
        spot = figure.bounding_box()
        assert spot is not None
        page.mouse.move(spot["x"] + 200, spot["y"] + 200)
        page.mouse.down()
        page.mouse.move(spot["x"] + 150, spot["y"] + 160, steps=4)
        page.mouse.up()
        expect(figure).not_to_have_attribute("viewBox", nearer or "")
        assert page.locator("#map circle.point").count() == 1
        for _ in range(8):
            page.click("#farther")
        expect(figure).to_have_attribute("viewBox", whole or "")
