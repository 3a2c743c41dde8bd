from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace_lab.reproduce import Setup, reproduce
from ldptrace_lab.reproduce.figures import legend
from ldptrace_lab.reproduce.page import write_page


@pytest.mark.slow
def test_page_is_complete_in_itself(setup: Setup, folder: Path, tmp_path: Path) -> None:
    reports = [reproduce(name, setup, folder) for name in ("lambda", "attacks")]
    write_page(reports, tmp_path / "index.html")
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert 'id="lambda"' in text
    assert text.count("<svg") == 2
    for outside in ("<script", '<link rel="stylesheet', "src=", "url(http", "@import"):
        assert outside not in text


@pytest.mark.slow
@pytest.mark.counted
def test_the_page_of_one_experiment_is_named_after_it(setup: Setup, folder: Path, tmp_path: Path) -> None:
    report = reproduce("lambda", setup, folder)
    write_page([report], tmp_path / "lambda.html")
    text = (tmp_path / "lambda.html").read_text(encoding="utf-8")
    assert f"<h1>{report.experiment.title}, measured again</h1>" in text.replace("&#39;", "'")
    assert "<nav>" not in text
    assert text.count('<ul class="legend">') == 1
    for entry in legend(report.rows):
        assert entry["label"] in text
