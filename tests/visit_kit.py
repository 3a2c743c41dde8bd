"""The server's pages in a real browser, every request watched."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, Request, expect

from ldptrace.curator.facts import Facts
from server_kit import Server
from shuffler_kit import Running

# A machine that is busy with other tests may take its time.
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)

WORLD = Facts(1000, "1", (13.0, 52.0, 14.0, 53.0), "EPSG:4326", grid=6).plan()
PLANE = Facts(1000, "1", (0.0, 0.0, 6.0, 6.0), grid=6).plan()
GPX = """<?xml version="1.0"?><gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1"><trk><trkseg>
<trkpt lat="52.123456" lon="13.123456"><time>2026-03-01T08:00:00Z</time></trkpt>
<trkpt lat="52.523456" lon="13.323456"><time>2026-03-01T08:20:00Z</time></trkpt>
<trkpt lat="52.923456" lon="13.923456"><time>2026-03-01T08:40:00Z</time></trkpt>
</trkseg></trk></gpx>"""
LINE = {"type": "LineString", "coordinates": [[13.123456, 52.123456], [13.523456, 52.523456]]}


class Visit:
    """A tab whose requests are all kept."""

    def __init__(self, browser: Browser, server: Server | Running, **options: Any) -> None:
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
    assert found.complaints == [], found.complaints
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
