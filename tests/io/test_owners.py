from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import DataWarning
from ldptrace.io import owners, read_with_account, write
from ldptrace.io.batches import open_batches
from ldptrace.io.files import trajectories_of
from ldptrace.io.owners import Owners


@pytest.mark.parametrize(
    ("name", "values", "user", "hinted"),
    [
        ("taxi", [1, 1, 2], None, True),
        ("Vehicle-ID", ["a", None, "a"], None, True),
        ("taxi", [1, 2, 3], None, False),
        ("taxi", [1, None, None], None, False),
        ("mode", ["bus", "bus", "tram"], None, False),
        ("taxi", [1, 1, 2], "taxi", False),
    ],
)
def test_a_column_that_may_name_users_is_suggested_and_never_taken(
    name: str, values: list[object], user: str | None, hinted: bool
) -> None:
    trips = replace(
        Trajectories.from_lists([[(0, 0)]] * 3), extra=pa.table({"speed": [1, 1, 1], name: values}), user=user
    )
    found = Owners.of(trips)
    assert found.repeated == (name if hinted else None)
    said = f"column {name} repeats between trips: does it name users? (--user {name})"
    assert found.hint == (said if hinted else "")
    assert Owners.of(Trajectories.from_lists([[(0, 0)]])).hint == ""


def trips(taxis: list[object]) -> Trajectories:
    found = Trajectories.from_lists([[(0, 0), (1, 1)]] * len(taxis))
    return replace(found, extra=pa.table({"taxi": taxis}))


def test_repeats_are_seen_from_part_to_part() -> None:
    parts = [Owners.of(trips([first, first + 1])) for first in (0, 2, 4)]
    assert (parts[0] + parts[1] + parts[2]).repeated is None
    assert (parts[0] + parts[1] + parts[0]).repeated == "taxi"
    assert (parts[0] + Owners() + parts[0]).repeated == "taxi"
    assert (Owners(repeated="taxi") + parts[1]).repeated == "taxi"


def test_few_values_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owners, "REMEMBERED", 3)
    found = sum((Owners.of(trips([10 * part, 10 * part + 1])) for part in range(50)), Owners())
    assert len(found.values["taxi"]) == 4
    assert len(Owners.of(trips(list(range(9)))).values["taxi"]) == 3


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_a_file_in_batches_says_the_same(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write(trips([7, 8, 9, 7]), path)
    found = open_batches(path, always=True)
    assert found is not None
    assert sum(len(batch) for batch in found) == 4
    assert found.account is not None
    assert found.account.owners.repeated == read_with_account(path)[1].owners.repeated == "taxi"
    assert "does it name users? (--user taxi)" in found.account.line()
    found.close()


def test_functions_warn_and_values_stay_where_they_are() -> None:
    with pytest.warns(DataWarning, match="column taxi repeats between trips"):
        trajectories_of(trips([7, 7]))
    account = read_with_account(trips([123_456, 1]))[1]
    assert "123456" not in json.dumps(account.to_dict())
    assert account.to_dict()["owners"] is None
