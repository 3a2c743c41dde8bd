"""All papers of a release in a folder."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
import yaml

from ldptrace.errors import InputError
from ldptrace.products.statement import Operator, Promise, write_statement
from ldptrace.products.statement.papers import NAMES

CITY = Operator("City of Trent", product="Trips in Trent", date=date(2026, 3, 1), url="https://example.org/")


@pytest.mark.parametrize("stated", [{"unit": "trip"}, {"leaks": "bounds"}, {"experiment": "seeded"}])
def test_a_weaker_promise_is_in_every_paper(tmp_path: Path, stated: dict[str, str]) -> None:
    promise = Promise.of_provenance({"epsilon": "1"} | stated, "trips.csv")
    written = write_statement(promise, tmp_path / "papers", CITY)
    assert [path.name for path in written] == list(NAMES)
    for path in written[:3]:
        assert promise.weaker[0] in " ".join(path.read_text(encoding="utf-8").split()), path.name


def test_the_citation_names_the_product(tmp_path: Path) -> None:
    cited = yaml.safe_load(write_statement(Promise("1"), tmp_path, CITY)[3].read_text(encoding="utf-8"))
    assert (cited["title"], cited["date-released"]) == ("Trips in Trent", "2026-03-01")
    assert cited["authors"] == [{"name": "City of Trent"}]


def test_papers_need_a_folder(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(InputError, match="is a file"):
        write_statement(Promise("1"), file)
