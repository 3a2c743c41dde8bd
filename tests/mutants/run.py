"""Slip deliberate faults into copies of all clients, one at a time: what is named beside each must go red.

    python tests/mutants/run.py [--jobs N] [NAME ...]      names are parts of the faults' names

Each fault is a text and what replaces it. A fault that nothing notices fails the run, and so does one whose text is no
longer there.
"""

# ruff: noqa: T201

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

sys.path.insert(0, str(Path(__file__).parents[1]))

from mutants.fault import Fault
from mutants.faults import FAULTS

ROOT = Path(__file__).parents[2]
COPIED = ("src", "tests", "protocol", "clients", "pyproject.toml", "LICENSE")
# Seconds that the tests of one fault may take.
LONGEST = 300
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
                return fault, verdict(fault, copy), time.monotonic() - start
            finally:
                free.put(copy)

        with ThreadPoolExecutor(arguments.jobs) as pool:
            for fault, said, seconds in pool.map(tried, chosen):
                print(f"{said:10} {seconds:5.1f} s  {fault.name}", flush=True)
                if said != "caught":
                    failures.append(fault.name)
    caught = len(chosen) - len(failures)
    print(f"{caught} of {len(chosen)} faults caught in {time.monotonic() - begin:.0f} s")
    for name in failures:
        print(f"not caught: {name}")
    return 1 if failures else 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("names", nargs="*")
    return parser.parse_args()


def copied(target: Path) -> None:
    """What the tests need, without caches."""
    target.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_file():
            shutil.copy(source, target / name)
        else:
            shutil.copytree(
                source, target / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules")
            )


def verdict(fault: Fault, copy: Path) -> str:
    """What became of one fault: caught, survived, or not to be found in the source any more."""
    file = copy / fault.file
    text = file.read_text(encoding="utf-8")
    if text.count(fault.old) != 1:
        return "outdated"
    file.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
    try:
        return {True: "caught", False: "SURVIVED", None: "HUNG"}[red(fault, copy)]
    finally:
        file.write_text(text, encoding="utf-8")


def red(fault: Fault, copy: Path) -> bool | None:
    """Whether the tests that are named for this fault fail, and not for want of them; None if they do not end."""
    said = copy.with_suffix(".txt")
    status = _pytest(fault.tests.split(), copy, said) if fault.tests else _node(copy, said)
    text = said.read_text(encoding="utf-8", errors="replace")
    if status is None:
        return None
    if "javac failed" in text:
        raise RuntimeError(f"{fault.name} does not compile: {text[-3000:]}")
    if status > 1 and fault.tests and "error" not in text.lower():
        raise RuntimeError(f"{fault.name}: {text[-3000:]}")
    return status != 0


def _node(copy: Path, said: Path) -> int | None:
    """Exit status of the JavaScript client's own tests: the quick ones, and all others if those see nothing."""
    command = ["node", "--test", "--test-reporter=tap"]
    for chosen in ("--test-name-pattern=^[a-z_]+$", "--test-name-pattern= "):
        with said.open("w") as output:
            try:
                done = subprocess.run(
                    [*command, chosen, "clients/js/test/vectors.test.js"],
                    cwd=copy,
                    stdout=output,
                    stderr=output,
                    timeout=LONGEST,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return None
        if done.returncode:
            break
    return done.returncode


def _pytest(tests: list[str], copy: Path, said: Path) -> int | None:
    """Exit status of tests, in a process that has loaded what tests import but for the copy itself."""
    process = PREPARED.Process(target=_tested, args=(tests, copy, said))
    process.start()
    process.join(LONGEST)
    if process.is_alive():
        process.kill()
        process.join()
        return None
    return process.exitcode


def _tested(tests: list[str], copy: Path, said: Path) -> None:
    output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for number in (1, 2):
        os.dup2(output, number)
    os.chdir(copy)
    os.environ["PYTHONPATH"] = str(copy / "src")
    sys.path.insert(0, str(copy / "src"))
    import pytest

    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain"]
    options += ["--hypothesis-seed=0", "--hypothesis-profile=mutants"]
    sys.exit(int(pytest.main([*options, *tests])))


if __name__ == "__main__":
    sys.exit(main())
