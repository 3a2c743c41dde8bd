"""The Java client reproduces every vector, as a jar of Java 8 bytecode that runs on Android too."""

from __future__ import annotations

import json
import re
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

from clients_kit import JAVA, JVM, ROOT, java_jar, java_tests
from histories_kit import History
from ldptrace.audit import CommandDevice
from ldptrace.device import Ledger, Reporter
from ldptrace.device.explanation import explain_asking, explain_ledger, explain_report
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import CampaignName, Plan
from ldptrace.protocol.reports import read_report
from ldptrace.protocol.seals import label_bytes
from ldptrace.protocol.standing import Standing
from shuffled_kit import KEY, shuffled
from taker_kit import server

pytestmark = pytest.mark.slow

VECTORS = ROOT / "protocol" / "vectors" / "v1"
SEALS = ROOT / "protocol" / "vectors" / "v2" / "seals.json"
OF_A_PLAN = ("reports", "rejected_reports", "tallies")
MOST_BYTES = 125_000
# The first Android with what the client uses is 5.0: no java.time, no java.nio.file, no streams, no Optional.
ANDROID = re.compile(
    r"java/(lang/[A-Z][\w$]*|io/\w+|math/\w+|net/\w+|security/((interfaces|spec)/)?\w+|nio/(charset|channels)/\w+|text/\w+|"
    r"util/(ArrayList|Arrays|Collection|Collections|HashMap|HashSet|Iterator|Date|LinkedHashMap|List|Locale|Map(\$Entry)?|Set|TimeZone|"
    r"TreeMap)|util/regex/\w+|lang/invoke/[\w$]+)|javax/crypto/(spec/)?\w+"
)
# Methods of these classes that later Androids have.
LATER = {
    "floorDiv",
    "floorMod",
    "getOrDefault",
    "computeIfAbsent",
    "putIfAbsent",
    "forEach",
    "removeIf",
    "join",
}


@pytest.fixture(scope="module")
def tests(request: pytest.FixtureRequest) -> str:
    return java_tests(request.config)


@pytest.fixture(scope="module")
def jar(request: pytest.FixtureRequest) -> Path:
    return java_jar(request.config)


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(Plan.single_report(Grid((13.3, 52.4, 13.6, 52.6), 6), 1.0, crs="EPSG:4326").to_json())
    return path


@pytest.fixture
def trip(tmp_path: Path) -> Path:
    path = tmp_path / "trip.gpx"
    path.write_text('<gpx><trk><trkseg><trkpt lat="52.5" lon="13.4"/></trkseg></trk></gpx>')
    return path


