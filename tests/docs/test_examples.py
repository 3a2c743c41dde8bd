"""Every shell and Python example of the README and the site, run as written, page by page in a fresh folder.

A page is one session: its files and Python names carry over from block to block. One process reads all pages, with a
folder and names of its own for each, so that nobody waits for the same imports on every line; what needs a shell (a
pipe, a loop, another program) gets one. Lines that set up or start what the test command itself is (`make`, `pip`,
the environment), the demo, and benchmarks on data that is not part of the project, are passed over; they are listed
here and nowhere else.

What a `console` block shows below a command must be what it prints. `...` stands for anything within a line, and alone
on a line for any number of lines.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import textwrap
from collections.abc import Iterator
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
    r"(make|pip|\. \.venv|python3 -m venv|ldptrace demo|python -m benchmarks|"
    r"git|docker|sudo|apt-get|npm|psql|systemctl)\b|\. "
)
# A generated set is no larger than this.
LARGEST_SET = 1_000
# A note of the first run on a machine, which no page shows.
COMPILING = "compiling loops, once per machine"
# A block, which may be indented as a part of a list.
BLOCK = re.compile(r"^( *)```(\w+)([^\n]*)\n(.*?)^\1```$", re.M | re.S)
PYTHON = Path(sys.executable)


@dataclass(frozen=True)
class Example:
    """Python code, or one shell command and what the page shows that it prints."""

    language: str
    text: str
    shown: str | None = None

    @property
    def refused(self) -> bool:
        """Whether the page shows an error."""
        return self.shown is not None and "\nerror: " in f"\n{self.shown}"


def examples(page: Path) -> list[Example]:
    """What a page shows and can be run. A block that says `elsewhere` is not for this machine, one that
    names a file is run by a test of its own."""
    found: list[Example] = []
    for _, language, words, indented in BLOCK.findall(page.read_text(encoding="utf-8")):
        text = textwrap.dedent(indented)
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
        typed = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.M)
        found = [Example("sh", command, shown) for command, shown in typed]
    elif "<<" in text or re.search(r"^(for|while|if) |^[A-Za-z_]+=", text, re.M):
        found = [Example("sh", text)]
    else:
        found = [Example("sh", line) for line in text.splitlines() if line.strip()]
    return [example for example in found if not PASSED_OVER.match(example.text)]


def agrees(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed, up to spaces at the ends of lines and empty lines at the end."""
    lines = [re.escape(line.rstrip()).replace(r"\.\.\.", ".*") for line in shown.rstrip().splitlines()]
    pattern = "".join(r"(?:.*\n)*" if line == ".*" else f"{line}\n" for line in lines)
    said = "".join(f"{line.rstrip()}\n" for line in printed.rstrip().splitlines() if COMPILING not in line)
    return re.fullmatch(pattern, said) is not None


def smaller(command: str) -> str:
    """The command, which generates the largest set at most, and audits with few reports."""
    command = re.sub(r"(?<= --trials )\d+", "100", command)
    sizes = r"(?<= --count )\d+|(?<= -n )\d+"
    return re.sub(sizes, lambda size: str(min(int(size[0]), LARGEST_SET)), command)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    with Reader(tmp_path_factory.mktemp("said") / "said") as found:
        yield found


