"""Frozen values for code that runs on devices.

The same as frozen dataclasses, to people and to type checkers; but the standard module takes longer to load
than all of `ldptrace.device`, which has to start quickly on small machines.
"""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, Self, dataclass_transform


@dataclass_transform(frozen_default=True)
class Record:
    """A value with named fields: its annotated attributes, those of its bases first.

    >>> class Point(Record):
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(1, 0), Point(1).changed(y=2)
    (Point(x=1, y=0), True, Point(x=1, y=2))
    """

    fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        own = (name for name, kind in cls.__annotations__.items() if not str(kind).startswith("ClassVar"))
        cls.fields = (*cls.fields, *own)

    def __init__(self, *values: Any, **named: Any) -> None:
        if len(values) > len(self.fields):
            raise TypeError(f"{type(self).__name__} takes {self.fields}, got {len(values)} values")
        given = dict(zip(self.fields, values, strict=False))
        if given.keys() & named.keys() or not named.keys() <= set(self.fields):
            raise TypeError(f"{type(self).__name__} takes {self.fields}, got {values} and {named}")
        given |= named
        for name in self.fields:
            if name not in given:
                if not hasattr(type(self), name):
                    raise TypeError(f"{type(self).__name__} takes {self.fields}, {name!r} is missing")
                given[name] = getattr(type(self), name)
        self.__dict__.update(given)
        self.__post_init__()

    def __post_init__(self) -> None:
        """Check the fields of the record. It may settle fields with `object.__setattr__`."""

    def values(self) -> dict[str, Any]:
        """Return the fields by their names."""
        return {name: getattr(self, name) for name in self.fields}

    def changed(self, **values: Any) -> Self:
        """Copy the record with other values in these fields."""
        return type(self)(**self.values() | values)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen, {name!r} cannot change")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen, {name!r} cannot go")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.values() == other.values()

    def __hash__(self) -> int:
        return hash(tuple(self.values().values()))

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.values().items())
        return f"{type(self).__name__}({values})"
