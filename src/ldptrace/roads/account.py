"""An account of reading a road network: what was used, what was omitted, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ldptrace.core.words import count, omissions, total


@dataclass(frozen=True)
class RoadAccount:
    """The source of a network, its size, and an account of everything that was omitted.

    `dropped_streets` counts omitted streets of the file by reason, `dropped` omitted directed edges and `dropped_nodes`
    omitted nodes. `notes` say what was assumed.

    >>> account = RoadAccount("city.osm.pbf", "OpenStreetMap", 8, 20).without(streets={"not for cars": 5})
    >>> account.line()
    'city.osm.pbf: 8 nodes, 20 directed edges; omitted 5 streets (not for cars)'
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
    ) -> RoadAccount:
        """Return the account with more omitted things and more notes."""
        return replace(
            self,
            dropped_streets=total([self.dropped_streets, streets or {}]),
            dropped=total([self.dropped, edges or {}]),
            dropped_nodes=total([self.dropped_nodes, nodes or {}]),
            notes=(*self.notes, *(note for note in notes if note not in self.notes)),
        )

    def line(self) -> str:
        """Return the account as one line of text."""
        *others, last = omissions(
            (self.dropped_streets, "street"), (self.dropped, "edge"), (self.dropped_nodes, "node")
        ) or [""]
        omitted = f"{', '.join(others)} and {last}" if others else last
        parts = [
            f"{count(self.nodes, 'node')}, {count(self.edges, 'directed edge')}",
            *([f"omitted {omitted}"] if omitted else []),
            *self.notes,
        ]
        return f"{self.source}: {'; '.join(parts)}"
