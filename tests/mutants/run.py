"""Slip deliberate faults into copies of all clients, one at a time: what is named beside each must go red.

    python tests/mutants/run.py [--jobs N] [NAME ...]      names are parts of the faults' names

Each fault is a text and what replaces it. A fault that nothing notices fails the run, and so does one whose text is no
longer there. `noticed.json` remembers which test was the first to fail; it runs first the next time, and the others
that are named only if it passes. The file saves time and decides nothing. In the end, all tests that failed must pass
without a fault.
"""

# ruff: noqa: T201

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from mutants.fault import Fault
from mutants.faults import FAULTS

ROOT = Path(__file__).parents[2]
COPIED = ("src", "tests", "protocol", "clients", "pyproject.toml", "LICENSE")
# Seconds that the tests of one fault may take.
LONGEST = 300
NOTICED = Path(__file__).with_name("noticed.json")
# Time of change of each faulty file: another one for each, so that nothing compiled is taken for that of another fault.
TIMES = itertools.count(2_000_000_000)
# Where the processes of tests come from: what takes long to load is there already, and nothing of this repository.
PREPARED = multiprocessing.get_context("forkserver")
LOADED = [
    "pytest",
    "hypothesis",
    "numpy",
    "numba",
    "pyarrow.compute",
    "pyarrow.parquet",
    "scipy.sparse",
    "scipy.stats",
]


def main() -> int:
    arguments = parsed()
    chosen = [
        fault for fault in FAULTS if not arguments.names or any(n in fault.name for n in arguments.names)
    ]
    begin, failures = time.monotonic(), list[str]()
    noticed: dict[str, str] = json.loads(NOTICED.read_text(encoding="utf-8"))
    PREPARED.set_forkserver_preload(LOADED)
    with tempfile.TemporaryDirectory() as folder:
        free: Queue[Path] = Queue()
        for number in range(arguments.jobs):
            copy = Path(folder) / str(number)
            copied(copy)
            free.put(copy)

        def tried(fault: Fault) -> tuple[Fault, str, float]:
            copy, start = free.get(), time.monotonic()
            try:
                return fault, verdict(fault, copy, noticed), time.monotonic() - start
            except (RuntimeError, SyntaxError) as error:
                return fault, f"BROKEN {error}", time.monotonic() - start
            finally:
                free.put(copy)

        with ThreadPoolExecutor(arguments.jobs) as pool:
            for fault, said, seconds in pool.map(tried, chosen):
                print(f"{said:10} {seconds:5.1f} s  {fault.name}", flush=True)
                if said != "caught":
                    failures.append(fault.name)
                remember(noticed)
        if without := failing(chosen, free.get(), noticed):
            failures.append(f"anything, because without a fault this fails, too: {without}")
    caught = len(chosen) - len([fault for fault in chosen if fault.name in failures])
    print(f"{caught} of {len(chosen)} faults caught in {time.monotonic() - begin:.0f} s")
    for name in failures:
        print(f"not caught: {name}")
    return 1 if failures else 0


def failing(chosen: list[Fault], copy: Path, noticed: dict[str, str]) -> str:
    """Return a test that fails without a fault, of those that noticed one; nothing if all pass."""
    said = copy.with_suffix(".txt")
    tests = {noticed[one.name] for one in chosen if one.tests and one.name in noticed}
    if tests and _pytest("", sorted(tests), copy, said, 4 * LONGEST) != 0:
        failed = copy.with_suffix(".failed")
        return (
            failed.read_text(encoding="utf-8")
            if failed.exists()
            else said.read_text(encoding="utf-8")[-3000:]
        )
    if any(not one.tests for one in chosen) and _node(None, copy, said, {}) is not False:
        return said.read_text(encoding="utf-8")[-3000:]
    return ""


def remember(noticed: dict[str, str]) -> None:
    """Write which test noticed each fault, for those that there still are."""
    # Another run may have written some since.
    found = json.loads(NOTICED.read_text(encoding="utf-8")) | noticed
    known = {fault.name: found[fault.name] for fault in FAULTS if fault.name in found}
    new = NOTICED.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    new.replace(NOTICED)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("names", nargs="*")
    return parser.parse_args()


def copied(target: Path) -> None:
    """Copy what the tests need."""
    target.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_file():
            shutil.copy2(source, target / name)
        else:
            shutil.copytree(source, target / name, ignore=shutil.ignore_patterns("node_modules"))


