"""The browser and Node client reproduces every vector, in Node and in a headless browser."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "js"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
TYPES = {".js": "text/javascript", ".json": "application/json", ".html": "text/html"}
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
PAGE = "<!doctype html><title>vectors</title>"
SCRIPT = """
async () => {
  const check = await import("/clients/js/test/check.js");
  const properties = await import("/clients/js/test/properties.js");
  const load = async (file) => (await fetch(`/protocol/vectors/v1/${file}.json`)).json();
  const vectors = {};
  for (const file of check.FILES) vectors[file] = await load(file);
  const failed = await check.deviceFailures(vectors);
  for (const file of check.FILES) failed.push(...(await check.failures(file, vectors)));
  failed.push(...(await properties.sourceFailures(vectors)));
  for (let seed = 1; seed <= 20; seed += 1) failed.push(...(await properties.ledgerFailures(seed)).failed);
  return { failed, tried: check.FILES.map((file) => vectors[file].length) };
}
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_in_node() -> None:
    done = subprocess.run(
        ["node", "--test", "--test-reporter=tap", "test/vectors.test.js"],
        cwd=CLIENT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert "# pass 14" in done.stdout


@pytest.mark.skipif(not any(map(shutil.which, BROWSERS)), reason="needs a Chromium")
def test_in_a_browser() -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    browser_path = next(filter(None, map(shutil.which, BROWSERS)))

    def serve(route: Any) -> None:
        path = route.request.url.removeprefix("http://localhost/")
        if path == "page.html":
            route.fulfill(body=PAGE, content_type="text/html")
            return
        file = ROOT / path
        kind = TYPES.get(file.suffix, "text/plain")
        if file.is_file():
            route.fulfill(body=file.read_bytes(), content_type=kind)
        else:
            route.fulfill(status=404, body="")

    with playwright.sync_playwright() as session:
        browser = session.chromium.launch(executable_path=browser_path, args=FLAGS)
        try:
            page = browser.new_page()
            # Nothing is served: the browser's requests are answered from the folder.
            page.route("**/*", serve)
            page.goto("http://localhost/page.html")
            page.set_default_timeout(240_000)
            result = page.evaluate(SCRIPT)
        finally:
            browser.close()
    assert result["failed"] == []
    assert min(result["tried"]) > 0


def test_the_problems_are_those_of_the_protocol() -> None:
    listed = json.loads((ROOT / "protocol" / "v1" / "problems.json").read_text())
    source = (CLIENT / "src" / "problems.js").read_text()
    for problem in listed:
        line = f'[{problem["number"]}, "{problem["code"]}", {problem["status"]}, "{problem["sentence"]}"]'
        assert line in source
