"""One page of one experiment or of several, complete in itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from ldptrace.core.atomic import atomic_path
from ldptrace.pages.page import asset, template
from ldptrace_lab.reproduce.figures import legend
from ldptrace_lab.reproduce.runs import Report
from ldptrace_lab.reproduce.tables import side_by_side

FINDING = "docs/explanation/published-numbers.md"


def write_page(reports: Sequence[Report], path: Path) -> None:
    """Write the page of the given experiments."""
    setup = reports[0].setup
    text = template("page.html", "ldptrace_lab.reproduce").render(
        style=Markup(asset("page.css", "ldptrace_lab.reproduce")),
        reports=[
            {
                "experiment": report.experiment,
                "remarks": report.remarks,
                # Without the header of a file of its own.
                "plot": Markup(report.plot[report.plot.index("<svg") :]),
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
