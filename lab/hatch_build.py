"""Put the sources of the laboratory into its wheel. An editable installation uses them where they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Laboratory(BuildHookInterface[Any]):
    """Adds the package and the licence, which lie outside this folder."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root).parent
        build_data["force_include"] |= {
            str(root / "src" / "ldptrace_lab"): "ldptrace_lab",
            str(root / "LICENSE"): "ldptrace_lab/LICENSE",
        }
