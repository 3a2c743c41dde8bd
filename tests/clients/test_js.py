"""The browser and Node client reproduces every vector, in Node and in a headless browser."""

from __future__ import annotations

import json
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import report_bytes
from ldptrace.protocol.seals import sealed_bytes
from ldptrace.protocol.standing import Standing
from programs_kit import require
from shuffled_kit import shuffled

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "js"
TYPES = {".js": "text/javascript", ".json": "application/json", ".html": "text/html"}
PAGE = "<!doctype html><title>vectors</title>"
SCRIPT = """
async () => {
  const check = await import("/clients/js/test/check.js");
  const properties = await import("/clients/js/test/properties.js");
  const vectors = await check.gather(async (file) => (await fetch(`/protocol/vectors/v1/${file}`)).json());
  const failed = await check.deviceFailures(vectors);
  const files = check.SHUFFLED_FILES;
  const shuffled = await check.gather(async (file) => (await fetch(`/protocol/vectors/v2/${file}`)).json(), files);
  for (const file of files) failed.push(...(await check.failures(file, shuffled)));
  for (const file of check.FILES) failed.push(...(await check.failures(file, vectors)));
  failed.push(...(await properties.sourceFailures(vectors)), ...(await properties.delayFailures(vectors)));
  const { BrowserStorage, Ledger } = await import("/clients/js/index.js");
  const { transaction } = IDBDatabase.prototype;
  const kept = new Set();
  IDBDatabase.prototype.transaction = function (...given) {
    const begun = transaction.apply(this, given);
    kept.add(begun.durability);
    return begun;
  };
  for (let seed = 1; seed <= 20; seed += 1) {
    const storage = seed <= 16 ? undefined : new BrowserStorage({ name: `history ${seed}` });
    failed.push(...(await properties.ledgerFailures(seed, { storage })).failed);
  }
  const clock = { asks: 400, storage: new BrowserStorage({ name: "clock" }) };
  failed.push(...(await properties.clockFailures(4, clock)), ...(await properties.unreadableFailures()));
  // Otherwise a report may leave before its place in the ledger is on the disk.
  if ([...kept].join() !== "strict") failed.push(`durability: ${[...kept]}`);
  if ((await check.problemOf(() => new Ledger(localStorage))) === null) failed.push("localStorage is taken");
  return { failed, tried: check.FILES.map((file) => vectors[file].length) };
}
"""


