"""The method of the how-to page, installed with pip and run as anybody's would be."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ldptrace.io import read

# The status of each command follows its messages.
EACH = """
import json, sys
from ldptrace.cli import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["ldptrace", *words]
    try:
        main()
    except SystemExit as end:
        print("status", end.code or 0, file=sys.stderr)
"""
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "add-a-method.md"


def test_the_page_shows_the_files() -> None:
    shown = re.findall(r"^```\w+ file=(\S+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert [name for name, _ in shown] == ["examples/wander/wander.py", "examples/wander/pyproject.toml"]
    for name, text in shown:
        assert (ROOT / name).read_text(encoding="utf-8") == text, name


@pytest.mark.slow
def test_installed_with_pip_it_is_a_method_like_others(tmp_path: Path) -> None:
    site, trips, out = tmp_path / "site", tmp_path / "trips.csv", tmp_path / "out.parquet"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    subprocess.run([*pip, "--target", str(site), str(ROOT / "examples" / "wander")], check=True)
    trips.write_text("traj_id,x,y\n" + "".join(f"{k},0.5,0.5\n{k},3.5,2.5\n" for k in range(400)))
    paths = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])

    # One process for all commands, because each start takes a second.
    shared = ["--bounds", "0,0,4,4", "--grid", "4"]
    small = ["--epsilons", "1", "--seeds", "1", "--jobs", "1", "--users", "60", "--bounds", "0,0,4,4"]
    repeated = ["--repeats", "1", "--grid", "3", "--users", "60", "--bounds", "0,0,4,4"]
    commands = [
        ["synthesize", trips, "-o", out, "--epsilon", "4", "--method", "wander", *shared],
        ["evaluate", trips, out, *shared, "--json", tmp_path / "card.json"],
        ["compare", trips, "--methods", "wander", *small, "--out", tmp_path / "compare"],
        ["reproduce", "query-size", "--data", trips, *repeated, "--out", tmp_path / "reproduce"],
        ["synthesize", trips, "-o", out, "--epsilon", "4", "--method", "wonder", *shared],
    ]
    done = subprocess.run(
        [sys.executable, "-c", EACH, json.dumps(commands, default=str)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
        check=True,
    )
    *told, unknown, rest = re.split(r"^status (\d)\n", done.stderr, flags=re.M)[::2]
    assert re.findall(r"^status (\d)$", done.stderr, re.M) == ["0", "0", "0", "0", "2"], told
    assert rest == ""
    synthetic = read(out)
    assert len(synthetic) == 400
    assert ((synthetic.x < 1) & (synthetic.y < 1)).mean() > 0.7
    assert synthetic.provenance is not None
    assert synthetic.provenance["method"] == "wander"
    assert synthetic.provenance["leaks"] is None
    for name in ("compare/results.csv", "reproduce/query-size.csv"):
        assert "wander" in (tmp_path / name).read_text(encoding="utf-8")
    assert "wander" in unknown
