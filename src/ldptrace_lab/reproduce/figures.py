"""Plots of an experiment: one panel per data set and metric, published values beside the measured ones."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ldptrace.evaluation.metrics import METRICS
from ldptrace_lab.reproduce.experiments import Experiment
from ldptrace_lab.reproduce.results import PUBLISHED, Row
from ldptrace_lab.reproduce.tables import TITLES, UNITS, family
from ldptrace_lab.reproduce.tables import colour as colour_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 3.5, 2.5
MARKERS = "osv^<>pPX*hd"
STYLE: Any = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "svg.fonttype": "none",
    "svg.hashsalt": "ldptrace",
}


def draw(experiment: Experiment, rows: Sequence[Row], marks: Mapping[str, float] | None = None) -> str:
    """Return the plot as SVG text, with a dotted line at the mark of each data set that has one."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        figure = (
            _bars(experiment, rows) if experiment.layout == "bars" else _lines(experiment, rows, marks or {})
        )
        text = io.StringIO()
        figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def _lines(experiment: Experiment, rows: Sequence[Row], marks: Mapping[str, float]) -> Figure:
    sets = _different(row.data for row in rows)
    metrics = [name for name in experiment.metrics if any(row.metric == name for row in rows)]
    panels = [(metric, data) for metric in metrics for data in sets]
    columns = len(sets) if len(sets) > 1 else min(3, len(metrics))
    figure, axes = _panels(math.ceil(len(panels) / columns), columns)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis, (metric, data) in zip(axes.flat, panels, strict=False):
        here = [row for row in rows if row.metric == metric and row.data == data]
        for number, series in enumerate(_different((row.source, row.method) for row in here)):
            own = [row for row in here if (row.source, row.method) == series]
            # Later marks are smaller, so that lines which coincide are all seen.
            _line(axis, sorted(own, key=lambda row: row.x), max(3.0, 6.5 - number))
        if data in marks:
            axis.axvline(marks[data], color="#888", linestyle=":", linewidth=1)
        _name(axis, experiment, here, data)
        if experiment.log_axis:
            _logarithmic(axis, "x")
        axis.set_xlabel(experiment.axis)
    _legend(figure, axes)
    return figure


def _line(axis: Axes, points: list[Row], size: float) -> None:
    x, mean = np.array([row.x for row in points]), np.array([row.mean for row in points])
    printed = points[0].source == PUBLISHED
    colour = colour_of(points[0].method)
    label = _label(points[0])
    if printed:
        axis.plot(
            x, mean, "D--", color=colour, markerfacecolor="white", linewidth=1, markersize=4, label=label
        )
        return
    marker = MARKERS[family(points[0].method) % len(MARKERS)]
    axis.plot(x, mean, color=colour, marker=marker, linewidth=1.3, markersize=size, alpha=0.9, label=label)
    spread = np.array([row.std or 0.0 for row in points])
    axis.fill_between(x, mean - spread, mean + spread, color=colour, alpha=0.15, linewidth=0)


def _bars(experiment: Experiment, rows: Sequence[Row]) -> Figure:
    sets = _different(row.data for row in rows)
    metrics = [name for name in experiment.metrics if any(row.metric == name for row in rows)]
    series = _different((row.source, row.method) for row in rows)
    # A published bar stands right of the measured one that it belongs to.
    series.sort(key=lambda pair: (family(pair[1]), pair[0] == PUBLISHED))
    columns = 3 if len(metrics) > 1 else 1
    figure, axes = _panels(math.ceil(len(metrics) / columns), columns)
    for panel, axis in enumerate(axes.flat):
        if panel >= len(metrics):
            axis.set_visible(False)
            continue
        for number, pair in enumerate(series):
            own = {
                row.data: row
                for row in rows
                if row.metric == metrics[panel] and (row.source, row.method) == pair
            }
            if own:
                # The height of a bar means nothing where the axis has no zero.
                mark = _dots if experiment.log else _bar
                mark(axis, [own.get(data) for data in sets], number, len(series))
        axis.set_xticks(range(len(sets)), sets)
        axis.grid(visible=False, axis="x")
        _name(axis, experiment, [row for row in rows if row.metric == metrics[panel]])
    _legend(figure, axes)
    return figure


