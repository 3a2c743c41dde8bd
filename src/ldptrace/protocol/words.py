"""Items of questions in words, for people who look into a report."""

from __future__ import annotations

from itertools import islice

from ldptrace.lattice import move_count, moves
from ldptrace.questions import Question

_TURNS = ("straight on", "a bend of 45 degrees", "a bend of 90 degrees", "a bend of 135 degrees", "back")


def item_words(asked: Question, item: int) -> str:
    """What one item of a question stands for.

    >>> from ldptrace.questions import Length, Moves
    >>> item_words(Length(6, 24), 23), item_words(Moves(6, 5), 0), item_words(Moves(6, 5), 220)
    ('24 cells or more', 'from cell 0,0 to cell 0,1', 'nothing')
    """
    n = asked.n
    if item >= asked.domain:
        return "nothing"
    if asked.name == "length":
        cells = "1 cell" if item == 0 else f"{item + 1} cells"
        return f"{cells} or more" if item + 1 == asked.domain else cells
    if asked.name in ("start", "end", "cut-end", "terminals", "visits"):
        return _cell(item, n)
    if asked.name == "turns":
        return _TURNS[item]
    if asked.name in ("moves", "steps", "combined-steps"):
        if item < move_count(n):
            here, _, there = next(islice(moves(n), item, None))
            return f"from {_cell(here, n)} to {_cell(there, n)}"
        cell = item - move_count(n)
        return f"beginning in {_cell(cell, n)}" if cell < n * n else f"end in {_cell(cell - n * n, n)}"
    if asked.name == "links":
        upward = ((here, there) for here, _, there in moves(n) if here < there)
        here, there = next(islice(upward, item, None))
        return f"between {_cell(here, n)} and {_cell(there, n)}"
    return f"item {item}"


def _cell(cell: int, n: int) -> str:
    return f"cell {cell // n},{cell % n}"
