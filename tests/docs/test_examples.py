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
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Example:
    """Python code, or one shell command and whether the page shows that it is refused."""

    language: str
    text: str
    refused: bool = False


def examples(page: Path) -> list[Example]:
    """What a page shows and can be run. A block that says `elsewhere` is not for this machine, one that
    names a file is run by a test of its own."""
    found: list[Example] = []
    for language, words, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if "elsewhere" in words or "file=" in words:
            continue
        if language == "python":
            found.append(Example("python", text))
        elif language in ("sh", "console"):
            found += shell(language, text.replace("\\\n", " "))
    return found


def shell(language: str, text: str) -> list[Example]:
    """The commands that are typed, without those that are passed over."""
    if language == "console":
        typed = re.findall(r"^\$ (.*)\n(error: )?", text, re.M)
        found = [Example("sh", command, bool(error)) for command, error in typed]
    elif "<<" in text or re.search(r"^(for|while|if) |^[A-Za-z_]+=", text, re.M):
        found = [Example("sh", text)]
    else:
        found = [Example("sh", line) for line in text.splitlines() if line.strip()]
    return [example for example in found if not PASSED_OVER.match(example.text)]


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a reader of any page has at hand: a few trips, one trip, a plan, its reports."""
    folder = tmp_path_factory.mktemp("workshop")
    run_shell(
        """
        ldptrace generate city -o trips.parquet --trajectories 2000 --seed 1 --roads-out city
        ldptrace synthesize trips.parquet -o synthetic.parquet --epsilon 1 --bounds 0,0,20000,20000
        ldptrace plan --users 100000 --epsilon 1 --bounds 0,0,20000,20000 -o plan.json > /dev/null
        printf 'id,x,y\\n1,500,500\\n1,3000,4000\\n' > trip.csv
        mkdir reports
        echo '{"type": "Polygon", "coordinates": [[[0, 0], [20000, 0], [20000, 9000], [0, 20000], [0, 0]]]}' \\
            > land.geojson
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
@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.stem)
def test_examples_run_as_written(page: Path, workshop: Path, tmp_path: Path) -> None:
    folder = tmp_path / "reader"
    shutil.copytree(workshop, folder)
    with Interpreter(folder) as interpreter:
        for example in examples(page):
            if example.language == "python":
                interpreter.run(example.text)
            elif example.refused:
                with pytest.raises(AssertionError, match=r"(?m)^ *error: "):
                    run_shell(example.text, folder)
            else:
                run_shell(example.text, folder)


class Interpreter:
    """A Python session that stays open between the examples of a page."""

    SESSION = """
import sys, traceback, warnings
warnings.simplefilter("ignore")
names, answer = {"__name__": "page"}, sys.stdout
sys.stdout = sys.stderr
for line in sys.stdin:
    try:
        exec(compile(bytes.fromhex(line).decode(), "example", "exec"), names)
        text = ""
    except BaseException:
        text = traceback.format_exc()
    print(text.encode().hex(), file=answer, flush=True)
"""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", self.SESSION],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> Interpreter:
        return self

    def run(self, text: str) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(text.encode().hex(), file=self.process.stdin, flush=True)
        problem = bytes.fromhex(self.process.stdout.readline()).decode()
        assert not problem, f"{text}\n{problem}"

    def __exit__(self, *_: object) -> None:
        self.process.communicate()


def test_there_are_examples() -> None:
    assert len([page for page in PAGES if examples(page)]) >= 5
