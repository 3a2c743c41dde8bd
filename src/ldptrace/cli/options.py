"""Options of a command from records: each field of a record is one option, with its default and its help text."""

from __future__ import annotations

import builtins
import inspect
from collections import ChainMap, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field
from functools import partial, wraps
from typing import Annotated, Any, get_type_hints

import typer

from ldptrace.core.reading import Reading
from ldptrace.options import from_options, kinds_of, option_of, options_in

Command = Callable[..., None]


def with_options(
    *,
    only: tuple[str, ...] | None = None,
    without: tuple[str, ...] = (),
    partial: tuple[str, ...] = (),
    defaults: Mapping[str, Any] | None = None,
    **records: type | tuple[type, ...],
) -> Callable[[Command], Command]:
    """Give a command the options of records. The command gets each record as the parameter of this name.

    Of several records under one name the command gets a dictionary of the options that were given; also of a record
    that is named in `partial`, which need not be complete. Options in `without` are omitted; `only` names those that
    are not. A command may have `defaults` of its own.
    """
    groups = {
        name: {
            entry.name: (entry, kind)
            for part in (record if isinstance(record, tuple) else (record,))
            for entry, kind in options_in(part)
            if entry.name not in without and (only is None or entry.name in only)
        }
        for name, record in records.items()
    }

    def grouped(command: Command) -> Command:
        # What a module imports for type checkers only is no type of an option.
        known = ChainMap(command.__globals__, vars(builtins), defaultdict(lambda: object))
        kinds = get_type_hints(command, localns=known, include_extras=True)
        # What typer reads the options from; those of a record are where the record is.
        shown: dict[str, inspect.Parameter] = {}
        for name, own in inspect.signature(command).parameters.items():
            if name in records:
                for key, (entry, kind) in groups[name].items():
                    parameter = _parameter(entry, kind, optional=name in partial)
                    if defaults and key in defaults:
                        parameter = parameter.replace(default=defaults[key])
                    shown.setdefault(key, parameter)
            else:
                shown[name] = own.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=kinds[name])

        @wraps(command)
        def called(**given: Any) -> None:
            made: dict[str, Any] = {}
            for name, options in groups.items():
                values = {key: given[key] for key in options}
                record = records[name]
                if name in partial or isinstance(record, tuple):
                    made[name] = {
                        key: value for key, value in values.items() if value != _default(options[key][0])
                    }
                else:
                    made[name] = from_options(record, values)
            own = inspect.signature(command).parameters
            command(**{name: value for name, value in given.items() if name in own}, **made)

        called.__annotations__ = {name: parameter.annotation for name, parameter in shown.items()}
        called.__dict__["__signature__"] = inspect.Signature(list(shown.values()))
        return called

    return grouped


# `convert` alone omits short trips: elsewhere every trip plays a device, and every device answers.
with_reading: Callable[..., Callable[[Command], Command]] = partial(
    with_options, without=("min_points",), reading=Reading
)


def _default(entry: Field[Any]) -> Any:
    return None if entry.default is MISSING else entry.default


def _parameter(entry: Field[Any], kind: Any, *, optional: bool) -> inspect.Parameter:
    """Return the option of a field as typer knows it."""
    about, kinds = option_of(entry), kinds_of(kind)
    if about.kind is not None:
        kind = about.kind
    elif about.parse is not None:
        kind = str | None if type(None) in kinds else str
    required = entry.default is MISSING
    if required and optional:
        kind = kind | None
    flag = f"--{entry.name.replace('_', '-')}"
    if kind is bool and entry.default is True:
        flag += f"/--no-{flag[2:]}"
    # A long name in `flags` is the name on the command line.
    own = () if any(name.startswith("--") for name in about.flags) else (flag,)
    names = (*about.flags, *own) if kind is bool or about.flags else ()
    return inspect.Parameter(
        entry.name,
        inspect.Parameter.KEYWORD_ONLY,
        annotation=Annotated[
            kind,
            typer.Option(*names, metavar=about.metavar, help=about.help, autocompletion=about.complete),
        ],
        default=inspect.Parameter.empty if required and not optional else _default(entry),
    )
