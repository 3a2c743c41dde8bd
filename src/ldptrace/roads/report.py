"""What a reader of road networks found: how much was used, what was left out, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace


@dataclass(frozen=True)
class RoadReport:
    """Where a network came from, what of it is used, and an account of every street that is not.

    `dropped_streets` counts streets of the file by the reason why they are left out, `dropped` directed edges
    and `dropped_nodes` nodes; `notes` say what was assumed.

    >>> report = RoadReport("city.osm.pbf", "OpenStreetMap", 8, 20).without(streets={"not for cars": 5})
    >>> report.line()
    'city.osm.pbf: 8 nodes, 20 directed edges; left out 5 streets (not for cars)'
    """

    source: str = ""
    format: str = "columns"
    nodes: int = 0
    edges: int = 0
    dropped_streets: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    dropped_nodes: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def without(
        self,
        *,
        streets: Mapping[str, int] | None = None,
        edges: Mapping[str, int] | None = None,
        nodes: Mapping[str, int] | None = None,
        notes: tuple[str, ...] = (),
    ) -> RoadReport:
        """The same account with further things that were left out, and further notes."""
        return replace(
            self,
            dropped_streets=_added(self.dropped_streets, streets or {}),
            dropped=_added(self.dropped, edges or {}),
            dropped_nodes=_added(self.dropped_nodes, nodes or {}),
            notes=(*self.notes, *(note for note in notes if note not in self.notes)),
        )

    def line(self) -> str:
        """One line for a person."""
        left_out = [
            f"{_count(sum(reasons.values()), noun)} ({_by_reason(reasons)})"
            for reasons, noun in (
                (self.dropped_streets, "street"),
                (self.dropped, "edge"),
                (self.dropped_nodes, "node"),
            )
            if reasons
        ]
        parts = [
            f"{_count(self.nodes, 'node')}, {_count(self.edges, 'directed edge')}",
            *([f"left out {_listed(left_out)}"] if left_out else []),
            *self.notes,
        ]
        return f"{self.source}: {'; '.join(parts)}"

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return asdict(self)


def _added(before: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    """Counts by reason, added up; reasons that never occurred are left away."""
    reasons = dict.fromkeys([*before, *more])
    totals = {reason: before.get(reason, 0) + more.get(reason, 0) for reason in reasons}
    return {reason: number for reason, number in totals.items() if number}


def _listed(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def _by_reason(reasons: Mapping[str, int]) -> str:
    if len(reasons) == 1:
        return next(iter(reasons))
    return ", ".join(f"{number:,} {reason}" for reason, number in reasons.items())
