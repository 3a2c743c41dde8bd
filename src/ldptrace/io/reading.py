"""The options for reading trajectories."""

from __future__ import annotations

from dataclasses import dataclass, field

from ldptrace.core.columns import Names
from ldptrace.core.outside import DEFAULT, Outside, checked_outside
from ldptrace.core.times import zone
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Bounds, checked_bounds


@dataclass(frozen=True)
class Reading:
    """The options of reading, the same for `ldptrace.read`, every command and every engine.

    >>> Reading(outside="keep")
    Traceback (most recent call last):
    ...
    ldptrace.errors.InputError: outside is one of cut, drop, clamp, got 'keep'
    """

    # None: by the extension, or by what the file shows.
    format: str | None = None
    # None: as the file says.
    crs: str | None = None
    names: Names = field(default_factory=Names)
    # The zone of clocks that name none (None: as the file says, else UTC).
    timezone: str | None = None
    bounds: Bounds | None = None
    outside: Outside = DEFAULT
    # Trajectories with fewer points are omitted; one without points is a device that answers null.
    min_points: int = 0
    # Trajectories are cut where time goes on by more seconds than this.
    split_gap: float | None = None

    def __post_init__(self) -> None:
        checked_outside(self.outside)
        if not isinstance(self.names, Names):
            raise InputError(
                f"names must be names of columns, such as Names(x='lng', id='ride'), got {self.names!r}"
            )
        if self.min_points < 0:
            raise InputError(f"min_points must not be negative, got {self.min_points}")
        if self.split_gap is not None and not self.split_gap > 0:
            raise InputError(f"a gap to cut at must be longer than 0 s, got {self.split_gap}")
        if self.timezone is not None:
            zone(self.timezone)
        if self.bounds is not None:
            object.__setattr__(self, "bounds", checked_bounds(self.bounds))

    @property
    def single(self) -> bool:
        """Whether points without a trajectory id are one log, to be cut at its gaps."""
        return self.split_gap is not None
