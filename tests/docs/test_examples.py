"""Every shell and Python example of the README and the site, run as written, page by page in a fresh folder.

A page is one session: its files and Python names carry over from block to block. Lines that set up or start what the
test command itself is (`make`, `pip`, activating the environment), and benchmarks on data that is not part of the
project, are passed over; they are listed here and nowhere else.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
# First words of lines that this test does not run.
PASSED_OVER = re.compile(
    r"(make|pip|\. \.venv|python -m benchmarks|git|docker|sudo|apt-get|npm|psql|systemctl)\b|\. "
)
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.M | re.S)
PYTHON = Path(sys.executable)


def blocks(page: Path) -> list[tuple[str, str]]:
    """Language and text of the examples that can be run. A block that says `elsewhere` is not for this machine."""
    found = []
    for language, words, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language in ("sh", "console", "python") and "elsewhere" not in words:
            found.append((language, commands(language, text) if language != "python" else text))
    return [(language, text) for language, text in found if text.strip()]


def commands(language: str, text: str) -> str:
    """The lines of a shell example that are typed, without those that are passed over."""
    joined = text.replace("\\\n", " ")
    lines = joined.splitlines()
    if language == "console":
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return "\n".join(line for line in lines if not PASSED_OVER.match(line))


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a reader of any page has at hand: a few trips, one trip, a plan, its reports."""
    folder = tmp_path_factory.mktemp("workshop")
    run_shell(
        """
        ldptrace generate city -o trips.parquet --trajectories 2000 --seed 1
        ldptrace plan --users 100000 --epsilon 1 --bounds 0,0,20000,20000 -o plan.json > /dev/null
        printf 'id,x,y\\n1,500,500\\n1,3000,4000\\n' > trip.csv
        mkdir reports
        for k in 1 2 3; do
            ldptrace report --plan plan.json --trajectory trip.csv -o reports/$k --ledger ledger.$k.json
        done
        """,
        folder,
    )
    return folder


def run_shell(text: str, folder: Path) -> None:
    path = f"{sysconfig.get_path('scripts')}{os.pathsep}{PYTHON.parent}{os.pathsep}{os.environ['PATH']}"
    settings = os.environ | {"PATH": path, "LDPTRACE_LEDGER": str(folder / "ledger.json"), "COLUMNS": "100"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        cwd=folder,
        env=settings,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, f"{text}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.stem)
def test_examples_run_as_written(page: Path, workshop: Path, tmp_path: Path) -> None:
    folder = tmp_path / "reader"
    shutil.copytree(workshop, folder)
    names = folder / "names.py"
    so_far = ""
    for language, text in blocks(page):
        if language == "python":
            # Earlier blocks of the page run again: cheap, and no state hides between them.
            so_far += text + "\n"
            names.write_text(so_far, encoding="utf-8")
            run_shell(f"{PYTHON} -W ignore names.py", folder)
        else:
            # A refusal that a page shows is an example too.
            refused = re.compile(r"^error: ", re.M)
            expected = {m.group(1) for m in re.finditer(r"^\$ (.*)\nerror: ", page.read_text(), re.M)}
            for line in split_lines(text):
                if line.strip() in expected:
                    with pytest.raises(AssertionError, match=refused):
                        run_shell(line, folder)
                else:
                    run_shell(line, folder)


def split_lines(text: str) -> list[str]:
    """Commands one by one where a block holds one on each line; a here-document or a loop stays whole."""
    if "<<" in text or re.search(r"^(for|while|if) ", text, re.M) or re.search(r"^[A-Za-z_]+=", text, re.M):
        return [text]
    return [line for line in text.splitlines() if line.strip()]


def test_there_are_examples() -> None:
    assert len([page for page in PAGES if blocks(page)]) >= 5
