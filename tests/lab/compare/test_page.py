from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ldptrace_lab.compare import Question, compare, contestant
from ldptrace_lab.compare.page import page, write


@pytest.mark.slow
@pytest.mark.counted
def test_all_faces_are_written(question: Question, tmp_path: Path) -> None:
    found = compare([question], [contestant("adatrace", has_map=False)], (1.0,), 1, tmp_path)
    assert [path.name for path in write(found, tmp_path)] == [
        "results.csv",
        "results.md",
        "results.tex",
        "index.html",
    ]
    text = (tmp_path / "index.html").read_text()
    assert "needs a trusted curator" in text
    assert "square: the paper&#39;s nine metrics" in text
    assert "http" not in text
    assert "Not every run" not in text
    assert "adatrace on square: &lt;no&gt;" in page(replace(found, failures=("adatrace on square: <no>",)))
