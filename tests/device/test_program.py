from __future__ import annotations

import io
import json
import socket
import threading
from pathlib import Path

import pytest

from ldptrace.device import Ledger, storage
from ldptrace.device.program import main, post
from ldptrace.device.reporter import Reporter
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import read_report
from ldptrace.protocol.standing import Standing
from shuffled_kit import shuffled, weekly
from taker_kit import server

PLAN = Plan.single_report(Grid((13.3, 52.4, 13.6, 52.6), 6), 1.0, crs="EPSG:4326")
TRIP = '<gpx><trk><trkseg><trkpt lat="52.5" lon="13.4"><time>{}</time></trkpt></trkseg></trk></gpx>'


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("plan.json").write_text(PLAN.to_json())
    Path("trip.gpx").write_text(TRIP.format("2026-06-01T08:00:00Z"))
    return tmp_path


ANSWER = [
    "report",
    "--plan",
    "plan.json",
    "--trajectory",
    "trip.gpx",
    "-o",
    "report",
    "--ledger",
    "ledger.json",
]
SEND = [
    "send",
    "--plan",
    "plan.json",
    "--report",
    "report",
    "--ledger",
    "ledger.json",
    "--wait",
    "0",
    "--url",
]
EXPLAIN = ["explain", "--plan", "plan.json", "--ledger", "ledger.json"]


def test_explain_report_send(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(EXPLAIN) == 0
    assert capsys.readouterr().out.startswith("Given so far: epsilon 0. Your limit is 5, so 5 is left.\n")
    assert main(ANSWER) == 0
    first = Path("report").read_bytes()
    read_report(first, PLAN, 0)
    assert main(ANSWER) == 0
    assert Path("report").read_bytes() == first
    assert main([*EXPLAIN, "--report", "report"]) == 0
    assert first.hex() in capsys.readouterr().out
    with server(503) as (url, _):
        assert main([*SEND, url]) == 1
    assert "kept to be sent again" in capsys.readouterr().err
    with server(200) as (url, seen):
        assert main([*SEND, url, "--admission", "secret"]) == 0
    [(path, headers, data)] = seen
    assert (path, data) == ("/v1/campaigns/spring/reports", first)
    assert headers["Content-Type"] == "application/vnd.ldptrace.reports"
    assert headers["Ldptrace-Admission"] == "secret"
    assert main(ANSWER) == 2
    assert "plan-answered" in capsys.readouterr().err


def test_a_full_disk_names_the_file(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(storage.os, "fsync", full)
    before = sorted(files.iterdir())
    assert main(ANSWER) == 2
    named = files.resolve() / "ledger.json"
    assert capsys.readouterr().err.endswith(f"\nerror: {named}: No space left on device\n")
    assert sorted(files.iterdir()) == before


def test_a_report_that_was_counted_before_has_arrived(files: Path) -> None:
    assert main(ANSWER) == 0
    with server(409, json.dumps({"type": "urn:ldptrace:problem:duplicate"}).encode()) as (url, _):
        assert main([*SEND, url + "/reports"]) == 0
    assert main(ANSWER) == 2


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (301, b""),
        (302, b""),
        (303, b""),
        (307, b""),
        (308, b""),
        (204, b""),
        (500, b"the database holds a duplicate key"),
        (409, json.dumps({"type": "urn:ldptrace:problem:wrong-window"}).encode()),
        (400, b"x" * 10_000_000),
    ],
)
def test_what_was_not_counted_is_kept(
    files: Path, status: int, body: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    """No redirection is followed, and of a long reason only the beginning is read."""
    assert main(ANSWER) == 0
    first = Path("report").read_bytes()
    with server(status, body, "/elsewhere") as (url, seen):
        assert main([*SEND, url]) == 1
    assert [path for path, _, _ in seen] == ["/v1/campaigns/spring/reports"]
    assert len(capsys.readouterr().err) < 5_000
    assert main(ANSWER) == 0
    assert Path("report").read_bytes() == first


def test_a_server_that_speaks_no_http_is_one_that_did_not_take_it(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(ANSWER) == 0
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            other, _ = listening.accept()
            with other:
                other.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        assert main([*SEND, f"http://127.0.0.1:{listening.getsockname()[1]}/v1/campaigns/spring"]) == 1
        thread.join()
    assert "kept to be sent again" in capsys.readouterr().err


def test_a_report_waits_a_random_time_before_it_is_sent(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    assert main(ANSWER) == 0
    usual = [word for word in SEND if word not in ("--wait", "0")]
    for _ in range(40):
        assert main([*usual, "http://127.0.0.1:1/v1/campaigns/spring"]) == 1
    # Up to an hour. Fewer than 30 different ones among forty draws have a chance far below one in a million.
    assert len(set(waited)) >= 30
    assert set(waited) <= set(range(3601))
    assert max(waited) > 60


@pytest.mark.parametrize("wait", ["soon", "-1", "1234567"])
def test_a_wait_is_a_number_of_seconds(files: Path, wait: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*SEND, "http://127.0.0.1:1/v1/campaigns/spring", "--wait", wait])
    assert ended.value.code == 2
    assert "a number of seconds" in capsys.readouterr().err


def test_no_server_and_no_address(files: Path) -> None:
    assert main(ANSWER) == 0
    assert main([*SEND, "http://127.0.0.1:1/v1/campaigns/spring"]) == 1
    with pytest.raises(InputError, match="--url is the address"):
        post("spring", b"", None)


def test_a_standing_plan_is_answered_by_the_clock(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("plan.json").write_text(PLAN.changed(standing=Standing.of(604_800, epsilon=1)).to_json())
    assert main([*ANSWER, "--now", "2026-06-01T08:00:00Z"]) == 2
    assert "plan-not-due" in capsys.readouterr().err
    assert main([*ANSWER, "--now", str(1_780_300_800 + 604_800)]) == 0
    assert main([*ANSWER]) in (0, 2)
    for text in ("tomorrow", "2026-06-01T08:00:00"):
        assert main([*ANSWER, "--now", text]) == 2
        assert (
            f"--now is a moment with its zone, such as 2026-11-16T08:00Z, or Unix seconds, got '{text}'"
            in (capsys.readouterr().err)
        )


def test_lines(files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps({"plan": PLAN.to_json(), "trips": []}) + "\n"))
    assert main(["lines", "--ledgers", "."]) == 0
    assert "report" in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--plan-id", "0" * 64], "plan-changed"),
        (["--crs", "EPSG:3857"], "plan-other-coordinates"),
        (["--round", "2"], "plan-no-such-round"),
        (["--limit", "0.5"], "plan-over-limit"),
        (["--trajectory", "missing.gpx"], "missing.gpx"),
        (["--trajectory", "trip.csv"], "a trajectory is a file"),
    ],
)
def test_refusals_write_nothing(
    more: list[str], said: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*ANSWER, *more]) == 2
    message = capsys.readouterr().err.splitlines()[-1]
    assert message.startswith("error: ")
    assert said in message
    assert not Path("report").exists()


