"""The npm package installs in an empty project and answers a plan, under Node and in a browser."""

from __future__ import annotations

import json
import re
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from clients_kit import CLIENTS, npm_package
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import read_report
from programs_kit import require

pytestmark = pytest.mark.slow

PLAN = Plan.single_report(Grid((0.0, 0.0, 6.0, 6.0), 6), 1.0)
ANSWER = """
async (ldptrace, document) => {
  const kept = new Map();
  const storage = { getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text) };
  const plan = await ldptrace.readPlan(document);
  const reporter = new ldptrace.Reporter(plan, { ledger: new ldptrace.Ledger(storage) });
  const report = await reporter.report([[0.5, 0.5], [3.2, 4.1]]);
  return Array.from(report, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
"""


@pytest.fixture(scope="module")
def tarball(request: pytest.FixtureRequest) -> Path:
    return npm_package(request.config)


@pytest.fixture(scope="module")
def installed(tarball: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty project with the package and nothing else."""
    project = tmp_path_factory.mktemp("project")
    (project / "package.json").write_text('{"name": "empty", "private": true, "type": "module"}')
    npm = ["npm", "install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts", str(tarball)]
    subprocess.run(npm, cwd=project, check=True, capture_output=True, timeout=120)
    return project


def test_the_package_is_what_it_says(tarball: Path) -> None:
    with tarfile.open(tarball) as packed:
        names = {name.removeprefix("package/") for name in packed.getnames()}
        described = json.loads(packed.extractfile("package/package.json").read())  # type: ignore[union-attr]
    assert described["name"] == "@ldptrace/device"
    assert "dependencies" not in described
    sources = {f"src/{path.name}" for path in (CLIENTS / "js" / "src").glob("*.js")}
    assert names >= {"index.js", "index.d.ts", "browser.js", "README.md", "LICENSE", *sources}
    assert not any(name.startswith("test") for name in names)


def test_every_export_has_its_type() -> None:
    lists = re.findall(r"export \{([^}]*)\}", (CLIENTS / "js" / "index.js").read_text())
    exported = {name for listed in lists for name in re.findall(r"\w+", listed)}
    types = (CLIENTS / "js" / "index.d.ts").read_text()
    assert exported == set(re.findall(r"^export (?:class|function|const) (\w+)", types, re.M))


def test_it_answers_under_node(installed: Path) -> None:
    require("Node")
    script = f"""
import * as ldptrace from "@ldptrace/device";
process.stdout.write(await ({ANSWER})(ldptrace, {json.dumps(PLAN.to_json())}));
"""
    (installed / "answer.js").write_text(script)
    done = subprocess.run(
        ["node", "answer.js"], cwd=installed, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    read_report(bytes.fromhex(done.stdout), PLAN, 0)


@pytest.mark.parametrize("way", ["script", "module"])
def test_it_answers_in_a_browser(installed: Path, browser: Any, way: str) -> None:
    package = installed / "node_modules" / "@ldptrace" / "device"

    def serve(route: Any) -> None:
        path = route.request.url.removeprefix("http://localhost/")
        if path == "page.html":
            script = '<script src="/browser.js"></script>' if way == "script" else ""
            route.fulfill(body=f"<!doctype html><title>answer</title>{script}", content_type="text/html")
        else:
            route.fulfill(body=(package / path).read_bytes(), content_type="text/javascript")

    context = browser.new_context()
    context.route("**/*", serve)
    page = context.new_page()
    page.goto("http://localhost/page.html")
    module = "globalThis.ldptrace" if way == "script" else 'await import("/index.js")'
    report = page.evaluate(f"async (document) => ({ANSWER})({module}, document)", PLAN.to_json())
    context.close()
    read_report(bytes.fromhex(report), PLAN, 0)