def java(*arguments: object, stdin: str = "", status: int = 0) -> str:
    """What a fresh JVM prints."""
    command = [*JVM, *map(str, arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == status, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout if status == 0 else done.stderr


@pytest.mark.parametrize("folder", [VECTORS, SEALS.parent])
def test_every_vector(folder: Path, tests: str) -> None:
    lines = java("-cp", tests, "org.ldptrace.device.Vectors", folder).splitlines()
    assert [line for line in lines if not line.startswith("tried ")] == []
    index = json.loads((folder / "index.json").read_text())
    tried = {line.split()[1]: int(line.split()[2]) for line in lines}
    assert tried == {name: vectors_in(folder / name) for name in index if name != SEALS.name}


def test_every_seal(tests: str) -> None:
    listed = json.loads(SEALS.read_text())
    count = sum(map(len, listed.values()))
    assert java("-cp", tests, "org.ldptrace.device.Sealing", "vectors", SEALS) == f"tried {count}\n"


def vectors_in(path: Path) -> int:
    """How many vectors a file has; a file about a plan has the plan itself and lists."""
    data = json.loads(path.read_text())
    return len(data) if isinstance(data, list) else 1 + sum(len(data[kind]) for kind in OF_A_PLAN)


def test_what_no_vector_shows(tests: str, tmp_path: Path) -> None:
    """The random source, refusals, odd trajectories, broken files, a removed lock, threads."""
    grid = Grid((-8.7, 41.0, -8.4, 41.4), 6)
    for name, plan in {
        "one": Plan.single_report(grid, 1.0, crs="EPSG:4326"),
        "other": Plan.paper(grid, 1.0),
    }.items():
        (tmp_path / name).write_text(plan.to_json())
    folder = tmp_path / "ledgers"
    folder.mkdir()
    said = java("-cp", tests, "org.ldptrace.device.Checks", tmp_path / "one", tmp_path / "other", folder)
    assert said == "done\n"


def test_histories_with_restarts(jar: Path, tmp_path: Path) -> None:
    """Publish, extend, fork, ask, retry, confirm, other limits, other clocks, and the program is killed in between."""
    answered = 0
    with CommandDevice(f"{' '.join(JVM)} -jar {jar} lines --ledgers {{ledgers}}", tmp_path) as device:
        for seed in (1000, 1001):
            history = History(device, seed)
            history.run(60)
            answered += len(history.answers) + sum(row.answers for row in history.rows.values())
    assert answered > 4


def test_whatever_was_given_away_outlives_a_kill(jar: Path, tmp_path: Path) -> None:
    plans = [Plan.single_report(Grid((0.0, 0.0, 1.0, 1.0 + k), 2), "0.1").to_json() for k in range(40)]
    lines = [{"plan": plan, "ledger": "killed", "trips": [{"points": [[0.5, 0.5]]}]} for plan in plans]
    with CommandDevice(f"{' '.join(JVM)} -jar {jar} lines --ledgers {{ledgers}}", tmp_path) as device:
        for line in lines:
            device.send(line)
        given = [device.receive() for _ in lines[:15]]
        # It is somewhere in the middle of the next ones.
        device.restart()
        assert [device.ask(line) for line in lines[:15]] == given
        assert all("report" in device.ask(line) for line in lines)


def test_links_do_not_fork_a_ledger(jar: Path, trip: Path, plan: Path, tmp_path: Path) -> None:
    ledger, link, dangling = tmp_path / "ledger.json", tmp_path / "link.json", tmp_path / "dangling.json"
    link.symlink_to(ledger)

    def report(book: Path, status: int = 0) -> bytes | str:
        options = ("--plan", plan, "--trajectory", trip, "-o", tmp_path / "report", "--ledger", book)
        said = java("-jar", jar, "report", *options, status=status)
        return said if status else (tmp_path / "report").read_bytes()

    dangling.symlink_to(tmp_path / "nowhere.json")
    assert "link to nothing" in report(dangling, status=2)
    first = report(ledger)
    assert report(link) == first
    assert link.is_symlink()
    (tmp_path / "hard.json").hardlink_to(ledger)
    assert "a copy or a link" in report(tmp_path / "hard.json", status=2)
    (tmp_path / "moved.json").write_bytes(ledger.read_bytes())
    assert "a copy or a link" in report(tmp_path / "moved.json", status=2)
    assert report(ledger) == first
    assert ledger.stat().st_mode & 0o077 == 0


def test_the_example_of_the_readme_runs(jar: Path, plan: Path, tmp_path: Path) -> None:
    [example] = re.findall(r"```java\n(.*?)```", (JAVA / "README.md").read_text(), re.S)
    (tmp_path / "Example.java").write_text(example)
    done = subprocess.run(
        [*JVM, "-cp", str(jar), "Example.java"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Trips: 1, with 2 points.\nThe answer is about this one trip.\n50 bytes\n" in done.stdout


def test_a_document_type_is_not_read(jar: Path, plan: Path, trip: Path, tmp_path: Path) -> None:
    """Entities can grow without limit, so a file that declares any is a file without trips."""
    given = ("explain", "--plan", plan, "--ledger", tmp_path / "ledger", "--trajectory")
    assert "Trips: 1, with 1 point." in java("-jar", jar, *given, trip)
    declared = tmp_path / "declared.gpx"
    declared.write_text("<!DOCTYPE gpx>" + trip.read_text())
    assert "Trips: 0, with 0 points." in java("-jar", jar, *given, declared)


def test_the_plan_is_shown_before_it_is_answered(jar: Path, plan: Path, trip: Path, tmp_path: Path) -> None:
    given = ("--plan", plan, "--trajectory", trip, "-o", tmp_path / "report", "--ledger", tmp_path / "ledger")
    said = java("-jar", jar, "report", *given, "--limit", "0.5", status=2)
    shown = f"plan {Plan.from_json(plan.read_text()).id}; given so far: epsilon 0, 0.5 is left\n"
    assert said.startswith(shown + "error: plan-over-limit")


STANDING = Standing.of(604_800, epsilon=1, recent=90_000, lifetime=5)


@pytest.mark.parametrize("is_shuffled", [False, True])
@pytest.mark.parametrize(("standing", "time"), [(None, False), (STANDING, True)])
def test_its_words_are_those_of_the_python_client(
    standing: Standing | None,
    time: bool,
    is_shuffled: bool,
    jar: Path,
    trip: Path,
    plan: Path,
    tmp_path: Path,
) -> None:
    """Before anything is drawn, of the ledger, and of a report."""
    campaign = CampaignName("spring", "0" * 32)
    grid = Grid((13.3, 52.4, 13.6, 52.6), 6)
    read = Plan.single_report(grid, 1.0, crs="EPSG:4326", time=time).changed(
        standing=standing, campaign=campaign
    )
    read = shuffled(read) if is_shuffled else read
    plan.write_text(read.to_json())
    given, report = ("--plan", plan, "--ledger", tmp_path / "book.json"), tmp_path / "report"
    answer = ("report", *given, "--trajectory", trip, "-o", report, "--now")
    ledger, now = Ledger(tmp_path / "python.json"), 1_780_300_800

    def said(*more: object) -> list[str]:
        return java("-jar", jar, "explain", *given, *more).splitlines()

    def compared() -> None:
        expected = [*explain_ledger(ledger, read, now), *explain_asking(read, 0)]
        # The phases of the two ledgers differ.
        assert [line for line in said("--now", now) if " due " not in line] == [
            line for line in expected if " due " not in line
        ]

    compared()
    if is_shuffled:
        # What a person sees who has to agree to a total first, or takes part in no shuffled plan.
        for limits in ({"local_limit": "0.5"}, {"most_local": "0.5"}, {"shuffled": False}):
            [(name, value)] = limits.items()
            option = "no" if value is False else value
            asked = explain_ledger(Ledger(tmp_path / "python.json", **limits), read, now)  # type: ignore[arg-type]
            assert said(f"--{name.replace('_', '-')}", option)[: len(asked)] == asked
    reporter = Reporter(read, ledger)
    if standing is not None:
        java("-jar", jar, *answer, now, status=2)
        reporter.accept(now)
    java("-jar", jar, *answer, now + 604_800)
    reporter.report([], now=now + 604_800)
    compared()
    assert said("--report", report) == explain_report(read, report.read_bytes())


def test_a_shuffled_report_goes_to_the_shuffler_alone(
    jar: Path, trip: Path, plan: Path, tmp_path: Path
) -> None:
    week = Plan.single_report(Grid((13.3, 52.4, 13.6, 52.6), 6), 1.0, crs="EPSG:4326").changed(
        standing=STANDING
    )
    given, report = ("--plan", plan, "--ledger", tmp_path / "book.json"), tmp_path / "report"
    with server(409, b'{"type": "urn:ldptrace:problem:duplicate"}') as (url, seen):
        read = shuffled(week, address=url)
        plan.write_text(read.to_json())
        answer = ("report", *given, "--trajectory", trip, "-o", report, "--now")
        assert "a moment with its zone" in java("-jar", jar, *answer, "2026-06-01T08:00:00", status=2)
        java("-jar", jar, *answer, 1_780_300_800, status=2)
        java("-jar", jar, *answer, 1_780_300_800 + 604_800)
        sealed = report.read_bytes()
        java("-jar", jar, *answer, 1_780_300_800 + 604_801)
        assert report.read_bytes() == sealed
        send = ("send", *given, "--wait", "0", "--report")
        assert "is sent to its shuffler" in java("-jar", jar, *send, report, "--url", url, status=2)
        (tmp_path / "other").write_bytes(sealed[:-1] + b"x")
        assert "not the report to this plan" in java("-jar", jar, *send, tmp_path / "other", status=2)
        assert seen == []
        # Nothing but status 200 says that the shuffler holds it.
        java("-jar", jar, *send, report, status=1)
        [(path, headers, body)] = seen
    found = re.fullmatch(rf"/v1/campaigns/spring/v2/plans/{read.id}/windows/(\d+)/reports", path)
    assert found is not None
    window = int(found[1])
    assert (headers["Content-Type"], body) == ("application/vnd.ldptrace.sealed", sealed)
    opened = KEY.opener(read.id).open(sealed, label_bytes(window))
    assert opened is not None
    read_report(opened, read, 0, window)


@pytest.mark.parametrize(
    ("status", "body", "exit_status"),
    [
        (200, b"", 0),
        (409, b'{"type": "urn:ldptrace:problem:duplicate"}', 0),
        (302, b"", 1),
        (500, b"a duplicate key " * 1_000_000, 1),
    ],
)
def test_it_knows_a_report_that_arrived(
    status: int, body: bytes, exit_status: int, jar: Path, trip: Path, plan: Path, tmp_path: Path
) -> None:
    options = ("--plan", plan, "--ledger", tmp_path / "book.json")
    java("-jar", jar, "report", *options, "--trajectory", trip, "-o", tmp_path / "report")
    with server(status, body, "/elsewhere") as (url, seen):
        send = ("--report", tmp_path / "report", "--wait", "0", "--url", url)
        said = java("-jar", jar, "send", *options, *send, status=exit_status)
    assert [path for path, _, _ in seen] == ["/v1/campaigns/spring/reports"]
    assert len(said) < 5_000


def test_a_time_of_a_file_is_a_moment_in_any_zone(jar: Path, plan: Path, tmp_path: Path) -> None:
    now, book, trip = 1_780_300_800, tmp_path / "book.json", tmp_path / "trip.gpx"
    plan.write_text(Plan.from_json(plan.read_text()).changed(standing=STANDING).to_json())
    options = ("--plan", plan, "--ledger", book, "--trajectory", trip)

    def said(time: str, command: str = "explain", extension: str = "", **status: int) -> str:
        point = f'<trkpt lat="52.5" lon="13.4"><time>{time}</time>{extension}</trkpt>'
        trip.write_text(f"<gpx><trk><trkseg>{point}</trkseg></trk></gpx>")
        more = ("-o", tmp_path / "report") if command == "report" else ()
        return java(
            "-jar", jar, command, *options, "--now", now + 2 * 604_800 * (not status), *more, **status
        )

    said("2026-06-01T08:00:00Z", "report", status=2)
    phase = int(re.search(r'"phase":(\d+)', book.read_text())[1])  # type: ignore[index]
    passed = now + 2 * 604_800 - STANDING.start - phase
    arrived = now + 2 * 604_800 - passed % STANDING.every - 3600
    utc, india, later = (str(np.datetime64(arrived + ahead, "s")) for ahead in (0, 19_800, 2 * 19_800))
    expected = said(f"{utc}Z")
    assert said(f"{india}+05:30") == expected
    assert said(f"{later}Z") != expected
    # An extension may have elements of the same name.
    assert said(f"{utc}Z", extension=f'<time xmlns="urn:x">{later}Z</time>') == expected


def test_the_moment_of_sending_is_random(jar: Path, trip: Path, plan: Path, tmp_path: Path) -> None:
    """It waits up to 999,999 seconds, and less than ten once in 100,000 runs."""
    options = ("--plan", plan, "--ledger", tmp_path / "book.json")
    java("-jar", jar, "report", *options, "--trajectory", trip, "-o", tmp_path / "report")
    send = ("--report", tmp_path / "report", "--wait", "999999", "--url", "http://127.0.0.1:9")
    command = [*JVM, "-jar", str(jar), "send", *map(str, (*options, *send))]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as sending:
        assert sending.stderr is not None
        said = re.fullmatch(r"the report is sent in (\d+) s: .*\n", sending.stderr.readline())
        sending.kill()
    assert said is not None
    assert int(said[1]) >= 10


@pytest.mark.parametrize(
    "command", ["--plan", "report", "report --plan missing --trajectory a.gpx -o b --ledger c", "send --x y"]
)
def test_misuse_is_one_sentence(jar: Path, command: str) -> None:
    said = java("-jar", jar, *command.split(), status=2)
    assert said.startswith("error: ")
    assert len(said.splitlines()) == 1


def test_the_problems_are_those_of_the_protocol() -> None:
    source = (JAVA / "src/org/ldptrace/device/Problem.java").read_text()
    for problem in json.loads((ROOT / "protocol" / "v2" / "problems.json").read_text()):
        row = f'({problem["number"]}, "{problem["code"]}", {problem["status"]}, "{problem["sentence"]}")'
        assert row in source


def test_the_jar_is_small_and_of_java_8(jar: Path) -> None:
    assert jar.stat().st_size < MOST_BYTES
    with zipfile.ZipFile(jar) as packed:
        classes = {name: packed.read(name) for name in packed.namelist() if name.endswith(".class")}
    # The version of the bytecode is the third pair of bytes after the magic number.
    assert {data[6:8] for data in classes.values()} == {bytes([0, 52])}
    for name, data in classes.items():
        used = set(re.findall(rb"(?<![\w/])javax?/[\w/$]+", data))
        if not name.startswith("org/ldptrace/device/cli/"):
            assert {one.decode() for one in used if not ANDROID.fullmatch(one.decode())} == set(), name
            assert {
                word for word in LATER if b"\x01\x00" + bytes([len(word)]) + word.encode() in data
            } == set(), name
        assert b"java/lang/reflect" not in data
        assert b"java/nio/file" not in data
        assert b"java/time" not in data