def test_the_plan_and_what_is_spent_are_shown_before_anything_is_answered(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def answered(*_: object) -> bytes:
        assert capsys.readouterr().err == f"plan {PLAN.id}; given so far: epsilon 0, 5 is left\n"
        return b"a report"

    monkeypatch.setattr(Reporter, "report", answered)
    assert main(ANSWER) == 0
    assert Path("report").read_bytes() == b"a report"


def test_explain_says_what_the_device_makes_of_trips(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("far.geojson").write_text('{"type":"LineString","coordinates":[[2.3,48.9]]}')
    given = ["explain", "--plan", "plan.json", "--ledger", "ledger.json", "--trajectory", "far.geojson"]
    assert main(given) == 0
    assert "All points are outside: the trips are from another area" in capsys.readouterr().out
    assert not Path("ledger.json").exists()


def test_a_broken_file_is_answered_like_every_other(files: Path) -> None:
    Path("trip.gpx").write_text("<gpx>")
    assert main(ANSWER) == 0
    read_report(Path("report").read_bytes(), PLAN, 0)


def test_a_sealed_report_goes_to_its_shuffler_and_to_nobody_else(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with server(200) as (url, seen):
        plan = shuffled(PLAN, address=url.removesuffix("/v1/campaigns/spring"))
        Path("plan.json").write_text(plan.to_json())
        assert main(ANSWER) == 0
        told = capsys.readouterr().err
        assert "1 of 30 if shuffler and curator work together" in told
        sealed = Path("report").read_bytes()
        assert main([*SEND, url]) == 2
        assert "omit --url" in capsys.readouterr().err
        Path("report").write_bytes(sealed[:-1])
        assert main(SEND[:-1]) == 2
        assert "not the report to this plan" in capsys.readouterr().err
        Path("report").write_bytes(sealed)
        assert main(SEND[:-1]) == 0
    [(path, headers, data)] = seen
    assert (path, data) == (f"/v2/plans/{plan.id}/reports", sealed)
    assert headers["Content-Type"] == "application/vnd.ldptrace.sealed"
    assert main(ANSWER) == 2
    assert "plan-answered" in capsys.readouterr().err


def test_the_window_of_a_sealed_report_stands_in_the_address(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with server(200) as (url, seen):
        plan = weekly(PLAN, address=url)
        Path("plan.json").write_text(plan.to_json())
        assert main([*ANSWER, "--now", "1700000000"]) == 2
        assert main([*ANSWER, "--now", "1700604800"]) == 0
        window = Ledger("ledger.json").standing[0].window
        assert main(SEND[:-1]) == 0
    assert seen[0][0] == f"/v1/campaigns/spring/v2/plans/{plan.id}/windows/{window}/reports"


def test_a_person_says_what_they_allow(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("plan.json").write_text(shuffled(PLAN).to_json())
    assert main([*ANSWER, "--shuffled", "no"]) == 2
    assert "plan-not-wanted" in capsys.readouterr().err
    assert main([*ANSWER, "--most-local", "0.9"]) == 2
    assert main([*ANSWER, "--local-limit", "0.9"]) == 2
    assert "plan-over-limit" in capsys.readouterr().err
    assert not Path("ledger.json").exists()
    assert main([*ANSWER, "--local-limit", "1"]) == 0
    Path("plan.json").write_text(PLAN.to_json())
    assert main(ANSWER) == 2


def test_a_direct_report_needs_an_address(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(ANSWER) == 0
    assert main(SEND[:-1]) == 2
    assert "--url" in capsys.readouterr().err