def verdict(fault: Fault, copy: Path, noticed: dict[str, str]) -> str:
    """Return what became of one fault: caught, survived, or not to be found in the source any more."""
    file = copy / fault.file
    text, before = file.read_text(encoding="utf-8"), file.stat()
    if text.count(fault.old) != 1:
        return "outdated"
    changed = text.replace(fault.old, fault.new)
    if file.suffix == ".py":
        compile(changed, fault.file, "exec")
    file.write_text(changed, encoding="utf-8")
    at = next(TIMES)
    os.utime(file, (at, at))
    try:
        return {True: "caught", False: "SURVIVED", None: "HUNG"}[red(fault, copy, noticed)]
    finally:
        file.write_text(text, encoding="utf-8")
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def red(fault: Fault, copy: Path, noticed: dict[str, str]) -> bool | None:
    """Return whether the tests that are named for this fault fail; None if they do not end."""
    said = copy.with_suffix(".txt")
    first = noticed.get(fault.name, "")
    if not fault.tests:
        return _node(fault, copy, said, noticed)
    if first and first.partition("::")[0] in fault.tests and _pytest(fault.file, [first], copy, said) == 1:
        return True
    status = _pytest(fault.file, fault.tests.split(), copy, said)
    text = said.read_text(encoding="utf-8", errors="replace")
    if status is None:
        return None
    if "javac failed" in text:
        raise RuntimeError(f"{fault.name} does not compile: {text[-3000:]}")
    # 2: a file of tests cannot be imported with the fault. All others: the tests that are named are not there.
    if status > 2 or (status == 2 and "error" not in text.lower()):
        raise RuntimeError(f"{fault.name}: {text[-3000:]}")
    failed = copy.with_suffix(".failed")
    if status == 1 and failed.exists():
        noticed[fault.name] = failed.read_text(encoding="utf-8")
    return status != 0


def _node(fault: Fault | None, copy: Path, said: Path, noticed: dict[str, str]) -> bool | None:
    """Return whether the JavaScript client's own tests fail: the one that is remembered, the quick ones, then all."""
    first = "" if fault is None else noticed.get(fault.name, "")
    for chosen in (*([f"^{re.escape(first)}$"] if first else []), "^[a-z_]+$", " "):
        command = ["node", "--test", "--test-reporter=tap", f"--test-name-pattern={chosen}"]
        with said.open("w") as output:
            try:
                done = subprocess.run(
                    [*command, "clients/js/test/vectors.test.js"],
                    cwd=copy,
                    stdout=output,
                    stderr=output,
                    timeout=LONGEST,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return None
        if done.returncode:
            failed = re.findall(r"^not ok \d+ - (.+)$", said.read_text(encoding="utf-8"), re.MULTILINE)
            if fault is not None and failed:
                noticed[fault.name] = failed[0]
            return True
    return False


def _pytest(file: str, tests: list[str], copy: Path, said: Path, longest: int = LONGEST) -> int | None:
    """Return the exit status of tests, in a process that has loaded what tests import but for the copy itself."""
    copy.with_suffix(".failed").unlink(missing_ok=True)
    process = PREPARED.Process(target=_tested, args=(file, tests, copy, said))
    process.start()
    process.join(longest)
    if process.is_alive():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()
        return None
    return process.exitcode


def _tested(file: str, tests: list[str], copy: Path, said: Path) -> None:
    os.setsid()
    output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for number in (1, 2):
        os.dup2(output, number)
    os.chdir(copy)
    os.environ["PYTHONPATH"] = str(copy / "src")
    # As `python -m pytest` does; processes that tests start find the tests there.
    sys.path[:0] = [str(copy), str(copy / "src")]
    import numba
    import pytest

    if file and "kernel" in Path(file).read_text(encoding="utf-8"):
        # Compiled callers of what is at fault contain it, and their own files did not change.
        numba.config.CACHE_DIR = tempfile.mkdtemp(dir=copy.parent)

    class FirstFailure:
        """Writes down which test failed first."""

        def pytest_runtest_logreport(self, report: Any) -> None:
            failed = copy.with_suffix(".failed")
            if report.failed and not failed.exists():
                failed.write_text(report.nodeid, encoding="utf-8")

    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain"]
    options += ["--hypothesis-seed=0", "--hypothesis-profile=mutants"]
    sys.exit(int(pytest.main([*options, *tests], plugins=[FirstFailure()])))


if __name__ == "__main__":
    sys.exit(main())
