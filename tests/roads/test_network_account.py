from __future__ import annotations

import json
from dataclasses import asdict

from ldptrace.roads.network import RoadAccount


def test_what_is_left_out_is_added_up() -> None:
    first = RoadAccount("a", nodes=1, edges=2).without(streets={"loop": 1}, notes=("n",))
    both = first.without(streets={"loop": 2, "never": 0}, edges={"torn": 3}, notes=("n", "m"))
    assert both.dropped_streets == {"loop": 3}
    assert both.dropped == {"torn": 3}
    assert both.notes == ("n", "m")
    assert first.dropped_streets == {"loop": 1}


def test_one_line_names_every_reason() -> None:
    account = RoadAccount("a", nodes=1, edges=2000).without(
        streets={"x": 1, "y": 2}, edges={"z": 1}, nodes={"w": 1}, notes=("assumed",)
    )
    assert account.line() == (
        "a: 1 node, 2,000 directed edges; omitted 3 streets (1 x, 2 y), 1 edge (z) and 1 node (w); assumed"
    )
    assert RoadAccount("a").line() == "a: 0 nodes, 0 directed edges"


def test_the_account_is_plain() -> None:
    account = RoadAccount("a", "lines", 1, 2, {"x": 1})
    assert json.loads(json.dumps(asdict(account)))["dropped_streets"] == {"x": 1}
