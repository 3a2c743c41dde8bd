from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.errors import InputError
from ldptrace.io.atomic import atomic_path


def test_a_file_appears_whole(tmp_path: Path) -> None:
    target = tmp_path / "out.tar.gz"
    with atomic_path(target) as temporary:
        temporary.write_text("new")
        assert not target.exists()
        assert temporary.parent == tmp_path
        assert temporary.name.endswith(".tar.gz")
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("stop", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_file_alone(tmp_path: Path, stop: type[BaseException]) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old")

    def fail_half_way() -> None:
        with atomic_path(target) as temporary:
            temporary.write_text("half")
            raise stop

    with pytest.raises(stop):
        fail_half_way()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match="nowhere does not exist"),
        atomic_path(tmp_path / "nowhere" / "out.csv"),
    ):
        pass
    with pytest.raises(InputError, match="is a folder"), atomic_path(tmp_path):
        pass
