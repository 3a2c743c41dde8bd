"""Options for trips on a street map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from ldptrace.core.drawing import OffStreets
from ldptrace.errors import InputError
from ldptrace.roads.library import Library


@dataclass(frozen=True)
class StreetOptions:
    """The options of a model with a street map.

    `library` says how routes are drawn from the map; None chooses the number of routes by the number of users.
    `off_streets` is "auto" (trips leave the streets if the answers clearly show it) or "never".
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
        """Whether some trips may leave the streets."""
        return self.off_streets == "auto"
