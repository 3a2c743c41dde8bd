"""The notebooks of the documents, run from top to bottom as a reader would."""

from __future__ import annotations

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
# A library of routes and the sets are smaller than a reader's, of whose time they take the most.
SMALLER = {"city": ("city(20_000", "city(2_000"), "gps-logs": ("trips(12_000", "trips(2_000")}
HASTE = "from ldptrace.methods import single_report\n\nsingle_report.Options.__init__.__kwdefaults__['library'] = 5_000"


def test_there_are_two() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["city", "gps-logs"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(path: Path, tmp_path: Path) -> None:
    book = nbformat.read(path, as_version=4)
    large, small = SMALLER[path.stem]
    assert sum(cell.source.count(large) for cell in book.cells) == 1
    for cell in book.cells:
        cell.source = cell.source.replace(large, small)
    book.cells.insert(0, nbformat.v4.new_code_cell(HASTE))
    client = nbclient.NotebookClient(
        book, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    shown = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("<svg" in output.get("data", {}).get("text/html", "") for output in shown)
    assert not any(output.output_type == "error" for output in shown)
