"""Pictures of the pages that people see, taken with Chromium from a server that runs and from a scorecard.

    python -m benchmarks.screens --url http://127.0.0.1:8000 --token TOKEN --campaign town
    python -m benchmarks.screens --scorecard demo/report.html

The first takes operate.png and contributor.png, the second scorecard.png. docs/how-to/operate.md shows how to start
such a server, and `ldptrace demo` makes the scorecard.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from PIL import Image

WIDTH = 1200
# What a person draws on the map of the contributor's page, as parts of its width and height.
DRAWN = ((0.2, 0.25), (0.38, 0.42), (0.5, 0.5), (0.72, 0.55), (0.8, 0.75))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", help="address of the server")
    parser.add_argument("--token", help="token of an operator")
    parser.add_argument("--campaign", default="town")
    parser.add_argument("--scorecard", type=Path, help="page of a scorecard")
    parser.add_argument("--chromium", default="/usr/bin/chromium", help="the browser")
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    arguments = parser.parse_args()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=arguments.chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": 900}, locale="en-GB")
        taken = []
        if arguments.url:
            taken = [arguments.out / "operate.png", arguments.out / "contributor.png"]
            operate(page, arguments.url, arguments.token, taken[0])
            contribute(page, f"{arguments.url}/c/{arguments.campaign}", taken[1])
        if arguments.scorecard:
            taken.append(arguments.out / "scorecard.png")
            page.set_viewport_size({"width": WIDTH, "height": 1080})
            page.goto(arguments.scorecard.resolve().as_uri())
            page.screenshot(path=taken[-1])
        browser.close()
    for path in taken:
        few = (
            Image.open(path)
            .convert("RGB")
            .quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        )
        few.save(path, optimize=True)


def operate(page: Any, url: str, token: str, path: Path) -> None:
    """The operator's page of the first campaign, from its head to its maps."""
    page.goto(f"{url}/operate")
    page.fill("#token", token)
    page.click("#enter button")
    page.locator("#campaign").wait_for()
    page.wait_for_timeout(4000)
    page.screenshot(path=path)


def contribute(page: Any, url: str, path: Path) -> None:
    """The map of the contributor's page with a trip that was drawn on it."""
    page.set_viewport_size({"width": 760, "height": 900})
    page.goto(url)
    page.locator("#trip").wait_for()
    chart = page.locator("#trip canvas, #trip svg").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    for x, y in DRAWN:
        page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])
    page.locator("#trip").screenshot(path=path)


if __name__ == "__main__":
    main()
