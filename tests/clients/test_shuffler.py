"""Each client sends a sealed report to a running shuffler, with a code; the curator opens what was mixed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clients_kit import CLIENTS, JVM, java_jar
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import read_report
from ldptrace.protocol.seals import label_bytes
from ldptrace.shuffler.served import NO_WINDOW, Served
from ldptrace.shuffler.store import Store
from ports_kit import free_port
from programs_kit import require
from shuffled_kit import KEY, UNTIL, shuffled
from shuffler_kit import running

pytestmark = pytest.mark.slow

# A person in a browser: the same bytes go out again after the first answer is lost.
SEND = """
import { readFileSync } from "node:fs";
const { Ledger, readPlan, Reporter } = await import(process.argv[1]);
const kept = new Map();
const storage = { getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text) };
const plan = await readPlan(readFileSync(process.argv[2]));
const reporter = new Reporter(plan, { ledger: new Ledger(storage), crs: "EPSG:4326" });
const sealed = await reporter.report([[13.4, 52.5]]);
const { sent } = reporter;
reporter.sent = async () => {};
const first = await reporter.send(sealed, { admission: process.argv[3] });
reporter.sent = sent;
const again = await reporter.send(await reporter.report([]), { admission: process.argv[3] });
console.log(JSON.stringify([first.arrived, again.arrived, await reporter.ledger.waiting(plan)]));
"""


def said(*command: object, status: int = 0) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout if status == 0 and done.stdout else done.stderr


def test_three_clients_send_to_a_shuffler(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    port = free_port()
    grid = Grid((13.3, 52.4, 13.6, 52.6), 6)
    plan = shuffled(
        Plan.single_report(grid, 1.0, crs="EPSG:4326"),
        batch=2,
        epsilon=1,
        address=f"http://127.0.0.1:{port}",
        until=UNTIL,
    )
    (tmp_path / "plan.json").write_text(plan.to_json())
    (tmp_path / "trip.gpx").write_text(
        '<gpx><trk><trkseg><trkpt lat="52.5" lon="13.4"/></trkseg></trk></gpx>'
    )
    now = [time.time()]
    store = Store(tmp_path / "shuffler", lambda: now[0])
    store.add_plan(plan, "http://127.0.0.1:9/v1/campaigns/spring", "token", admission=True)
    sheets = store.make_codes(plan.id, [NO_WINDOW], 3)
    codes = [sheet[0] for sheet in sheets]
    programs = {
        "python": [sys.executable, "-m", "ldptrace.device.program"],
        "java": [*JVM, "-jar", java_jar(request.config)],
    }
    with running(tmp_path / "shuffler", port):
        for (name, program), code in zip(programs.items(), codes, strict=False):
            given = (
                "--plan",
                tmp_path / "plan.json",
                "--ledger",
                tmp_path / name,
                "--report",
                tmp_path / "report",
            )
            report = (*given[:4], "--trajectory", tmp_path / "trip.gpx", "-o", tmp_path / "report")
            said(*program, "report", *report)
            send = (*program, "send", *given, "--wait", "0", "--admission")
            refused = said(*send, "AAAA-AAAA", status=1)
            assert "the shuffler is A club, http://127.0.0.1" in refused
            assert "kept to be sent again" in refused
            assert "the report arrived" in said(*send, code)
            assert "plan-answered" in said(*program, "report", *report, status=2)
        module = (CLIENTS / "js" / "index.js").as_uri()
        node = (require("Node"), "--input-type=module", "-e", SEND, module, tmp_path / "plan.json", codes[2])
        assert json.loads(said(*node)) == [True, True, None]
    now[0] = UNTIL + 1.0
    [batch] = store.close_due()
    assert batch.reports == 3
    opener = KEY.opener(plan.id)
    mixed, size = b"".join(store.reports(batch)), Served.of(plan).size
    for start in range(0, len(mixed), size):
        sealed = mixed[start : start + size]
        opened = opener.open(sealed, label_bytes(None))
        assert opened is not None
        read_report(opened, plan, 0)
    assert len(mixed) == 3 * size
    store.close()