# Both tabs begin at the same moment and answer the same plans, one after the other, as fast as they can.
TAB = """
async ({ moment, plans }) => {
  const { BrowserStorage, Ledger, readPlan, Reporter } = await import("/clients/js/index.js");
  const { hex, problemOf } = await import("/clients/js/test/check.js");
  const ledger = new Ledger(new BrowserStorage(), { limit: "5" });
  const read = await Promise.all(plans.map((document) => readPlan(document)));
  const given = [];
  while (Date.now() < moment) await new Promise((resolve) => setTimeout(resolve, 1));
  for (const plan of read) {
    let report = null;
    const problem = await problemOf(async () => {
      report = hex(await new Reporter(plan, { ledger }).report([[0.5, 0.5]]));
    });
    given.push(problem ?? report);
  }
  return given;
}
"""
# The same for the windows of a standing plan; a tab that is behind gets the newest bytes again.
TAB_OF_WINDOWS = """
async ({ moment, plan }) => {
  const { BrowserStorage, Ledger, readPlan, Reporter } = await import("/clients/js/index.js");
  const { hex, problemOf } = await import("/clients/js/test/check.js");
  const ledger = new Ledger(new BrowserStorage(), { limit: "50" });
  const reporter = new Reporter(await readPlan(plan), { ledger });
  const given = [];
  while (Date.now() < moment) await new Promise((resolve) => setTimeout(resolve, 1));
  await reporter.accept(1.7e9);
  for (let week = 1; week <= 40; week += 1) {
    await problemOf(async () => given.push(hex(await reporter.report([], 0, 1.7e9 + week * 604800))));
  }
  return [given, (await ledger.standing()).map((row) => row.answers), await ledger.spent()];
}
"""
SPENT = """
async () => {
  const { BrowserStorage, Ledger } = await import("/clients/js/index.js");
  const ledger = new Ledger(new BrowserStorage(), { limit: "5" });
  return [(await ledger.entries()).length, await ledger.spent()];
}
"""
# The blocks of the README: one person answers a direct plan, and another plan through a shuffler.
README = r"""
async ({ readme, direct, id, mixed }) => {
  const index = await import("/clients/js/index.js");
  const [asked, shown] = [[], []];
  globalThis.fetch = async (url, options = {}) => {
    asked.push([url, options.headers?.["Content-Type"] ?? null, options.body?.length ?? 0]);
    return new Response(url === "/plan.json" ? direct : "{}");
  };
  globalThis.setTimeout = (done) => queueMicrotask(done);
  const [first, , third] = [...readme.matchAll(/```js\n([\s\S]*?)```/g)].map((found) => found[1]);
  const run = (code, names) => new (async () => {}).constructor(...Object.keys(names), code)(...Object.values(names));
  const code = first.replace(/^import .*\n/, "").replace('"1953b0dd..."', JSON.stringify(id));
  const { arrived, trips } = await run(`${code}\nreturn { arrived, trips };`, index);
  const plan = await index.readPlan(mixed);
  const again = await run(`${third}\nreturn arrived;`, { ...index, plan, trips, show: (line) => shown.push(line) });
  return { arrived: [arrived, again], asked, shown };
}
"""


