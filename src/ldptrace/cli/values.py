"""Plain values of options, without the package that typer checks all values with: it takes a tenth of a second to load.

A value that is not plain is given to typer's own check, which knows what to say about it.
"""

from __future__ import annotations

import os
import re
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_origin

import typer.core

# What stands for a value that is left to typer.
UNUSUAL = object()
NUMBERS = {
    int: re.compile(r"-?[0-9]{1,15}"),
    float: re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?(e-?[0-9]{1,2})?"),
}


def plain(annotation: Any, info: Any, value: Any) -> Any:
    """The value of an option of this type, or `UNUSUAL`; `info` says what typer was told of the option.

    >>> info = typer.Option(min=1)
    >>> plain(int, info, "12"), plain(int, info, "0") is UNUSUAL, plain(float, info, "1e3"), plain(str, info, "a")
    (12, True, 1000.0, 'a')
    """
    if info.parser is not None:
        return UNUSUAL
    if annotation is str or annotation is bool:
        return value if type(value) is annotation else UNUSUAL
    if annotation in NUMBERS:
        return _number(annotation, info, value)
    if annotation is Path:
        return _path(info, value)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return next((choice for choice in annotation if value is choice or value == choice.value), UNUSUAL)
    if get_origin(annotation) is list and isinstance(value, list | tuple):
        items = [plain(get_args(annotation)[0], info, item) for item in value]
        return UNUSUAL if any(item is UNUSUAL for item in items) else items
    return UNUSUAL


def _number(kind: type, info: Any, value: Any) -> Any:
    if isinstance(value, str) and NUMBERS[kind].fullmatch(value):
        value = kind(value)
    inside = (
        type(value) is kind
        and not info.clamp
        and (info.min is None or value >= info.min)
        and (info.max is None or value <= info.max)
    )
    return value if inside else UNUSUAL


def _path(info: Any, value: Any) -> Any:
    asked = info.exists or info.writable or info.resolve_path or info.path_type is not None
    if asked or not (info.file_okay and info.dir_okay) or not isinstance(value, str | Path):
        return UNUSUAL
    path = Path(value)
    readable = os.access(path, os.R_OK) or not path.exists()
    return path if readable or not info.readable else UNUSUAL


def take_plain_values() -> None:
    """Let typer build its checks for unusual values only."""
    try:
        from typer._coercion import RuntimeParam, build_runtime_param
    except ImportError:  # another typer, which checks its own way
        return

    class Plain(RuntimeParam):
        """One option: typer's own check is built when a value is not plain."""

        def _coerce_value(self, value: Any, param: Any, ctx: Any) -> Any:
            found = plain(self.annotation, self.parameter_info, value)
            if found is not UNUSUAL:
                return found
            return build_runtime_param(param.type_descriptor)._coerce_value(value, param, ctx)

    def build(descriptor: Any) -> Plain:
        return Plain(descriptor.parameter_info, descriptor.annotation)

    if hasattr(typer.core, "build_runtime_param"):
        typer.core.build_runtime_param = build
