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
    written = dict(FILES.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    assert len(written) == 3
    # What was compiled comes along: it belongs to the files as they are, and the new ones have nothing to compile.
    shutil.copytree(ROOT / "src" / "ldptrace", tmp_path / "src" / "ldptrace")
    for name, text in written.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    package = tmp_path / "src" / "ldptrace"
    listed(
        package / "protocol/questions/__init__.py",
        "ldptrace.protocol.questions.quarter",
        "Quarter",
        "Quarter",
        "for kind in (",
    )
    listed(
        package / "models/path/answers/__init__.py",
        "ldptrace.models.path.answers.quarter",
        "QuarterAnswer",
        "QuarterAnswer()",
        "for answer in (",
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "example.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "src")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    share = float(done.stdout.split()[0])
    # Without the answers a quarter of them would.
    assert share > 0.8, done.stdout
