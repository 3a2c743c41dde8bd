"""Write files and folders completely or not at all. Links, pipes and devices are kept."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from ldptrace.errors import InputError

STDOUT = "-"
# Bytes that are written to find out whether there is room. A database takes back more than a megabyte when it fails.
_PROBE = 1 << 26
# No room on the disk, within the quota, or in a file.
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary name beside `path`. The file is renamed to `path` if the block succeeds, and removed
    otherwise.

    The temporary name has the extension of `path`, because writers choose the format by the extension. If `path` is a
    link, the file behind it is replaced and the link stays. A pipe, a device or standard output ("-") gets the bytes
    at the end of the block.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_path(Path(folder, "a.txt")) as temporary:
    ...         _ = temporary.write_text("whole")
    ...     [entry.name for entry in Path(folder).iterdir()]
    ['a.txt']
    """
    target = Path(path)
    if is_stream(target):
        with tempfile.TemporaryDirectory(prefix="ldptrace-") as folder:
            temporary = Path(folder, target.name if str(target) != STDOUT else "output")
            with named(target):
                yield temporary
                _copy(temporary, target)
        return
    check_output(target)
    target = Path(os.path.realpath(target)) if target.is_symlink() else target
    temporary = _beside(target)
    try:
        with named(target, temporary):
            yield temporary
            _note(target)
            os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


# Each path that a command wrote, with the name under which its old file is kept, or None if there was none.
Kept = list[tuple[Path, Path | None]]
_KEPT: ContextVar[Kept | None] = ContextVar("kept", default=None)


@contextmanager
def together() -> Iterator[None]:
    """Write all outputs of the block or none: if the block fails, the files are as they were before.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     try:
    ...         with together():
    ...             with atomic_path(Path(folder, "a.txt")) as temporary:
    ...                 _ = temporary.write_text("whole")
    ...             raise InputError("the second file cannot be written")
    ...     except InputError:
    ...         [entry.name for entry in Path(folder).iterdir()]
    []
    """
    if _KEPT.get() is not None:
        yield
        return
    kept: Kept = []
    before = _KEPT.set(kept)
    try:
        yield
    except BrokenPipeError:
        # A reader of standard output has seen enough; files were written before anything was printed.
        _forget(kept)
        raise
    except BaseException:
        _undo(kept)
        raise
    else:
        _forget(kept)
    finally:
        _KEPT.reset(before)


def _undo(kept: Kept) -> None:
    """Restore the files as they were before."""
    for path, old in reversed(kept):
        if old is not None:
            os.replace(old, path)
        elif path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _forget(kept: Kept) -> None:
    """Remove the old files."""
    for _, old in kept:
        if old is not None:
            old.unlink(missing_ok=True)


def remove(path: Path) -> None:
    """Remove a file, which comes back if the command fails."""
    _note(path)
    path.unlink(missing_ok=True)


def make_folder(path: Path, mode: int = 0o777) -> None:
    """Make a folder and the folders above it, unless they exist. They are removed again if the command fails."""
    if path.exists() and not path.is_dir():
        raise InputError(f"cannot write {path}: it is a file, and a folder is needed")
    missing = [folder for folder in (path, *path.absolute().parents) if not folder.exists()]
    if missing:
        _note(missing[-1])
        path.mkdir(parents=True, exist_ok=True, mode=mode)


def _note(path: Path) -> None:
    """Keep what is at a path, which is about to be written or removed, if outputs are written together."""
    if (kept := _KEPT.get()) is None:
        return
    old = _beside(path) if path.exists() or path.is_symlink() else None
    if old is not None:
        try:
            os.link(path, old, follow_symlinks=False)
        except OSError:
            os.rename(path, old)
    kept.append((path, old))


def _beside(path: Path) -> Path:
    """Return a hidden name with the same extension."""
    return path.with_name(f".{secrets.token_hex(4)}.{path.name[-60:]}")


@contextmanager
def named(path: Path, temporary: Path | None = None) -> Iterator[None]:
    """Add the name of the file to an error of the system, for example about a full disk. Errors of other libraries
    become errors of the system if nothing more can be written to the temporary file."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL and error.filename in (None, str(temporary)):
            # Arrow writes a sentence of its own.
            error.strerror, error.filename = os.strerror(error.errno), str(path)
        raise
    except InputError:
        raise
    except Exception as error:
        full = None if temporary is None else fullness(temporary)
        if full is None:
            raise
        raise OSError(full, os.strerror(full), str(path)) from error


def fullness(path: Path) -> int | None:
    """Return the number of the error that says that nothing more can be written to a file, or None."""
    try:
        with path.open("ab") as file:
            file.write(bytes(_PROBE))
    except OSError as error:
        return error.errno if error.errno in FULL else None
    return None


def is_stream(path: Path) -> bool:
    """Whether the output is standard output, a pipe or a device.

    >>> is_stream(Path("-")), is_stream(Path("/dev/null")), is_stream(Path("a.csv"))
    (True, True, False)
    """
    if str(path) == STDOUT:
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    # /dev/stdout may lead to a file; replacing that would cut off the program that has it open.
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) or path.parts[:2] in {("/", "dev"), ("/", "proc")}


def check_output(path: Path, inputs: Iterable[Path] = (), *, force: bool | None = None) -> None:
    """Raise an error before the work begins if an output cannot be written or would replace an input.

    `force` allows to replace the input. It is None if the command has no such option.
    """
    if is_stream(path):
        return
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder")
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise InputError(
            f"cannot write {path}: the folder {folder if path.is_symlink() else path.parent} does not exist"
        )
    if not os.access(folder, os.W_OK):
        raise InputError(f"cannot write {path}: the folder {folder} does not allow it")
    for source in inputs:
        if not force and path.exists() and source.exists() and path.samefile(source):
            cure = "" if force is None else ", or --force to replace it"
            raise InputError(f"{path} is also the input: give another name{cure}")


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as data:
        if str(target) == STDOUT:
            sys.stdout.flush()
            shutil.copyfileobj(data, sys.stdout.buffer)
            sys.stdout.buffer.flush()
            return
        with target.open("wb") as stream:
            shutil.copyfileobj(data, stream)


# Trajectories of each file.
PART = 1 << 20


def is_folder(path: Path) -> bool:
    """Whether an output is a folder: it exists as a folder, or its name has no extension.

    >>> is_folder(Path("trips")), is_folder(Path("trips.parquet")), is_folder(Path("-"))
    (True, False, False)
    """
    return path.is_dir() or (not path.suffix and str(path) != "-" and not path.exists())


def check_folder(path: Path) -> None:
    """Raise an error before the work begins if a folder cannot be written."""
    if path.is_dir() and any(path.iterdir()):
        raise InputError(f"cannot write {path}: the folder is not empty")
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: the folder {path.parent} does not exist")


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Give a temporary folder beside `path`, which replaces `path` if the block succeeds and is removed otherwise."""
    check_folder(path)
    temporary = _beside(path.absolute())
    temporary.mkdir()
    try:
        with named(path):
            yield temporary
            if path.is_dir():
                path.rmdir()
            else:
                _note(path)
            os.replace(temporary, path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def part_name(number: int) -> str:
    """Return the name of the file with this number.

    >>> part_name(7)
    'part-00007.parquet'
    """
    return f"part-{number:05d}.parquet"
