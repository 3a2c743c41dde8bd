from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.errors import InputError
from ldptrace.server import campaigns, registry
from ldptrace.server.storage.opening import DEFAULT_FOLDER, open_database
from server_kit import SINGLE


def test_a_folder_by_either_option_or_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for options in ({"data": tmp_path / "a"}, {"url": str(tmp_path / "b")}, {}):
        open_database(**options).close_all()  # type: ignore[arg-type]
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b", DEFAULT_FOLDER}


def test_what_was_written_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    first = open_database(tmp_path)
    campaigns.create(first, "trips", SINGLE, actor="test")
    first.close_all()
    with open_database(tmp_path).reading() as session:
        assert registry.find(session, "trips").plan.id == SINGLE.id


def test_one_place_only() -> None:
    with pytest.raises(InputError, match="not both"):
        open_database("folder", "postgresql://host/name")
    with pytest.raises(InputError, match="postgresql://user:password@host/name, got mysql://") as caught:
        open_database(url="mysql://me:secret@host")
    assert "secret" not in str(caught.value)
