"""Every command that writes files, on a disk that is full at some size: one sentence, status 2, and files as before."""

from __future__ import annotations

import resource
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_kit import status

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
LEDGER = "ledger.json"
# What each command writes, in a folder with the files of `home`; @ stands for the folder of its outputs.
COMMANDS = {
    "generate": "generate city -o @a.parquet --count 50 --size 3000 --minutes 3 --seed 2 --roads-out @roads",
    "generate-csv": "generate city -o @a.csv --count 50 --size 3000 --minutes 3 --seed 2",
    "synthesize": "synthesize trips.parquet -o @s.parquet --epsilon 4 --bounds 0,0,20000,20000 --model @m.npz",
    "synthesize-csv": "synthesize trips.parquet -o @s.csv --epsilon 4 --bounds 0,0,20000,20000 --model @m.npz",
    "convert": "convert trips.parquet @c.csv",
    "evaluate": "evaluate trips.parquet trips.parquet --bounds 0,0,20000,20000 --json @e.json --html @e.html",
    "plan": "plan --users 1000 --epsilon 1 --bounds 0,0,20000,20000 -o @p.json",
    "report": "report --plan plan.json --trajectory one.csv -o @r.bin --ledger @ledger.json",
    "tally": "tally reports --plan plan.json -o @t.npz",
    "estimate": "estimate tally.npz --plan plan.json -o @e.npz",
    "fit": "fit estimates.npz -o @f.npz",
    "sample": "sample model.npz -o @o.csv --count 50",
    "matrix": "matrix trips.parquet --zones zones.geojson -o @m.csv",
    "flows": "flows trips.parquet --roads roads -o @f.parquet",
    "profile": "profile trips.parquet --html @p.html",
    "statement": "statement s.parquet -o @st",
    "stream": "stream trips.parquet -o @s.parquet --epsilon 4 --bounds 0,0,20000,20000 --tick 600 --step 1h "
    "--live @l.jsonl",
    "roads": "roads roads -o @r.geojson",
    "compare": "compare trips.parquet --methods single-report --epsilons 4 --seeds 1 --bounds 0,0,9999,9999 --out @c",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with an input for each command."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for made in (
            "generate city -o trips.parquet --count 60 --seed 1 --roads-out roads",
            "synthesize trips.parquet -o s.parquet --epsilon 4 --bounds 0,0,20000,20000 --model model.npz",
            "plan --users 1000 --epsilon 1 --bounds 0,0,20000,20000 -o plan.json",
            "report --plan plan.json --trajectory one.csv -o reports --ledger ledger.json",
            "tally reports --plan plan.json -o tally.npz",
            "estimate tally.npz --plan plan.json -o estimates.npz",
        ):
            (folder / "one.csv").write_text("traj_id,x,y\n1,100,100\n1,900,900\n")
            assert status(*made.split()) == 0, made
        ring = "[[0,0],[20000,0],[20000,20000],[0,20000],[0,0]]"
        (folder / "zones.geojson").write_text(
            '{"type":"FeatureCollection","crs":null,"features":[{"type":"Feature","properties":{"name":"a"},'
            f'"geometry":{{"type":"Polygon","coordinates":[{ring}]}}}}]}}'
        )
        yield folder


def files(folder: Path) -> dict[str, bytes]:
    """Everything in a folder, hidden files too."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else b""
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_one_sentence_and_changes_nothing(
    home: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(home)
    outputs, temporary = tmp_path / "out", tmp_path / "tmp"
    command = COMMANDS[name].replace("@", f"{outputs}/").split()
    outputs.mkdir()
    assert status(*command) == 0, capsys.readouterr().err
    whole = files(outputs)
    assert whole
    sizes = sorted(len(data) for data in whole.values() if data)
    shutil.rmtree(outputs)
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    inputs = files(home)
    for limit in sorted({0, 1, sizes[0] // 2, sizes[-1] // 2}):
        outputs.mkdir()
        for path, data in whole.items():
            # An old file stands where a file is written, and nothing where a folder is.
            if data and "/" not in path and path != LEDGER:
                (outputs / path).write_bytes(b"old")
        before, system = files(outputs), resource.getrlimit(resource.RLIMIT_FSIZE)
        capsys.readouterr()
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, system[1]))
        try:
            found = status(*command)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, system)
        said = [
            line for line in capsys.readouterr().err.splitlines() if line.startswith(("error", "Traceback"))
        ]
        assert (found, len(said)) == (2, 1), (limit, said)
        assert "File too large" in said[0], (limit, said)
        left = files(outputs)
        if name == "compare":
            # Runs that are finished stay, so that the next comparison goes on from them.
            left = {path: data for path, data in left.items() if data and not path.startswith("c/runs/")}
        assert left == before, limit
        assert files(home) == inputs, limit
        assert files(temporary) == {}, limit
        shutil.rmtree(outputs)