def test_in_node() -> None:
    done = subprocess.run(
        [require("Node"), "--test", "--test-reporter=tap", "test/vectors.test.js"],
        cwd=CLIENT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert "# pass 30" in done.stdout


def tabs(browser: Any, count: int) -> list[Any]:
    """Tabs of one person at one place, in processes of their own."""
    context = browser.new_context()
    # Nothing is served: the browser's requests are answered from the folder.
    context.route("**/*", serve)
    context.set_default_timeout(240_000)
    pages = [context.new_page() for _ in range(count)]
    for page in pages:
        page.goto("http://localhost/page.html")
    return pages


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


def test_in_a_browser(browser: Any) -> None:
    [page] = tabs(browser, 1)
    result = page.evaluate(SCRIPT)
    assert result["failed"] == []
    assert min(result["tried"]) > 0


def test_the_examples_of_the_readme_run(browser: Any) -> None:
    [page] = tabs(browser, 1)
    direct = Plan.single_report(Grid((13.3, 52.4, 13.6, 52.6), 6), 1, crs="EPSG:4326")
    mixed = shuffled(direct, address="https://club.example/mix/")
    given = {"readme": (CLIENT / "README.md").read_text(), "direct": direct.to_json(), "id": direct.id}
    found = page.evaluate(README, {**given, "mixed": mixed.to_json()})
    size = report_bytes(direct.rounds[0])
    assert found["arrived"] == [True, True]
    assert found["asked"] == [
        ["/plan.json", None, 0],
        ["https://host/v1/campaigns/NAME/reports", "application/vnd.ldptrace.reports", size],
        [
            f"https://club.example/mix/v2/plans/{mixed.id}/reports",
            "application/vnd.ldptrace.sealed",
            sealed_bytes(size),
        ],
    ]
    assert "A club, https://club.example/mix/" in found["shown"][0]


def test_two_tabs_give_one_answer(browser: Any) -> None:
    """Of sixty plans that cost 0.1 each, with a limit of 5, to the first fifty: the same bytes in both tabs."""
    pages = tabs(browser, 2)
    plans = [
        Plan.single_report(Grid((0.0, 0.0, 1.0, 1.0 + number), 2), "0.1").to_json() for number in range(60)
    ]
    begin = f"(given) => {{ globalThis.given = ({TAB})(given); }}"
    moment = pages[0].evaluate("() => Date.now()") + 2_000
    for page in pages:
        page.evaluate(begin, {"moment": moment, "plans": plans})
    first, second = (page.evaluate("() => globalThis.given") for page in pages)
    assert first == second
    assert len(set(first[:50])) == 50
    assert all(len(report) > 70 for report in first[:50])
    assert first[50:] == ["plan-over-limit"] * 10
    assert pages[1].evaluate(SPENT) == [50, "5"]


def test_two_tabs_answer_a_window_once(browser: Any) -> None:
    """Forty windows with a lifetime of thirty answers: one phase, one report for each window, no more than thirty."""
    pages = tabs(browser, 2)
    settings = Plan.single_report(Grid((0.0, 0.0, 1.0, 1.0), 2), 1)
    plan = settings.changed(standing=Standing.of(604_800, epsilon=1, lifetime=30)).to_json()
    begin = f"(given) => {{ globalThis.given = ({TAB_OF_WINDOWS})(given); }}"
    moment = pages[0].evaluate("() => Date.now()") + 2_000
    for page in pages:
        page.evaluate(begin, {"moment": moment, "plan": plan})
    found = [page.evaluate("() => globalThis.given") for page in pages]
    reports = {report for given, _, _ in found for report in given}
    windows = [int(report[38:46], 16) for report in reports]
    assert len(windows) == len(set(windows)) == 30
    assert found[0][1:] == found[1][1:] == [[30], "30"]


def ask(programs: list[subprocess.Popen[str]], week: int) -> set[str]:
    """The reports of several processes that are all asked before any of them answers."""
    document = Plan.single_report(Grid((0.0, 0.0, 1.0, 1.0), 2), 1).changed(
        standing=Standing.of(604_800, epsilon=1, lifetime=30)
    )
    asked = {
        "plan": document.to_json(),
        "ledger": "ana",
        "limit": "30",
        "trips": [],
        "now": 1.7e9 + week * 604_800,
    }
    for program in programs:
        assert program.stdin is not None
        program.stdin.write(json.dumps(asked) + "\n")
        program.stdin.flush()
    answers = [json.loads(program.stdout.readline()) for program in programs if program.stdout is not None]
    return {answer["report"] if week else answer["problem"] for answer in answers}


def test_processes_share_a_ledger_and_one_that_was_killed_leaves_no_lock(tmp_path: Path) -> None:
    command = [require("Node"), str(CLIENT / "bin" / "lines.js"), "--ledgers", str(tmp_path)]
    with ExitStack() as stack:

        def start() -> subprocess.Popen[str]:
            program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            stack.enter_context(program)
            stack.callback(program.kill)
            return program

        programs = [start() for _ in range(3)]
        assert ask(programs, 0) == {"plan-not-due"}
        reports = [ask(programs, week) for week in range(1, 12)]
        assert [len(report) for report in reports] == [1] * 11
        # What a process leaves that was killed while it wrote: half of a text, and a text that is no longer the newest.
        (newest,) = (file for file in (tmp_path / "ana").iterdir() if file.stat().st_size)
        (tmp_path / "ana" / "new-0").write_text('{"format":"ldptrace-led')
        (tmp_path / "ana" / "1").write_text(
            '{"format":"ldptrace-ledger","version":1,"entries":[],"standing":[]}'
        )
        programs[0].kill()
        programs[0] = start()
        assert ask(programs, 11) == reports[-1]
        assert len(ask(programs, 12)) == 1
        assert newest.stat().st_size == 0


def test_the_problems_are_those_of_the_protocol() -> None:
    listed = json.loads((ROOT / "protocol" / "v2" / "problems.json").read_text())
    source = (CLIENT / "src" / "problems.js").read_text()
    for problem in listed:
        line = f'[{problem["number"]}, "{problem["code"]}", {problem["status"]}, "{problem["sentence"]}"]'
        assert line in source
