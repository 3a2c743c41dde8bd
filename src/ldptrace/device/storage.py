"""Store a ledger in a small file, which is always complete and is changed by one process at a time. The file is found
by its real name, so that a link to it is not a second ledger. The folder of the file is locked, so that the lock also
holds if the file is deleted or replaced.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ldptrace.errors import FormatError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class LedgerFile:
    """A text in one file. A symbolic link is followed, and a file with two names in the folder is refused."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    @property
    def real(self) -> str:
        """The path of the file itself, without links."""
        return os.path.realpath(self.path)

    def read(self) -> str | None:
        """Return the text, or None if there is no file yet."""
        try:
            if not stat.S_ISREG(os.stat(self.real).st_mode):
                # Reading a pipe or a device may never end.
                raise FormatError(f"the ledger {self.path} is no file: give the name of a file")
            with open(self.real, encoding="utf-8") as file:
                if os.fstat(file.fileno()).st_nlink > 1:
                    raise FormatError(
                        f"the ledger {self.path} has a second name (a hard link), and each name would "
                        "go its own way: keep one of them"
                    )
                return file.read()
        except FileNotFoundError:
            return None
        except UnicodeDecodeError as error:
            raise FormatError(f"the ledger {self.path} cannot be read: {error}") from None

    def write(self, text: str) -> None:
        """Replace the file in one step. Only its owner can read it."""
        replace_file(self.real, text.encode("utf-8"), 0o600)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the file for one process. The operating system releases the lock if the process ends."""
        folder = os.path.dirname(self.real)
        os.makedirs(folder, exist_ok=True)
        if sys.platform == "win32":
            # A folder cannot be locked there, and a file that is open cannot be deleted.
            with open(self.real + ".lock", "a+b") as file:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                try:
                    yield
                finally:
                    file.seek(0)
                    msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
        else:
            handle = os.open(folder, os.O_RDONLY)
            try:
                _lock(handle, folder)
                yield
            finally:
                os.close(handle)


def replace_file(path: str, data: bytes, mode: int) -> None:
    """Replace a file in one step: write the new bytes to disk, rename, and sync the folder. An error names the file."""
    temporary = f"{path}.{os.urandom(4).hex()}"
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        if isinstance(error, OSError):
            # A full disk names none, and a name made up here says nothing to anybody.
            error.filename, error.filename2 = path, None
        raise
    _sync_folder(os.path.dirname(path) or ".")


class MemoryFile(LedgerFile):
    """A text in memory, for simulated devices."""

    def __init__(self) -> None:
        super().__init__("(memory)")
        self._text: str | None = None

    def read(self) -> str | None:
        return self._text

    def write(self, text: str) -> None:
        self._text = text

    @contextmanager
    def locked(self) -> Iterator[None]:
        yield


def _lock(handle: int, folder: str) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError as error:
        raise FormatError(
            f"the folder {folder} of the ledger cannot be locked ({error}): keep the ledger on a local disk"
        ) from None


def _sync_folder(folder: str) -> None:
    if sys.platform != "win32":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
