"""The fleet against a real server: every device acknowledged, whatever happens on the way."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ldptrace.cli import application
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.io import write
from ldptrace.server import campaigns, registry, releases, rounds
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.fleet import (
    Answer,
    Connection,
    Faults,
    Fleet,
    FleetStopped,
    Target,
    city_trips,
    run_fleet,
)
from ldptrace.server.storage import Database, open_database
from ldptrace.server.tokens import create_admissions
from ldptrace.web.problems import Refused
from server_kit import SINGLE, Server, drawn, of, opened, reports_counted, running

Talk = Callable[[Connection], Awaitable[Answer]]


def spoken(said: bytes, talk: Talk) -> tuple[Answer, bytes]:
    """What the client makes of a server that says this, and what the client sent."""
    heard = bytearray()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(await reader.readuntil(b"\r\n\r\n"))
        writer.write(said)
        await writer.drain()
        writer.close()

    async def both() -> Answer:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        connection = Connection(Target("127.0.0.1", port, False, "/base"))
        try:
            return await talk(connection)
        finally:
            connection.close()
            server.close()

    return asyncio.run(both()), bytes(heard)


def get(connection: Connection) -> Awaitable[Answer]:
    return connection.request("GET", "/x", headers=(("A", "b"),))


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", Answer(200, b"abc")),
        (
            b"HTTP/1.1 409 No\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
            Answer(409, b"abc"),
        ),
        (b"HTTP/1.1 204 None\r\n\r\n", Answer(204, b"")),
    ],
)
def test_answers_of_every_kind(said: bytes, answer: Answer) -> None:
    found, heard = spoken(said, get)
    assert found == answer
    assert heard.startswith(b"GET /base/x HTTP/1.1\r\nHost: 127.0.0.1:")
    assert b"\r\nA: b\r\n" in heard


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
        b"no\r\n\r\n",
    ],
)
def test_an_answer_that_is_none_ends_the_connection(said: bytes) -> None:
    with pytest.raises(ConnectionError):
        spoken(said, get)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://host", Target("host", 443, True, "")),
        ("http://host/a/b/", Target("host", 80, False, "/a/b")),
        ("http://[::1]:8000", Target("::1", 8000, False, "")),
    ],
)
def test_addresses(url: str, target: Target) -> None:
    assert Target.of(url) == target


@pytest.mark.parametrize("url", ["ftp://host", "host:80", "http://", "http://host:x", ""])
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(InputError, match="address"):
        Target.of(url)


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    found = open_database(tmp_path_factory.mktemp("fleet"))
    yield found
    found.close_all()


@pytest.fixture(scope="module")
def server(database: Database) -> Iterator[Server]:
    with running("--data", database.url) as found:
        yield found


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few trips: one leaves the bounds, one stays where it is."""
    file = tmp_path_factory.mktemp("trips") / "trips.parquet"
    lists = [[(1.0, 1.0), (5.0, 5.0)], [(99.0, -3.0), (2.0, 2.0)], [(3.0, 3.0)]]
    write(Trajectories.from_lists(lists), file)
    return file


def fleet(
    server: Server, users: int, *options: str, campaign: str = "trips", trips: Path | None = None
) -> Result:
    """The command; without a file of trips it makes a city, which takes longer than small fleets do."""
    command = ["fleet", "--url", server.url, "--campaign", campaign, "--users", str(users), "--seed", "3"]
    source = [] if trips is None else ["--input", str(trips)]
    return CliRunner().invoke(application("fleet"), [*command, *source, *options])


def rejected(database: Database) -> dict[str, int]:
    with database.reading() as session:
        return rounds.rejections_of(session, "trips")


def test_a_fleet_with_faults(server: Server, database: Database) -> None:
    opened(database, "trips", SINGLE)
    done = fleet(server, 400, "--duplicates", "0.2", "--drops", "0.3", "--garbage", "0.3")
    assert done.exit_code == 0, done.output
    assert "400 of 400 devices acknowledged" in done.output
    assert reports_counted(database, "trips") == 400
    problems = rejected(database)
    assert problems["duplicate"] >= 60
    assert {"unknown-version", "wrong-size"} < set(problems)


