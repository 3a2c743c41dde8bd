"""One page of one experiment or of several, complete in itself."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from ldptrace.core.atomic import atomic_path
from ldptrace_lab.reproduce.figures import legend
from ldptrace_lab.reproduce.runs import Report
from ldptrace_lab.reproduce.tables import side_by_side

FINDING = "docs/explanation/published-numbers.md"


def write_page(reports: Sequence[Report], path: Path) -> None:
    """Write the page of the given experiments."""
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string(_text("page.html"))
    setup = reports[0].setup
    text = template.render(
        style=Markup(_text("page.css")),
        reports=[
            {
                "experiment": report.experiment,
                "remarks": report.remarks,
                "plot": Markup(_inline(report.plot)),
                "legend": legend(report.rows),
                "table": side_by_side(report.experiment, report.rows),
            }
            for report in reports
        ],
        sets=list(
            dict.fromkeys(f"{data.title} ({data.key})" for report in reports for data in report.setup.sets)
        ),
        scale=setup.scale.name,
        repeats=setup.repeats,
        seed=setup.seed,
        finding=FINDING,
    )
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _inline(svg: str) -> str:
    """Return the drawing without the header of a file of its own."""
    return svg[svg.index("<svg") :]


def _text(name: str) -> str:
    return (files("ldptrace_lab.reproduce") / name).read_text(encoding="utf-8")
