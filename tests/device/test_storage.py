"""A ledger is one file, whatever it is called, and one process at a time changes it."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from ldptrace.device import Ledger, Reporter
from ldptrace.device import storage as module
from ldptrace.device.storage import LedgerFile, MemoryFile
from ldptrace.errors import FormatError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan

PLAN = Plan.single_report(Grid((0, 0, 1, 1), 2), 1)


def report(path: Path) -> bytes:
    return Reporter(PLAN, Ledger(path)).report([(0.5, 0.5)])


@pytest.mark.parametrize("dangling", [True, False])
def test_a_symbolic_link_is_the_same_ledger(tmp_path: Path, dangling: bool) -> None:
    (tmp_path / "real").mkdir()
    ledger, link = tmp_path / "real" / "ledger.json", tmp_path / "link.json"
    first = None if dangling else report(ledger)
    link.symlink_to(ledger)
    through = report(link)
    assert link.is_symlink()
    assert report(ledger) == through == (first or through)
    assert [entry.name for entry in (tmp_path / "real").iterdir()] == ["ledger.json"]


def test_a_linked_folder_is_the_same_ledger(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert report(tmp_path / "real" / "ledger.json") == report(tmp_path / "link" / "ledger.json")


def test_a_hard_link_is_refused(tmp_path: Path) -> None:
    report(tmp_path / "ledger.json")
    os.link(tmp_path / "ledger.json", tmp_path / "other.json")
    for name in ("ledger.json", "other.json"):
        with pytest.raises(FormatError, match="second name"):
            report(tmp_path / name)
    (tmp_path / "other.json").unlink()
    report(tmp_path / "ledger.json")


def test_a_pipe_or_a_device_is_no_ledger(tmp_path: Path) -> None:
    """Reading them would never end."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with pytest.raises(FormatError, match="is no file"):
            LedgerFile(path).read()


def test_a_full_disk_names_the_ledger_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = report(tmp_path / "ledger.json")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(module.os, "fsync", full)
        with pytest.raises(OSError, match="No space left") as raised:
            LedgerFile(tmp_path / "ledger.json").write("{}")
    assert raised.value.filename == str(tmp_path / "ledger.json")
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.json"]
    assert report(tmp_path / "ledger.json") == before


def test_whatever_is_deleted_the_lock_holds(tmp_path: Path) -> None:
    """Everything in the folder goes while one holds the lock; nobody else gets it."""
    first, second, entered = (
        LedgerFile(tmp_path / "a.json"),
        LedgerFile(tmp_path / "a.json"),
        threading.Event(),
    )

    def other() -> None:
        with second.locked():
            entered.set()

    with first.locked():
        first.write("{}")
        thread = threading.Thread(target=other)
        thread.start()
        for entry in tmp_path.iterdir():
            entry.unlink()
        assert not entered.wait(0.1)
    thread.join(10)
    assert entered.is_set()


def test_a_folder_that_cannot_be_locked_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(module.fcntl, "flock", no_locks)
    with pytest.raises(FormatError, match="keep the ledger on a local disk"):
        report(tmp_path / "ledger.json")
    assert not (tmp_path / "ledger.json").exists()


def test_bytes_that_are_no_text_stop_everything(tmp_path: Path) -> None:
    (tmp_path / "ledger.json").write_bytes(b"\xff\xfe")
    with pytest.raises(FormatError, match="cannot be read"):
        LedgerFile(tmp_path / "ledger.json").read()
    assert LedgerFile(tmp_path / "missing.json").read() is None


def test_a_ledger_in_memory_keeps_its_text() -> None:
    file = MemoryFile()
    assert file.read() is None
    with file.locked():
        file.write("text")
    assert file.read() == "text"
