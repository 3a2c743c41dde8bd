"""Read files that came from outside in a separate process, with limited memory and time.

The process works in a temporary folder, with nothing but the files and the plan, and without the server's environment
and the address of its database. Compressed files are unpacked first, and only up to a size that honest files have. So a
file that makes a reader fail, fill the memory or run without end costs one process, never the server.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ldptrace.errors import InputError, LdptraceError

if TYPE_CHECKING:
    from ldptrace.protocol.plan import Plan
    from ldptrace.roads import RoadNetwork

# Names in the folder of the process.
_FILES, _PLAN, _STREETS, _ROADS, _ERROR = "files", "plan.json", "streets.json", "roads.npz", "error.txt"
# A compressed file may have so many bytes unpacked, and so many more for each byte of its own.
UNPACKED, RATIO = 64 << 20, 32
_PIECE = 1 << 20
# What the process needs of the environment: where Python and its packages are, and where compiled code is kept.
_KEPT = ("PATH", "PYTHONPATH", "PYTHONHOME", "HOME", "LANG", "LC_ALL", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
_ONES = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ARROW_NUM_THREADS"),
    *("PYTHONSAFEPATH", "PYTHONDONTWRITEBYTECODE"),
)
# One at a time, so that the limits of all of them together are those of one.
_TURN = threading.Lock()


def limits_of(size: int) -> tuple[int, int]:
    """Return the memory of the process in bytes, and its seconds, which grow with the size of the files.

    >>> limits_of(0), limits_of(1 << 40)
    ((1073741824, 60), (8589934592, 1800))
    """
    return min((1 << 30) + 24 * size, 8 << 30), min(60 + (10 * size >> 20), 1800)


def drawing(plan: Plan, files: Mapping[str, bytes]) -> bytes:
    """Return the drawing of the streets in the files of a road network (`ldptrace.server.streets`)."""
    with tempfile.TemporaryDirectory(prefix="ldptrace-") as folder:
        (Path(folder) / _PLAN).write_text(plan.to_json(), encoding="utf-8")
        _run(Path(folder), files)
        return (Path(folder) / _STREETS).read_bytes()


def network(files: Mapping[str, bytes], limits: tuple[int, int] | None = None) -> RoadNetwork:
    """Return the road network in these files."""
    from ldptrace.roads.stored import stored_roads

    with tempfile.TemporaryDirectory(prefix="ldptrace-") as folder:
        _run(Path(folder), files, limits)
        return stored_roads(Path(folder) / _ROADS)


def _run(folder: Path, files: Mapping[str, bytes], limits: tuple[int, int] | None = None) -> None:
    """Run the process in its folder, and raise its error."""
    (folder / _FILES).mkdir()
    for name, data in files.items():
        (folder / _FILES / name).write_bytes(data)
    memory, seconds = limits or limits_of(sum(map(len, files.values())))
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    kept |= dict.fromkeys(_ONES, "1") | {"TMPDIR": str(folder)}
    if "PYTHONPATH" in kept:
        # The process works in another folder.
        kept["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, kept["PYTHONPATH"].split(os.pathsep)))
    command = [sys.executable, "-m", "ldptrace.server.fence", str(memory), str(seconds)]
    with _TURN:
        try:
            status = subprocess.run(
                command,
                cwd=folder,
                env=kept,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=2 * seconds,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            status = -1
    if status != 0:
        said = folder / _ERROR
        text = said.read_text(encoding="utf-8") if said.is_file() else ""
        raise InputError(
            text or f"the files cannot be read with {memory >> 20:,} MiB of memory in {seconds:,} s"
        )


def _limit(memory: int, seconds: int) -> None:
    """Limit this process. It also is the first to be ended when the machine runs out of memory."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    with contextlib.suppress(OSError, AttributeError):
        os.nice(10)
    # Windows has no such limits; there the time alone is limited.
    with contextlib.suppress(ImportError):
        import resource

        for kind, most in (
            (resource.RLIMIT_DATA, memory),
            (resource.RLIMIT_CPU, seconds),
            (resource.RLIMIT_FSIZE, 4 << 30),
            (resource.RLIMIT_CORE, 0),
        ):
            _, hard = resource.getrlimit(kind)
            least = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (least, least))


def unpack(path: Path) -> None:
    """Replace a compressed file by its content. A content that is far larger than the file is an error."""
    opened: dict[str, type[gzip.GzipFile] | type[bz2.BZ2File]] = {".gz": gzip.GzipFile, ".bz2": bz2.BZ2File}
    if path.suffix.lower() not in opened:
        return
    most = UNPACKED + RATIO * path.stat().st_size
    try:
        with opened[path.suffix.lower()](path) as packed, path.with_suffix("").open("wb") as plain:
            left = most
            while piece := packed.read(_PIECE):
                left -= len(piece)
                if left < 0:
                    raise InputError(f"a file of this size has at most {most:,} bytes unpacked")
                plain.write(piece)
    except (OSError, EOFError) as error:
        raise InputError(f"{path.name} cannot be unpacked: {error}") from None
    path.unlink()


def main(folder: Path) -> None:
    """Read the files of the folder, and write the drawing if there is a plan, otherwise the network."""
    from ldptrace.protocol.plan import Plan
    from ldptrace.roads import read_roads
    from ldptrace.roads.stored import store_roads
    from ldptrace.server.streets import drawn

    for packed in sorted((folder / _FILES).iterdir()):
        unpack(packed)
    files = sorted((folder / _FILES).iterdir())
    path = files[0] if len(files) == 1 else folder / _FILES
    plan = folder / _PLAN
    if plan.exists():
        (folder / _STREETS).write_bytes(drawn(Plan.from_json(plan.read_text(encoding="utf-8")), path))
    else:
        store_roads(read_roads(path), folder / _ROADS)


if __name__ == "__main__":
    _limit(int(sys.argv[1]), int(sys.argv[2]))
    try:
        main(Path.cwd())
    except (LdptraceError, ImportError) as error:
        Path(_ERROR).write_text(str(error).replace(f"{Path.cwd() / _FILES}{os.sep}", ""), encoding="utf-8")
        sys.exit(2)
