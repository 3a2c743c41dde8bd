"""The worked example of CONTRIBUTING: a question is added to a copy of the package by its steps alone, and used."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What goes to the end of a file that is there.
ADDED = re.compile(r"^```python end-of-file=(\S+)\n(.*?)^```$", re.M | re.S)
# The same collection on streets, after the example and with its names.
STREETS = """
from ldptrace.models.routes.model import RouteModel
from ldptrace.models.routes.options import StreetOptions
from ldptrace.roads.library import Library
from ldptrace.roads.network import RoadNetwork

at = np.arange(49).reshape(7, 7)
here, there = np.r_[at[:-1].ravel(), at[:, :-1].ravel()], np.r_[at[1:].ravel(), at[:, 1:].ravel()]
x, y = np.divmod(np.arange(49), 7)
town = RoadNetwork.of(x, y, np.r_[here, there], np.r_[there, here])
ways = rng.choice(np.int32([[0, 1, 2], [1, 7, 13], [8, 9, 15], [12, 6, 7], [14, 13, 19]]), 5000)
paths = CellPaths(ways.ravel(), np.arange(5001) * 3, grid)
estimates = Estimates.from_tally(plan, collect(plan, paths, rng))
drawn = RouteModel.fit(estimates, town, rng, streets=StreetOptions(Library(2000), "never")).sample(1000, rng)
print(np.mean((drawn.x[drawn.offsets[:-1]] < 3) & (drawn.y[drawn.offsets[:-1]] < 3)))
"""
FILES = re.compile(r"^```python file=(\S+)\n(.*?)^```$", re.M | re.S)


def listed(path: Path, module: str, name: str, entry: str, after: str) -> None:
    """Import `name` from its module and add it to the list in this file: what the text calls a line in the list."""
    text = path.read_text(encoding="utf-8")
    first = text.index("from ldptrace.")
    text = text[:first] + f"from {module} import {name}\n" + text[first:]
    assert text.count(after) == 1, after
    path.write_text(text.replace(after, f"{after} {entry},"), encoding="utf-8")


@pytest.mark.slow
def test_a_question_is_added_by_the_steps_of_the_text(tmp_path: Path) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    written, added = dict(FILES.findall(text)), dict(ADDED.findall(text))
    assert (len(written), len(added)) == (2, 2)
    written["example.py"] += STREETS
    # What was compiled comes along: it belongs to the files as they are, and the new ones have nothing to compile.
    # What others compile meanwhile has another name until it is whole.
    unfinished = shutil.ignore_patterns("*.tmp.*")
    shutil.copytree(ROOT / "src" / "ldptrace", tmp_path / "src" / "ldptrace", ignore=unfinished)
    for name, text in written.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name, more in added.items():
        with (tmp_path / name).open("a", encoding="utf-8") as file:
            file.write(f"\n\n{more}")
    package = tmp_path / "src" / "ldptrace"
    listed(
        package / "protocol/questions/__init__.py",
        "ldptrace.protocol.questions.quarter",
        "Quarter",
        "Quarter",
        "for kind in (",
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "example.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "src")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    paths, streets = done.stdout.splitlines()
    # Without the answers a quarter of them would.
    assert float(paths.split()[0]) > 0.8, done.stdout
    assert float(streets) > 0.5, done.stdout
