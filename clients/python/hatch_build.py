"""Make the package `ldptrace_device` from the sources of ldptrace: one text, two distributions that share no file."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "ldptrace_device"
# What a device runs, and the errors that it raises.
PARTS = ("errors.py", "protocol", "device")
IMPORTED = re.compile(r"\bldptrace(?=\.(errors|protocol|device)\b)")


def renamed(text: str) -> str:
    """A source that imports from this package what it imported from ldptrace.

    >>> renamed("from ldptrace.protocol.plan import Plan")
    'from ldptrace_device.protocol.plan import Plan'
    """
    return IMPORTED.sub(PACKAGE, text)


def make_package(source: Path, init: Path, out: Path) -> None:
    """Write the package to a folder."""
    out.mkdir(parents=True)
    (out / "__init__.py").write_text(init.read_text(encoding="utf-8"), encoding="utf-8")
    (out / "py.typed").touch()
    for part in PARTS:
        found = source / part
        for path in found.rglob("*.py") if found.is_dir() else [found]:
            target = out / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(renamed(path.read_text(encoding="utf-8")), encoding="utf-8")


class DevicePackage(BuildHookInterface[Any]):
    """Adds the package to what is built. An archive of sources holds it already."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        here = Path(self.root)
        if (here / PACKAGE).is_dir():
            build_data["force_include"][str(here / PACKAGE)] = PACKAGE
            return
        self._folder = tempfile.TemporaryDirectory()
        made = Path(self._folder.name) / PACKAGE
        make_package(here.parents[1] / "src" / "ldptrace", here / "init.py", made)
        shutil.copy(here.parents[1] / "LICENSE", made)
        build_data["force_include"][str(made)] = PACKAGE