def test_a_fleet_whose_server_goes_away(trips: Path, tmp_path: Path) -> None:
    """The command runs on while the server is killed and started again; it ends with 0 and every device once."""
    database = open_database(tmp_path)
    opened(database, "trips", SINGLE)
    chance = random.Random(4)
    with running("--data", str(tmp_path)) as server:
        command = [sys.executable, "-c", "from ldptrace.cli import main; main()", "fleet"]
        command += ["--url", server.url, "--campaign", "trips", "--input", str(trips), "--users", "1500"]
        options = ["--drops", "0.05", "--concurrency", "16"]
        process = subprocess.Popen([*command, *options], stderr=subprocess.PIPE)
        while reports_counted(database, "trips") < 100:
            time.sleep(0.02)
            assert process.poll() is None
        for _ in range(2):
            time.sleep(chance.uniform(0.0, 0.3))
            server.kill()
            server.start()
        assert process.wait(120) == 0, process.communicate()
        process.communicate()
    assert reports_counted(database, "trips") == 1_500


def test_devices_of_a_file_answer_whatever_their_trip(
    server: Server, database: Database, trips: Path
) -> None:
    opened(database, "file", SINGLE)
    done = fleet(server, 30, campaign="file", trips=trips)
    assert done.exit_code == 0, done.output
    assert reports_counted(database, "file") == 30


def test_exit_status_of_a_fleet_that_is_refused(
    server: Server, database: Database, trips: Path, tmp_path: Path
) -> None:
    opened(database, "full", SINGLE, min_reports=1, max_reports=5)
    campaigns.create(database, "tokens", of(SINGLE, "tokens"), actor="test")
    codes = tmp_path / "codes"
    codes.write_text("\n".join(create_admissions(database, "tokens", 8, actor="test")))
    campaigns.open_round(database, "tokens", actor="test")
    full = fleet(server, 9, campaign="full", trips=trips)
    assert full.exit_code == 1
    assert "4 refused: campaign-full" in full.output
    nowhere = fleet(server, 3, campaign="nowhere", trips=trips)
    assert isinstance(nowhere.exception, InputError)
    without = fleet(server, 3, campaign="tokens", trips=trips)
    assert without.exit_code == 1
    assert "not-admitted" in without.output
    assert fleet(server, 8, "--admission", str(codes), campaign="tokens", trips=trips).exit_code == 0
    few = fleet(server, 9, "--admission", str(codes), campaign="tokens", trips=trips)
    assert isinstance(few.exception, InputError)
    gone = fleet(Server([]), 3, "--patience", "0.3", trips=trips)
    assert "did not answer" in str(gone.exception)
    for wrong in ("ftp://host", "host:80", "http://", "http://host:x"):
        with pytest.raises(InputError):
            Target.of(wrong)
    assert isinstance(fleet(server, 3, "--drops", "2").exception, InputError)


def test_a_server_that_never_comes_back() -> None:
    """It hands out the plan and is then silent for longer than the fleet waits."""

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET"):
            plan = SINGLE.to_json().encode()
            writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(plan)}\r\n\r\n".encode() + plan)
            await writer.drain()
        writer.close()

    async def play() -> None:
        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with server:
            await run_fleet(Fleet(url, "trips", Faults(), None, 0.5), city_trips(5, 1), 5)

    with pytest.raises(FleetStopped, match=r"did not answer for 0\.5 seconds"):
        asyncio.run(play())


def test_the_seed_never_drives_a_report(server: Server, database: Database, trips: Path) -> None:
    """The same seed twice: the same trips and faults, but two sets of reports that have no id in common."""
    opened(database, "seed", SINGLE)
    for _ in range(2):
        assert fleet(server, 50, "--duplicates", "0.5", campaign="seed", trips=trips).exit_code == 0
    # Had the reports been the same, the second fifty would all be duplicates of the first.
    assert reports_counted(database, "seed") == 100


def command(*arguments: str) -> Result:
    return CliRunner().invoke(application(arguments[0]), list(arguments))


