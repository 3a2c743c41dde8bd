from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ldptrace as lt
from cli_kit import error_of, run
from stream_kit import lines

AREA = ("--bounds", "0,0,6000,6000", "--grid", "3")
PERIOD = ("--start", "00:00", "--end", "01:00")


@pytest.fixture
def trips(tmp_path: Path, rng: np.random.Generator) -> str:
    lt.write(lines(800, rng, span=1800.0), tmp_path / "trips.parquet")
    return str(tmp_path / "trips.parquet")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_file_is_played(trips: str, tmp_path: Path) -> None:
    out, live = tmp_path / "out.parquet", tmp_path / "live.jsonl"
    common = ("-o", str(out), "--epsilon", "2", "--tick", "30", "--step", "10min", "--seed", "1")
    result = run("stream", trips, *common, *AREA, "--live", str(live), "--remember", "20min", *PERIOD)
    assert result.exception is None, result.output
    made = lt.read(out)
    assert made.t is not None
    assert made.t.max() <= 3600
    assert made.provenance is not None
    assert made.provenance["leaks"] is None
    ticks = [json.loads(line)["tick"] for line in live.read_text().splitlines()]
    assert ticks == list(range(len(ticks)))
    assert "presence hidden" in result.output


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_live_positions_go_to_standard_output(trips: str, tmp_path: Path) -> None:
    common = ("-o", str(tmp_path / "out.parquet"), "--epsilon", "2", "--tick", "60", "--step", "30min")
    result = run("stream", trips, *common, *AREA, "--live", "-", "--presence", "shown")
    assert result.exception is None, result.output
    assert json.loads(result.stdout.splitlines()[0])["tick"] == 0


def test_what_is_wrong_is_said_and_nothing_written(trips: str, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    common = ("stream", trips, "-o", str(out), "--epsilon", "1", "--tick", "30")
    assert "--bounds" in error_of(*common)
    assert "a duration is a number with a unit" in error_of(*common, *AREA, "--step", "5")
    assert "auto, forever or a half-life" in error_of(*common, *AREA, "--remember", "long")
    assert "has no use for every" in error_of(*common, *AREA, "--method", "retrasyn", "--every", "1h")
    assert "every does not apply" in error_of(*common, *AREA, "--presence", "shown", "--every", "1h")
    lt.write(replace(lt.read(trips), t=None), tmp_path / "timeless.parquet")
    timeless = (*common[:1], str(tmp_path / "timeless.parquet"), *common[2:], *AREA)
    assert "these have none" in error_of(*timeless, "--live", str(tmp_path / "live.jsonl"))
    assert "only one output" in error_of(*common[:2], "-o", "-", *common[4:], *AREA, "--live", "-")
    assert "a time is written as" in error_of(*common, *AREA, "--start", "noon")
    short = (*common[:-1], "0.0001", *AREA, *PERIOD, "--step", "1h", "--live", str(tmp_path / "live.jsonl"))
    assert "at most 100,000,000 are possible" in error_of(*short)
    assert not out.exists()
    assert not (tmp_path / "live.jsonl").exists()


def test_another_method_says_nothing_of_our_presence(trips: str, tmp_path: Path) -> None:
    out = str(tmp_path / "out.parquet")
    result = run("stream", trips, "-o", out, "--epsilon", "1", "--tick", "60", *AREA, "--method", "lpd")
    assert result.exception is None, result.output
    assert "presence" not in result.output.splitlines()[-1]
