"""The method of the how-to page, installed with pip and run as anybody's would be."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ldptrace.io import read

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

    def ldptrace(*words: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "ldptrace", *map(str, words)]
        return subprocess.run(
            command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": paths}, check=False
        )

    shared = ["--bounds", "0,0,4,4", "--grid", "4"]
    made = ldptrace("synthesize", trips, "-o", out, "--epsilon", "4", "--method", "wander", *shared)
    assert made.returncode == 0, made.stderr
    synthetic = read(out)
    assert len(synthetic) == 400
    assert ((synthetic.x < 1) & (synthetic.y < 1)).mean() > 0.7
    assert synthetic.provenance is not None
    assert synthetic.provenance["method"] == "wander"
    assert synthetic.provenance["leaks"] is None
    judged = ldptrace("evaluate", trips, out, *shared, "--json", tmp_path / "card.json")
    assert judged.returncode == 0, judged.stderr
    small = ["--users", "60", "--bounds", "0,0,4,4"]
    for command, out_file in (
        (
            ("compare", trips, "--methods", "wander", "--epsilons", "1", "--seeds", "1", "--jobs", "1"),
            "results.csv",
        ),
        (("reproduce", "query-size", "--data", trips, "--repeats", "1", "--grid", "3"), "query-size.csv"),
    ):
        folder = tmp_path / command[0]
        done = ldptrace(*command, *small, "--out", folder)
        assert done.returncode == 0, done.stderr
        assert "wander" in (folder / out_file).read_text(encoding="utf-8")
    unknown = ldptrace("synthesize", trips, "-o", out, "--epsilon", "4", "--method", "wonder", *shared)
    assert unknown.returncode == 2
    assert "wander" in unknown.stderr
