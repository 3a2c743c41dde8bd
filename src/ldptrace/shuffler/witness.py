"""A file that tells a shuffler whether its storage was set back.

After a batch was fixed, and before it is sent, the file is replaced by one with another name, which the storage
records. A copy of the storage from before, wherever and however it is put back, records a file that is not there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ldptrace.web.problems import StorageUnavailable

PREFIX = "witness-"
# Linux: ask for the generation of a file, a number that is drawn when the file is made.
_GENERATION = 0x80087601


def identity(path: Path) -> str:
    """Return what distinguishes a file from its copies: its number on the disk and, where the system knows it, its
    generation, because the number of a deleted file is used again."""
    with path.open("rb") as file:
        generation = b""
        with suppress(ImportError, OSError):
            import fcntl

            generation = fcntl.ioctl(file, _GENERATION, bytes(8))
        return f"{os.fstat(file.fileno()).st_ino}:{generation.hex()}"


class Witness:
    """The witness in a folder: on the disk of the storage, or, if it stands `apart`, on another one. On the disk of the
    storage it may be copied together with the storage, so its identity is recorded, too."""

    def __init__(self, folder: Path, *, apart: bool) -> None:
        self.folder = folder
        self._apart = apart
        # Called after each change of the folder, to make it durable.
        self.sync: Callable[[Path], None] = _sync

    def is_missing(self) -> bool:
        """Whether there is no witness."""
        return not self._found()

    def agrees(self, mark: str, announced: str) -> bool:
        """Whether the only witness is the one that is recorded, or the one that was announced to replace it."""
        marks = self._found()
        if self._apart and not marks:
            raise StorageUnavailable(f"there is no witness in {self.folder}: is this disk mounted?")
        return bool(marks) and all(one == mark or name == PREFIX + announced for name, one in marks.items())

    def renew(self, token: str) -> str:
        """Replace the witness by one of this name, and return its mark, by which it is known again."""
        with _explained(self.folder):
            (self.folder / (PREFIX + token)).touch(mode=0o600)
            self.sync(self.folder)
        self.remove(but=PREFIX + token)
        return self._found()[PREFIX + token]

    def remove(self, but: str = "") -> None:
        """Remove the witnesses, except one of this name."""
        marks = self._found()
        with _explained(self.folder):
            for name in marks.keys() - {but}:
                (self.folder / name).unlink(missing_ok=True)
            self.sync(self.folder)

    def _found(self) -> dict[str, str]:
        """Return the witnesses in the folder, by their names, with their marks."""
        with _explained(self.folder):
            names = [name for name in os.listdir(self.folder) if name.startswith(PREFIX)]
            return {name: name if self._apart else f"{name} {identity(self.folder / name)}" for name in names}


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageUnavailable(f"the witness in {folder} cannot be used: {error}") from error


def _sync(folder: Path) -> None:
    with suppress(PermissionError):  # Windows cannot open folders.
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
