"""Packages of the optional extras, loaded where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ldptrace.errors import InputError


def needed(package: str, extra: str = "geo") -> Any:
    """A package, or one sentence that says which extra installs it."""
    try:
        return import_module(package)
    except ImportError:
        raise InputError(
            f"{package} is needed for this; install it with: pip install 'ldptrace[{extra}]'"
        ) from None
