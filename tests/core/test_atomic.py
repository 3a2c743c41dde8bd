from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from ldptrace.core.atomic import (
    atomic_folder,
    atomic_path,
    check_folder,
    check_output,
    is_folder,
    make_folder,
    part_name,
    together,
)
from ldptrace.errors import InputError


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


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    kept, link = tmp_path / "kept.txt", tmp_path / "link.txt"
    kept.write_text("old")
    link.symlink_to(kept)
    with atomic_path(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert kept.read_text() == "new"


def test_a_link_to_nowhere_is_filled(tmp_path: Path) -> None:
    link = tmp_path / "link.txt"
    link.symlink_to(tmp_path / "later.txt")
    with atomic_path(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert (tmp_path / "later.txt").read_text() == "new"


def test_a_pipe_gets_the_bytes_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    with atomic_path(pipe) as temporary:
        assert temporary.name == "pipe.csv"
        temporary.write_text("through")
    reader.join()
    assert found == ["through"]
    assert pipe.is_fifo()


def test_a_device_stays_a_device() -> None:
    with atomic_path("/dev/null") as temporary:
        temporary.write_text("gone")
    assert Path("/dev/null").is_char_device()


def test_standard_output_gets_the_bytes(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    with atomic_path("-") as temporary:
        temporary.write_bytes(b"\xff\x00")
    assert capsysbinary.readouterr().out == b"\xff\x00"


def test_nothing_replaces_its_own_input(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("data")
    (tmp_path / "same.csv").symlink_to(path)
    for name in ("a.csv", "same.csv"):
        with pytest.raises(InputError, match=r"is also the input: give another name$"):
            check_output(tmp_path / name, [path])
        with pytest.raises(InputError, match="is also the input: give another name, or --force"):
            check_output(tmp_path / name, [path], force=False)
    check_output(path, [path], force=True)
    check_output(tmp_path / "b.csv", [path])


@pytest.mark.parametrize("target", ["/dev/full", "out.csv"])
def test_a_full_disk_names_the_file(tmp_path: Path, target: str) -> None:
    path = tmp_path / target

    def fill() -> None:
        with atomic_path(path) as temporary:
            temporary.write_text("much")
            if not str(path).startswith("/dev"):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space left") as caught:
        fill()
    assert caught.value.filename == str(path)


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


def test_a_library_with_words_of_its_own_for_a_full_disk_says_what_others_say(tmp_path: Path) -> None:
    target = tmp_path / "a.parquet"
    with pytest.raises(OSError, match="No space left on device") as found, atomic_path(target):
        raise OSError(errno.ENOSPC, "Error writing bytes to file. Detail: [errno 28] No space left on device")
    assert (found.value.strerror, found.value.filename) == ("No space left on device", str(target))


def test_a_file_where_a_folder_is_needed_is_refused_before_the_work_begins(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("old")
    with pytest.raises(InputError, match="taken: it is a file, and a folder is needed"):
        make_folder(tmp_path / "taken")
    make_folder(tmp_path / "new" / "inner")
    make_folder(tmp_path / "new")
    assert (tmp_path / "new" / "inner").is_dir()


def test_a_file_may_have_the_longest_name(tmp_path: Path) -> None:
    target = tmp_path / ("n" * 251 + ".csv")
    for text in ("one", "two"):
        with together(), atomic_path(target) as temporary:
            temporary.write_text(text)
            assert temporary.suffix == ".csv"
    assert target.read_text() == "two"
    assert list(tmp_path.iterdir()) == [target]
