"""Programs that some tests need and pip cannot install. A test without its program is skipped, and counted at the end.

With `CI=true` nothing may be skipped: the test fails instead.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

# What is looked for on the PATH, and beside it, in this order.
NAMES = {
    "Chromium": ("chromium", "chromium-browser", "google-chrome"),
    "PostgreSQL": ("initdb",),
    "Node": ("node",),
    "npm": ("npm",),
    "Java": ("java",),
    "a Java compiler": ("javac",),
}
# What those tests are about.
ABOUT = {
    "Chromium": "the pages",
    "PostgreSQL": "the database server",
    "Node": "the JavaScript client",
    "npm": "the JavaScript package",
    "Java": "the cluster engine",
    "a Java compiler": "the Java client",
}
# Debian keeps the programs of a database server off the PATH.
POSTGRES = Path("/usr/lib/postgresql")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)


def require(program: str) -> Path:
    """The path of a program; without it the test that asks is skipped."""
    found = next(filter(None, map(shutil.which, NAMES[program])), None)
    if found is None and program == "PostgreSQL":
        versions = sorted(POSTGRES.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
        found = str(versions[-1]) if versions else None
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"no {program}: `make test` installs it, and in CI no test may be skipped")
        pytest.skip(f"no {program}")
    return Path(found)


@contextmanager
def chromium() -> Iterator[Any]:
    """A headless browser."""
    path = require("Chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


def closing_lines(skipped: list[pytest.TestReport]) -> list[str]:
    """How many tests did not run for want of a program, one line for each program.

    >>> closing_lines([])
    []
    """
    reasons = Counter(report.longrepr[2] for report in skipped if isinstance(report.longrepr, tuple))
    counts = {program: reasons[f"Skipped: no {program}"] for program in NAMES}
    return [
        f"{count} {'test' if count == 1 else 'tests'} of {ABOUT[program]} did not run: no {program}"
        for program, count in counts.items()
        if count
    ]
