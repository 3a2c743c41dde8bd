"""One page of a comparison, complete in itself."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from ldptrace import __version__
from ldptrace.core.atomic import atomic_path
from ldptrace.pages.page import asset, template
from ldptrace_lab.compare.results import Comparison
from ldptrace_lab.compare.tables import csv_text, latex, markdown, tables


def write(found: Comparison, folder: Path) -> list[Path]:
    """Write `index.html`, and the same numbers as CSV, Markdown and LaTeX."""
    faces = {
        "results.csv": csv_text(found),
        "results.md": markdown(found),
        "results.tex": latex(found),
        "index.html": page(found),
    }
    for name, text in faces.items():
        with atomic_path(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return [folder / name for name in faces]


def page(found: Comparison) -> str:
    """Return the page as HTML."""
    return template("page.html", "ldptrace_lab.compare").render(
        style=Markup(asset("page.css", "ldptrace_lab.reproduce")),
        found=found,
        tables=tables(found),
        version=__version__,
    )