def _bar(axis: Axes, own: list[Row | None], number: int, count: int) -> None:
    width = 0.8 / count
    known = [(place, row) for place, row in enumerate(own) if row is not None]
    places = [place - 0.4 + width * (number + 0.5) for place, _ in known]
    first = known[0][1]
    printed = first.source == PUBLISHED
    axis.bar(
        places,
        [row.mean for _, row in known],
        width * 0.92,
        yerr=None if printed else [row.std or 0.0 for _, row in known],
        color="white" if printed else colour_of(first.method),
        edgecolor=colour_of(first.method),
        hatch="////" if printed else None,
        error_kw={"linewidth": 0.8},
        label=_label(first),
    )


def _dots(axis: Axes, own: list[Row | None], number: int, count: int) -> None:
    """Draw a mark for each data set, for logarithmic axes."""
    width = 0.8 / count
    known = [(place, row) for place, row in enumerate(own) if row is not None]
    first = known[0][1]
    printed = first.source == PUBLISHED
    colour = colour_of(first.method)
    mean = np.array([row.mean for _, row in known])
    spread = np.array([row.std or 0.0 for _, row in known])
    axis.errorbar(
        [place - 0.4 + width * (number + 0.5) for place, _ in known],
        mean,
        # A spread beyond the mean would reach below zero, where the axis does not go.
        yerr=None if printed else np.stack((np.minimum(spread, 0.9 * mean), spread)),
        fmt="D" if printed else "o",
        color=colour,
        markerfacecolor="white" if printed else colour,
        markersize=5,
        linewidth=0.8,
        label=_label(first),
    )


def legend(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return what each colour stands for, and whether it is a value that the paper prints."""
    series = _different((row.source, row.method) for row in rows)
    series.sort(key=lambda pair: (family(pair[1]), pair[0] == PUBLISHED))
    first = {(row.source, row.method): row for row in reversed(rows)}
    return [
        {
            "label": _label(first[pair]),
            "colour": colour_of(pair[1]),
            "printed": pair[0] == PUBLISHED,
        }
        for pair in series
    ]


def _panels(lines: int, columns: int) -> tuple[Figure, Any]:
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH * columns, HEIGHT * lines), layout="constrained")
    FigureCanvasSVG(figure)
    return figure, figure.subplots(lines, columns, squeeze=False)


def _name(axis: Axes, experiment: Experiment, rows: Sequence[Row], data: str = "") -> None:
    """Set title and scales of a panel, which shows these rows."""
    metric = rows[0].metric
    title = METRICS[metric].title if metric in METRICS else UNITS.get(metric, metric)
    better = {"min": " ↓", "max": " ↑"}[METRICS[metric].goal] if metric in METRICS else ""
    axis.set_title(f"{data}: {title}{better}" if data else title + better, fontsize=8)
    means = [row.mean for row in rows if math.isfinite(row.mean)]
    if experiment.log and any(mean > 0 for mean in means):
        _logarithmic(axis, "y")
    elif means and min(means) >= 0 and max(means) > 0:
        # Room for the spread, but a wild one must not squeeze all the rest.
        reach = max(row.mean + (row.std or 0.0) for row in rows if math.isfinite(row.mean))
        axis.set_ylim(0, 1.05 * min(reach, 1.5 * max(means)))


def _logarithmic(axis: Axes, which: Literal["x", "y"]) -> None:
    """Set a logarithmic scale with plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set(**{f"{which}scale": "log"})
    ticks = axis.xaxis if which == "x" else axis.yaxis
    low, high = axis.get_xlim() if which == "x" else axis.get_ylim()
    ticks.set_major_locator(LogLocator(subs=(1.0,) if high / low > 200 else (1.0, 2.0, 5.0)))
    ticks.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    ticks.set_minor_formatter(NullFormatter())


def _legend(figure: Figure, axes: Any) -> None:
    handles: dict[str, Any] = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=4, frameon=False)


def _label(row: Row) -> str:
    name = TITLES.get(row.method, row.method)
    return f"{name}, published" if row.source == PUBLISHED else name


def _different(values: Any) -> list[Any]:
    return list(dict.fromkeys(values))
