"""Tables of values, as experiments and comparisons show them."""

from __future__ import annotations

from typing import NamedTuple

from rich.table import Table as RichTable

# Labels that are words; others are numbers, which stand at the right.
WORDS = ("data", "metric", "method")


class Entry(NamedTuple):
    """One value as text, perhaps with its spread, and whether it is the best of those that compete."""

    text: str
    best: bool = False


class Line(NamedTuple):
    """`labels` say what the values belong to. A line `aside` does not compete with the others."""

    labels: tuple[str, ...]
    entries: tuple[Entry, ...]
    aside: bool = False


class Table(NamedTuple):
    """`labels` are the names of the first columns, `columns` those of the values."""

    title: str
    labels: tuple[str, ...]
    columns: tuple[str, ...]
    lines: tuple[Line, ...]


def terminal(table: Table) -> RichTable:
    """Return the text for the terminal. The best is marked with a star, and a data set is named once."""
    shown = RichTable(title=table.title or None, box=None, pad_edge=False, title_justify="left")
    for name in table.labels:
        shown.add_column(name, justify="left" if name in WORDS else "right")
    for name in table.columns:
        shown.add_column(name, justify="right", overflow="fold")
    before = ""
    for line in table.lines:
        first, *others = line.labels
        named = "" if table.labels[0] == "data" and first == before else first
        values = [f"{entry.text}*" if entry.best else entry.text for entry in line.entries]
        shown.add_row(named, *others, *values, style="dim" if line.aside else "")
        before = first
    return shown


def markdown(table: Table) -> list[str]:
    """Return the lines of the text in Markdown. The best is bold.

    >>> markdown(Table("", ("method",), ("trip",), (Line(("ours",), (Entry("0.1", True),)),)))
    ['| method | trip |', '|---|--:|', '| ours | **0.1** |']
    """
    rule = "".join("---|" if name in WORDS else "--:|" for name in (*table.labels, *table.columns))
    lines = [(*table.labels, *table.columns)]
    for line in table.lines:
        values = (f"**{entry.text}**" if entry.best else entry.text for entry in line.entries)
        lines.append((*line.labels, *values))
    head, *rest = (f"| {' | '.join(line)} |" for line in lines)
    return [head, f"|{rule}", *rest]
