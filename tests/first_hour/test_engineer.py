"""The first hour of an engineer with a shell pipeline: real processes, pipes, redirections, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ldptrace
from ldptrace.core.trajectories import Trajectories
from ldptrace.io import read, write

pytestmark = pytest.mark.slow
COMMAND = f"{sys.executable} -c 'from ldptrace.cli import main; main()'"
FUNCTION = f'ldptrace() {{ {COMMAND} "$@"; }}'
# The package that is tested, whatever the folder.
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(ldptrace.__file__).parents[1])}
TRIPS = Trajectories.from_lists([[(0.1, 0.1), (0.9, 0.9)], [(0.2, 0.8), (0.8, 0.2)]] * 20)


def shell(line: str, folder: Path, code: int = 0) -> tuple[str, str]:
    """Run a line of bash with `ldptrace` in it."""
    script = f"{FUNCTION}\nset -o pipefail\n{line}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env=ENVIRONMENT,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(TRIPS, tmp_path / "trips.csv")
    write(TRIPS, tmp_path / "trips.parquet")
    return tmp_path


def test_version_and_completion(folder: Path) -> None:
    assert shell("ldptrace --version", folder)[0] == f"ldptrace {ldptrace.__version__}\n"
    assert "--install-completion" in shell("ldptrace --help", folder)[0]


def test_a_pipe_in_and_process_substitution(folder: Path) -> None:
    out, _ = shell("cat trips.csv | ldptrace inspect - --format csv", folder)
    assert "standard input: 40 trajectories" in out
    out, _ = shell("cat trips.parquet | ldptrace inspect -", folder)
    assert "format       parquet" in out
    out, _ = shell("ldptrace inspect <(gzip -c trips.csv)", folder)
    assert "40 trajectories, 80 points" in out
    out, _ = shell("ldptrace inspect --json - <(cat trips.csv)", folder)
    assert json.loads(out)["trajectories"] == 40


def test_a_pipe_out_and_back_in(folder: Path) -> None:
    line = (
        "ldptrace convert trips.parquet - | ldptrace synthesize - -o - --epsilon 1 --bounds 0,0,1,1 --grid 4 --seed 1 "
        "2> said.txt | ldptrace convert - out.parquet --format csv"
    )
    shell(line, folder)
    assert len(read(folder / "out.parquet")) == 40
    assert "mostly noise" in (folder / "said.txt").read_text()


def test_closing_a_pipe_early_harms_nothing(folder: Path) -> None:
    shell("ldptrace plan --users 1000 --epsilon 1 --bounds 0,0,1,1 -o plan.json | head -1", folder)
    line = (
        "for k in 1 2 3; do ldptrace report --plan plan.json --trajectory trips.csv -o r$k --ledger l$k; done"
    )
    shell(f"{line}; ldptrace tally r1 r2 r3 --plan plan.json -o - | tee tally.json | wc -c", folder)
    shell("ldptrace estimate tally.json --plan plan.json -o est.json | head -1", folder)
    assert json.loads((folder / "est.json").read_text())["format"] == "ldptrace-estimates"
    out, _ = shell("cat tally.json | ldptrace decode - --plan plan.json", folder)
    assert "A tally of round 1" in out
    shell("ldptrace convert trips.parquet - | head -1", folder)


def test_links_pipes_and_devices_stay_what_they_are(folder: Path) -> None:
    (folder / "link.csv").symlink_to("kept.csv")
    shell("ldptrace convert trips.csv link.csv", folder)
    assert (folder / "link.csv").is_symlink()
    assert len(read(folder / "kept.csv")) == 40
    out, _ = shell("ldptrace convert trips.csv /dev/stdout --to csv | head -1", folder)
    assert out == "traj_id,x,y\n"
    shell("ldptrace convert trips.csv /dev/stdout --to csv > redirected.csv", folder)
    assert len(read(folder / "redirected.csv")) == 40
    assert Path("/dev/stdout").is_symlink()
    shell(
        "mkfifo pipe.csv; ldptrace convert trips.parquet pipe.csv & cat pipe.csv > through.csv; wait", folder
    )
    assert (folder / "pipe.csv").is_fifo()
    assert len(read(folder / "through.csv")) == 40


def test_nothing_replaces_its_own_input_without_force(folder: Path) -> None:
    before = (folder / "trips.csv").read_bytes()
    _, err = shell("ldptrace convert trips.csv trips.csv", folder, code=2)
    assert "is also the input" in err
    shell("ldptrace synthesize trips.csv -o ./trips.csv --epsilon 1 --bounds 0,0,1,1", folder, code=2)
    assert (folder / "trips.csv").read_bytes() == before
    shell("ldptrace convert trips.csv trips.csv --force", folder)


# Options of `synthesize`, and a word of what is wrong with them.
WRONG = [
    ("-o out.parquet --epsilon 0", "epsilon"),
    ("-o out.parquet --epsilon 1 --method magic", "magic"),
    ("-o out.docx --epsilon 1 --bounds 0,0,1,1", "out.docx"),
    ("-o out.csv --epsilon 1", "give the public bounds"),
    ("-o nowhere/out.csv --epsilon 1 --bounds 0,0,1,1", "nowhere does not exist"),
    ("-o out.csv --epsilon 1 --bounds 1,0,0,1", "x0 < x1"),
    ("-o out.csv --epsilon 1 --bounds 177,-20,-177,-12", "177,-20,183,-12"),
]
# One process for all of them; the status of each follows its message.
EACH = """
import shlex, sys
from ldptrace.cli import main
for options in sys.argv[1:]:
    sys.argv = ["ldptrace", "synthesize", "never.csv", *shlex.split(options)]
    try:
        main()
    except SystemExit as end:
        print("status", end.code, file=sys.stderr)
"""


def test_what_can_be_checked_is_checked_before_reading(folder: Path) -> None:
    # Nothing ever comes through this pipe: whoever reads it first waits forever.
    os.mkfifo(folder / "never.csv")
    done = subprocess.run(
        [sys.executable, "-c", EACH, *(options for options, _ in WRONG)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env=ENVIRONMENT,
        check=True,
    )
    *told, rest = done.stderr.split("status 2\n")
    assert rest == ""
    for (_, word), message in zip(WRONG, told, strict=True):
        assert message.startswith("error: ")
        assert word in message


def test_results_as_json_alone(folder: Path) -> None:
    out, err = shell(
        "ldptrace synthesize trips.csv -o out.parquet --epsilon 1 --bounds 0,0,1,1 --grid 4 --json -", folder
    )
    found = json.loads(out)
    assert found["privacy"]["epsilon"] == "1"
    assert found["mostly_noise"] in err.replace("warning: ", "")
    out, _ = shell("ldptrace plan --users 10 --epsilon 1 --json -", folder)
    assert "3,7" in json.loads(out)["mostly_noise"]
    _, err = shell("ldptrace plan --users 10 --epsilon 1", folder)
    assert "mostly noise" in err
