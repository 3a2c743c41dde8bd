"""How trips follow a map: what a person may choose about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from ldptrace.errors import InputError
from ldptrace.roads.library import Library

OffStreets = Literal["auto", "never"]


@dataclass(frozen=True)
class StreetOptions:
    """The library of routes that is drawn from the map, and whether trips may leave the streets.

    Without a `library` it is as large as the answers need. `off_streets`: "auto" leaves the streets where the answers
    show clearly that trips do, "never" keeps every trip on them.
    """

    library: Library | None = None
    off_streets: OffStreets = "auto"

    def __post_init__(self) -> None:
        if self.off_streets not in get_args(OffStreets):
            raise InputError(
                f"off-streets must be {' or '.join(get_args(OffStreets))}, got {self.off_streets!r}"
            )

    @property
    def may_leave(self) -> bool:
        """Whether a share of the trips may be off the streets."""
        return self.off_streets == "auto"
