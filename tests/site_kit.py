"""The module that writes pages of the site."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

HOOKS = Path(__file__).parents[1] / "docs" / "hooks.py"


def hooks() -> ModuleType:
    """The module `docs/hooks.py`, which is in no package."""
    spec = importlib.util.spec_from_file_location("hooks", HOOKS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
