from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ldptrace.reproduce import SCALES, Setup, generated, reproduce
from ldptrace.reproduce.figures import legend
from ldptrace.reproduce.page import write_page

TINY = replace(
    SCALES["quick"],
    repeats=2,
    grids=(2, 4),
    finest=4,
    lambdas=(2.5,),
    quantiles=(0.9,),
    parts=(0.5, 1.0),
    full_users=60,
    timed_users=100,
)


@pytest.fixture(scope="module")
def setup() -> Setup:
    sets = tuple(replace(generated(name, 150, seed=1), grid=3) for name in ("oldenburg", "campus"))
    return Setup(sets, TINY, 2, seed=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


def test_page_is_complete_in_itself(setup: Setup, folder: Path, tmp_path: Path) -> None:
    reports = [reproduce(name, setup, folder) for name in ("lambda", "attacks")]
    write_page(reports, tmp_path / "index.html")
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert 'id="lambda"' in text
    assert text.count("<svg") == 2
    for outside in ("<script", '<link rel="stylesheet', "src=", "url(http", "@import"):
        assert outside not in text


def test_the_page_of_one_experiment_is_named_after_it(setup: Setup, folder: Path, tmp_path: Path) -> None:
    report = reproduce("lambda", setup, folder)
    write_page([report], tmp_path / "lambda.html")
    text = (tmp_path / "lambda.html").read_text(encoding="utf-8")
    assert f"<h1>{report.experiment.title}, measured again</h1>" in text.replace("&#39;", "'")
    assert "<nav>" not in text
    assert text.count('<ul class="legend">') == 1
    for entry in legend(report.rows):
        assert entry["label"] in text