@pytest.fixture(scope="module")
def workshop(reader: Reader, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a reader of any page has at hand: a few trips, one trip, a plan, its reports."""
    folder = tmp_path_factory.mktemp("workshop")
    (folder / "trip.csv").write_text("id,x,y\n1,500,500\n1,3000,4000\n")
    (folder / "reports").mkdir()
    ring = [[0, 0], [20000, 0], [20000, 9000], [0, 20000], [0, 0]]
    (folder / "land.geojson").write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
    reader.open(folder)
    for command in (
        "generate city -o trips.parquet --count 1000 --seed 1 --roads-out city",
        "synthesize trips.parquet -o synthetic.parquet --epsilon 1 --bounds 0,0,20000,20000",
        "plan --users 100000 --epsilon 1 --bounds 0,0,20000,20000 -o plan.json",
        *(
            f"report --plan plan.json --trajectory trip.csv -o reports/{k} --ledger ledger.{k}.json"
            for k in (1, 2, 3)
        ),
    ):
        reader.shell(f"ldptrace {command}")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.stem)
def test_examples_run_as_written(page: Path, reader: Reader, workshop: Path, tmp_path: Path) -> None:
    folder = tmp_path / "reader"
    shutil.copytree(workshop, folder)
    reader.open(folder)
    for example in examples(page):
        if example.language == "python":
            reader.python(example.text)
        else:
            printed = reader.shell(example.text, refused=example.refused)
            if example.shown is not None:
                assert agrees(example.shown, printed), f"$ {example.text}\n{printed}"


class Reader:
    """Somebody who types the examples of page after page: a Python process that stays, and shells as they are needed.

    Commands of the package run in the process as the program `ldptrace` would; their status is that of its end.
    Only libraries of routes, generated sets and samples of models are smaller than a reader's: they take the most time.
    """

    PROCESS = """
import json, os, shlex, sys, traceback, warnings
answers, said = os.fdopen(os.dup(1), "w"), os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.dup2(said, 1)
os.dup2(said, 2)

from ldptrace.methods import single_report
from ldptrace.models.routes import model
from ldptrace.products import sample
single_report.Options.__init__.__kwdefaults__["library"] = model.FEWEST = 5_000
sample.DRAWN = 20_000

def command(line):
    from ldptrace.cli import main
    sys.argv = shlex.split(line)
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code

for line in sys.stdin:
    kind, text = json.loads(line)
    os.ftruncate(said, 0)
    os.lseek(said, 0, os.SEEK_SET)
    problem = ""
    try:
        if kind == "open":
            os.chdir(text)
            os.environ["LDPTRACE_LEDGER"] = os.path.join(text, "ledger.json")
            names = {"__name__": "page"}
        elif kind == "command":
            command(text)
        else:
            with warnings.catch_warnings(action="ignore"):
                exec(compile(text, "example", "exec"), names)
    except BaseException:
        problem = traceback.format_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    print(json.dumps(problem), file=answers, flush=True)
"""

    def __init__(self, said: Path) -> None:
        path = f"{sysconfig.get_path('scripts')}{os.pathsep}{PYTHON.parent}{os.pathsep}{os.environ['PATH']}"
        self._settings = os.environ | {"PATH": path, "COLUMNS": "100"}
        self._said = said
        self._folder = said.parent
        self._process = subprocess.Popen(
            [sys.executable, "-c", self.PROCESS, str(said)],
            env=self._settings,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def open(self, folder: Path) -> None:
        """Begin a page, in this folder."""
        self._folder = folder
        self._tell("open", str(folder))

    def python(self, text: str) -> None:
        self._tell("python", text)

    def shell(self, text: str, *, refused: bool = False) -> str:
        """What a command prints, which must end well, or badly if it is to be refused."""
        if re.fullmatch(r"ldptrace [^|<>&;$`*~\n]*", text.strip()):
            return self._tell("command", smaller(text.partition(" # ")[0]), refused=refused)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=self._folder,
            env=self._settings | {"LDPTRACE_LEDGER": str(self._folder / "ledger.json")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        assert (done.returncode != 0) == refused, f"{text}\n{done.stdout[-4000:]}"
        return done.stdout

    def _tell(self, kind: str, text: str, *, refused: bool = False) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([kind, text]), file=self._process.stdin, flush=True)
        problem = json.loads(self._process.stdout.readline())
        said = self._said.read_text()
        assert bool(problem) == refused, f"{text}\n{said[-4000:]}\n{problem}"
        return said


def test_there_are_examples() -> None:
    assert len([page for page in PAGES if examples(page)]) >= 5


def test_a_page_shows_what_is_printed() -> None:
    assert agrees("a ... c\n...\nlast", "a b c  \nmore\neven more\nlast\n")
    assert not agrees("49 bytes", "50 bytes\n")
    assert not agrees("", "anything\n")
    assert not agrees("first", "first\nsecond\n")
