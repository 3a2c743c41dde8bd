from __future__ import annotations

import io

from rich.console import Console

from ldptrace_lab.tables import Entry, Line, Table, markdown, terminal

LINES = (Line(("Porto", "1"), (Entry("0.2"),)), Line(("Porto", "2"), (Entry("0.1", best=True),)))
TABLE = Table("", ("data", "epsilon"), ("trip",), LINES)


def test_a_data_set_is_named_once_and_the_best_is_marked() -> None:
    console = Console(width=80, file=io.StringIO())
    console.print(terminal(TABLE))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert text.count("Porto") == 1
    assert "0.1*" in text
    assert "0.2*" not in text


def test_lines_of_markdown_have_every_label() -> None:
    assert markdown(TABLE) == [
        "| data | epsilon | trip |",
        "|---|--:|--:|",
        "| Porto | 1 | 0.2 |",
        "| Porto | 2 | **0.1** |",
    ]
