from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.errors import InputError
from ldptrace.io.folder import atomic_folder, check_folder, is_folder, part_name


def test_a_name_without_an_extension_is_a_folder_unless_it_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "some.parquet").mkdir()
    assert is_folder(tmp_path / "new")
    assert not is_folder(tmp_path / "file")
    assert is_folder(tmp_path / "some.parquet")
    assert not is_folder(Path("-"))


@pytest.mark.parametrize("there", [False, True])
def test_a_folder_appears_whole(tmp_path: Path, there: bool) -> None:
    target = tmp_path / "out"
    if there:
        target.mkdir()
    with atomic_folder(target) as temporary:
        (temporary / part_name(0)).write_text("one")
        assert target.exists() == there
    assert (target / "part-00000.parquet").read_text() == "one"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("stop", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_nothing(tmp_path: Path, stop: type[BaseException]) -> None:
    def interrupted() -> None:
        with atomic_folder(tmp_path / "out") as temporary:
            (temporary / "part").touch()
            raise stop

    with pytest.raises(stop):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_folders_that_cannot_be_written_are_told_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the folder .*missing does not exist"):
        check_folder(tmp_path / "missing" / "out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(InputError, match="the folder is not empty"), atomic_folder(tmp_path / "full"):
        raise AssertionError


def test_parts_are_in_the_order_of_their_names() -> None:
    names = [part_name(number) for number in (0, 9, 10, 99_999)]
    assert names == sorted(names)
