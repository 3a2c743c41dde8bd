"""Options as data: a field of a record has the default, the check and the help text of one option.

The command line makes its options from the fields, Python functions take the same names, and the HTTP interface decodes
the same record. Where an option is a text on the command line, its `parse` takes the text as well as the value.

>>> @dataclass(frozen=True)
... class Walk:
...     steps: int = option(5, help="Number of steps.")
...     pace: Literal["slow", "fast"] = option("slow", help="How fast.")
...
...     def __post_init__(self) -> None:
...         settle(self)
>>> Walk(pace="quick")
Traceback (most recent call last):
...
ldptrace.errors.InputError: pace must be slow or fast, got 'quick'
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from ldptrace.errors import InputError

Check = Callable[[Any], Any]
Made = TypeVar("Made")
_WORDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


@dataclass(frozen=True)
class Option:
    """What is known of an option besides its name, its type and its default."""

    help: str
    metavar: str | None = None
    # Takes the text of a command line, or a value, and returns the value or raises an error.
    parse: Check | None = None
    # Takes a value of the right type, and returns it or raises an error.
    check: Check | None = None
    # Further names on the command line, such as -n.
    flags: tuple[str, ...] = ()
    # The smallest and the largest number that is allowed, and the numbers that a value must be above and below.
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    # The type on the command line, where Python also takes other things.
    kind: Any = None
    # Lists the values, for completion in a shell.
    complete: Callable[[], list[str]] | None = None


@dataclass(frozen=True)
class NoOptions:
    """The options of a method that has none."""


def option(default: Any = MISSING, **about: Any) -> Any:
    """Make a field of a dataclass that is an option, with what `Option` knows of it. Without a default, the option must
    be given."""
    return field(default=default, metadata={"option": Option(**about)})


def settle(record: Any) -> None:
    """Check all options of a frozen record, and replace each by the value that its check returns."""
    kind: Any = type(record)
    for entry, kinds in _typed(kind):
        value = getattr(record, entry.name)
        if value is None and type(None) in kinds:
            continue
        about = option_of(entry)
        if about.parse is not None:
            value = about.parse(value)
        elif not any(_fits(value, kind) for kind in kinds):
            raise InputError(f"{entry.name} must be {_allowed(kinds)}, got {str(value)[:80]!r}")
        low = about.above or 0 if about.least is None else about.least
        if about.below is not None and not (value < about.below and (value > low or value == about.least)):
            raise InputError(
                f"{entry.name} must be between {low:g} and {about.below:g}, got {str(value)[:80]}"
            )
        if about.least is not None and not value >= about.least:
            raise InputError(f"{entry.name} must be at least {about.least:g}, got {value}")
        if about.most is not None and not value <= about.most:
            raise InputError(f"{entry.name} must be at most {about.most:,}, got {str(value)[:80]}")
        if about.above is not None and not value > about.above:
            least = "a positive number" if about.above == 0 else f"a number above {about.above:g}"
            raise InputError(f"{entry.name} must be {least}, got {str(value)[:80]}")
        object.__setattr__(record, entry.name, value if about.check is None else about.check(value))


def decoded(record: Callable[..., Made], data: Mapping[str, Any]) -> Made:
    """Make a record, and the records in it, from the values of a request or of `--option`. An unknown or a missing name
    is an error."""
    known = {entry.name for entry, _ in options_in(record)}
    for name in sorted(data.keys() - known):
        raise InputError(f"there is no key {name[:80]!r}; known are {', '.join(sorted(known))}")
    return from_options(record, data)


def chosen(name: str, record: Callable[..., Made], given: Mapping[str, Any]) -> Made:
    """Make the record of the options of a method, and check them."""
    known = sorted(entry.name for entry in fields(record))  # type: ignore[arg-type]
    for other in sorted(given.keys() - set(known)):
        raise InputError(f"method {name} has no option {other!r}; it has {', '.join(known)}")
    made = record(**given)
    settle(made)
    return made


def options_in(record: Any) -> Iterator[tuple[Field[Any], Any]]:
    """Yield the options of a record with their types, and those of the records in it."""
    hints = _hints(record)
    # Those of a base record come after the record's own.
    for entry in sorted(fields(record), key=lambda entry: entry.kw_only is True):
        if "option" in entry.metadata:
            yield entry, hints[entry.name]
        elif inner := _record_in(hints[entry.name]):
            yield from options_in(inner)


def from_options(record: Callable[..., Made], given: Mapping[str, Any]) -> Made:
    """Make a record from its options, and the records in it from theirs. Omitted options have their defaults; a record
    that may be None is made where an option is given that no other record has."""
    hints, values = _hints(record), {}
    inner = {
        entry.name: (kind, {option.name for option, _ in options_in(kind)})
        for entry in fields(record)  # type: ignore[arg-type]
        if "option" not in entry.metadata and (kind := _record_in(hints[entry.name]))
    }
    for entry in fields(record):  # type: ignore[arg-type]
        if entry.name in inner:
            kind, own = inner[entry.name]
            others = set[str]().union(*(names for name, (_, names) in inner.items() if name != entry.name))
            if kind is hints[entry.name] or given.keys() & (own - others):
                values[entry.name] = from_options(kind, given)
        elif entry.name in given:
            values[entry.name] = given[entry.name]
        elif "option" in entry.metadata and entry.default is MISSING:
            raise InputError(f"{entry.name} is missing")
    return record(**values)


def option_of(entry: Field[Any]) -> Option:
    """Return the option of a field."""
    return entry.metadata["option"]


def kinds_of(kind: Any) -> tuple[Any, ...]:
    """Return the members of a union of types, or the one type.

    >>> kinds_of(int | None)
    (<class 'int'>, <class 'NoneType'>)
    """
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _record_in(kind: Any) -> Any:
    """Return the record that a field holds, which may also be None."""
    return next((one for one in kinds_of(kind) if is_dataclass(one) and isinstance(one, type)), None)


@cache
def _hints(record: Any) -> dict[str, Any]:
    return get_type_hints(record)


@cache
def _typed(record: Any) -> tuple[tuple[Field[Any], tuple[Any, ...]], ...]:
    return tuple(
        (entry, kinds_of(_hints(record)[entry.name]))
        for entry in fields(record)
        if "option" in entry.metadata
    )


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value has this type, if it is a simple one. Numbers of NumPy are numbers, true and false are none."""
    if get_origin(kind) is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if kind is int:
        return hasattr(value, "__index__") and not isinstance(value, bool)
    if kind is float:
        return hasattr(value, "__float__") and not isinstance(value, str | bool) and _is_finite(value)
    return kind not in (bool, str, type(None)) or isinstance(value, kind)


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except (OverflowError, TypeError, ValueError):
        return False


def _allowed(kinds: tuple[Any, ...]) -> str:
    words: list[str] = []
    for kind in kinds:
        words += get_args(kind) if get_origin(kind) is Literal else [_WORDS[kind]] if kind in _WORDS else []
    return " or ".join(words)