# Devices draw from the secure source, so the noise is another each time: what a fit remarks on it is no failure.
@pytest.mark.filterwarnings("default::ldptrace.errors.FitWarning")
def test_a_campaign_from_the_command_line(address: str, trips: Path, tmp_path: Path) -> None:
    """From nothing to synthetic trips, on both databases, with a server that runs all the while."""
    where = ("--database", address)
    facts = (
        "--users",
        "300",
        "--epsilon",
        "2",
        "--grid",
        "4",
        "--bounds",
        "0,0,100,100",
        "--min-reports",
        "200",
    )
    made = command("campaign", "create", "town", *facts, "--crs", "EPSG:3857", "--title", "A town", *where)
    assert made.exit_code == 0, made.output
    assert isinstance(command("campaign", "create", "town", *facts, *where).exception, Exception)
    assert isinstance(command("campaign", "create", "other", *where).exception, InputError)
    with running("--database", address) as server:
        assert fleet(server, 1, "--patience", "0.1", campaign="town", trips=trips).exception is not None
        assert command("campaign", "open", "town", *where).exit_code == 0
        assert fleet(server, 150, campaign="town", trips=trips).exit_code == 0
        short = command("campaign", "export", "town", "-o", str(tmp_path / "early"), *where)
        assert "below 200" in str(short.exception)
        assert not (tmp_path / "early").exists()
        assert fleet(server, 150, campaign="town", trips=trips).exit_code == 0
        shown = json.loads(command("campaign", "show", "town", "--json", *where).stdout)
        assert (shown["state"], shown["reports"], shown["rejected"]) == ("open", 300, {})
        assert "300 counted" in command("campaign", "show", "town", *where).stdout
        assert command("campaign", "close", "town", *where).exit_code == 0
        assert command("campaign", "publish", "town", "--count", "120", *where).exit_code == 0
        late = fleet(server, 2, campaign="town", trips=trips)
        assert late.exit_code == 1
        assert "round-closed" in late.output
    assert json.loads(command("campaign", "list", "--json", *where).stdout)[0]["state"] == "published"
    assert "published" in command("campaign", "list", *where).stdout
    out = tmp_path / "out"
    assert command("campaign", "export", "town", "-o", str(out), *where).exit_code == 0
    names = {path.name for path in out.iterdir()}
    assert {
        "estimates.json",
        "model.npz",
        "fit.json",
        "synthetic.parquet",
        "synthetic.geojson",
        "profile.html",
        "registry.yaml",
        "croissant.json",
    } <= names
    assert "If all trips of one person had been completely different" in (out / "profile.html").read_text()
    assert "model_name: Local" in (out / "registry.yaml").read_text()
    card = json.loads((out / "fit.json").read_text())
    assert (card["reports"], card["trips"], card["promise"]["epsilon"]) == (300, 120, "2")
    assert {match["question"] for match in card["fit"]} >= {"length", "visits", "links"}
    single = tmp_path / "trips.csv"
    assert command("campaign", "export", "town", "-o", str(single), *where).exit_code == 0
    assert single.read_bytes() == (out / "synthetic.csv").read_bytes()
    # The same files are good for the commands that work on files.
    fitted = command("fit", str(out / "estimates.json"), "-o", str(tmp_path / "model.npz"))
    assert fitted.exit_code == 0, fitted.output
    sampled = command("sample", str(out / "model.npz"), "-o", str(tmp_path / "more.csv"), "--count", "5")
    assert sampled.exit_code == 0, sampled.output
    log = [entry["action"] for entry in json.loads(command("campaign", "audit", "--json", *where).stdout)]
    assert log == ["create", "open", "close", "publish", "publish"]
    token = command("campaign", "token", "town", "--scope", "read", "--label", "me", *where).stdout.split()[0]
    number = token.split("_")[1]
    assert f"{number}  read" in command("campaign", "token", "--list", *where).stdout
    assert command("campaign", "token", "--revoke", number, *where).exit_code == 0
    assert "revoked" in command("campaign", "token", "--list", *where).stdout
    assert command("campaign", "delete", "town", "--yes", *where).exit_code == 0
    assert json.loads(command("campaign", "list", "--json", *where).stdout) == []


def test_a_release_that_was_interrupted(tmp_path: Path) -> None:
    """An attempt that hangs can be replaced, and cannot write any more."""
    database = open_database(tmp_path)
    opened(database, "trips", SINGLE, min_reports=50)
    Counter(database).count("trips", [Submission(b"".join(drawn(SINGLE, 60)))])
    with pytest.raises(Refused, match="all rounds are closed"):
        releases.begin(database, "trips", actor="test")
    campaigns.close(database, "trips", actor="test", now=0)
    first = releases.begin(database, "trips", actor="test")
    with pytest.raises(Refused, match="being made"):
        releases.begin(database, "trips", actor="test")
    second = releases.begin(database, "trips", actor="test", again=True)
    with pytest.raises(Refused, match="replaced"):
        first.tell("fit", 10)
    first.fail("it does not matter any more")
    second.tell("fit", 50)
    second.fail("out of memory")
    third = releases.begin(database, "trips", actor="test", count=10)
    third.make()
    with database.reading() as session:
        assert registry.find(session, "trips").state == "published"
        assert session.rows("SELECT id FROM ids") == []
    with pytest.raises(Refused, match="published already"):
        releases.begin(database, "trips", actor="test", again=True)
    database.close_all()
