"""The command line as a module of Python."""

from __future__ import annotations

import subprocess
import sys

from ldptrace import __version__


def test_the_package_runs_as_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ldptrace", "--version"], check=True, capture_output=True, text=True
    )
    assert done.stdout == f"ldptrace {__version__}\n"
