"""The witness is known again, and no copy of it is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ldptrace.errors import InputError
from ldptrace.shuffler.store import FILE, Store
from ldptrace.shuffler.witness import Witness, identity
from ldptrace.web.problems import StorageUnavailable


def now() -> float:
    return 0.0


def test_it_is_replaced_by_another_one(tmp_path: Path) -> None:
    for apart in (False, True):
        witness = Witness(tmp_path, apart=apart)
        first = witness.renew("first")
        assert witness.agrees(first, "")
        second = witness.renew("second")
        assert witness.agrees(second, "")
        assert witness.agrees(first, "second")
        assert not witness.agrees(first, "")
        assert not witness.agrees("", "")
        witness.remove()
        assert witness.is_missing()


def test_a_copy_is_another_file(tmp_path: Path) -> None:
    witness = Witness(tmp_path, apart=False)
    mark = witness.renew("only")
    path = tmp_path / "witness-only"
    shutil.copy(path, tmp_path / "kept")
    before = identity(path)
    if before.endswith(":"):
        pytest.skip("this file system does not tell generations: a file may get the number of a deleted one")
    path.unlink()
    shutil.copy(tmp_path / "kept", path)
    assert identity(path) != before
    assert not witness.agrees(mark, "")
    # On another disk, whose files may have other numbers each time, only the name counts.
    assert Witness(tmp_path, apart=True).agrees("witness-only", "")


def test_two_witnesses_agree_with_nothing_but_an_announcement(tmp_path: Path) -> None:
    witness = Witness(tmp_path, apart=True)
    mark = witness.renew("one")
    (tmp_path / "witness-two").touch()
    assert not witness.agrees(mark, "")
    assert witness.agrees(mark, "two")


def test_a_disk_that_is_not_there_is_no_answer(tmp_path: Path) -> None:
    (tmp_path / "apart").mkdir()
    store = Store(tmp_path / "data", now, tmp_path / "apart")
    store.close()
    (tmp_path / "apart").rename(tmp_path / "elsewhere")
    with pytest.raises(StorageUnavailable, match="cannot be used"):
        Store(tmp_path / "data", now)
    (tmp_path / "apart").mkdir()
    with pytest.raises(StorageUnavailable, match="is this disk mounted"):
        Store(tmp_path / "data", now)
    # Its disk is lost for ever: another one takes its place, and open windows are lost.
    (tmp_path / "new").mkdir()
    Store(tmp_path / "data", now, tmp_path / "new").close()
    assert len(list((tmp_path / "new").iterdir())) == 1


def test_the_witness_moves(tmp_path: Path) -> None:
    Store(tmp_path / "data", now).close()
    (tmp_path / "apart").mkdir()
    for place in (tmp_path / "apart", tmp_path / "data"):
        Store(tmp_path / "data", now, place).close()
        Store(tmp_path / "data", now).close()
        assert [path.parent for path in tmp_path.rglob("witness-*")] == [place]


def test_a_folder_has_one_shuffler(tmp_path: Path) -> None:
    (tmp_path / "apart").mkdir()
    Store(tmp_path / "one", now, tmp_path / "apart").close()
    with pytest.raises(InputError, match="witness of another shuffler"):
        Store(tmp_path / "two", now, tmp_path / "apart")
    Store(tmp_path / "three", now).close()
    (tmp_path / "three" / FILE).unlink()
    with pytest.raises(InputError, match="is missing: restore it"):
        Store(tmp_path / "three", now)
