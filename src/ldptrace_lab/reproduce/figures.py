"""Plots of an experiment: one panel per data set and metric, published values beside the measured ones."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ldptrace_lab.reproduce import tables
from ldptrace_lab.reproduce.experiments import Experiment
from ldptrace_lab.reproduce.results import PUBLISHED, Row

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
    sets = list(dict.fromkeys(row.data for row in rows))
    metrics = [name for name in experiment.metrics if any(row.metric == name for row in rows)]
    panels = [(metric, data) for metric in metrics for data in sets]
    columns = len(sets) if len(sets) > 1 else min(3, len(metrics))
    figure, axes = _panels(math.ceil(len(panels) / columns), columns)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis, (metric, data) in zip(axes.flat, panels, strict=False):
        here = [row for row in rows if row.metric == metric and row.data == data]
        for number, series in enumerate(dict.fromkeys((row.source, row.method) for row in here)):
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
    x, mean, spread = (
        np.array([getattr(row, name) or 0.0 for row in points]) for name in ("x", "mean", "std")
    )
    printed, colour, label = _look(points[0])
    if printed:
        axis.plot(
            x, mean, "D--", color=colour, markerfacecolor="white", linewidth=1, markersize=4, label=label
        )
        return
    marker = MARKERS[tables.family(points[0].method) % len(MARKERS)]
    axis.plot(x, mean, color=colour, marker=marker, linewidth=1.3, markersize=size, alpha=0.9, label=label)
    axis.fill_between(x, mean - spread, mean + spread, color=colour, alpha=0.15, linewidth=0)


def _look(row: Row) -> tuple[bool, str, str]:
    """Return whether the series of a row is printed in the paper, its colour, and its name in the legend."""
    return row.source == PUBLISHED, tables.colour(row.method), tables.label(row.source, row.method)


def _bars(experiment: Experiment, rows: Sequence[Row]) -> Figure:
    sets = list(dict.fromkeys(row.data for row in rows))
    metrics = [name for name in experiment.metrics if any(row.metric == name for row in rows)]
    series = _series(rows)
    columns = 3 if len(metrics) > 1 else 1
    figure, axes = _panels(math.ceil(len(metrics) / columns), columns)
    for panel, axis in enumerate(axes.flat):
        if panel >= len(metrics):
            axis.set_visible(False)
            continue
        here = [row for row in rows if row.metric == metrics[panel]]
        for number, pair in enumerate(series):
            own = [row for row in here if (row.source, row.method) == pair]
            shift = 0.8 * (number + 0.5) / len(series) - 0.4
            places = [sets.index(row.data) + shift for row in own]
            if own and experiment.log:
                # The height of a bar means nothing where the axis has no zero.
                _dots(axis, places, own)
            elif own:
                _bar(axis, places, own, 0.8 * 0.92 / len(series))
        axis.set_xticks(range(len(sets)), sets)
        axis.grid(visible=False, axis="x")
        _name(axis, experiment, here)
    _legend(figure, axes)
    return figure


def _bar(axis: Axes, places: Sequence[float], own: Sequence[Row], width: float) -> None:
    """Draw a bar for each data set."""
    printed, colour, label = _look(own[0])
    axis.bar(
        places,
        [row.mean for row in own],
        width,
        yerr=None if printed else [row.std or 0.0 for row in own],
        color="white" if printed else colour,
        edgecolor=colour,
        hatch="////" if printed else None,
        error_kw={"linewidth": 0.8},
        label=label,
    )


def _dots(axis: Axes, places: Sequence[float], own: Sequence[Row]) -> None:
    """Draw a mark for each data set, for logarithmic axes."""
    printed, colour, label = _look(own[0])
    mean, spread = np.array([row.mean for row in own]), np.array([row.std or 0.0 for row in own])
    axis.errorbar(
        places,
        mean,
        # A spread beyond the mean would reach below zero, where the axis does not go.
        yerr=None if printed else np.stack((np.minimum(spread, 0.9 * mean), spread)),
        fmt="D" if printed else "o",
        color=colour,
        markerfacecolor="white" if printed else colour,
        markersize=5,
        linewidth=0.8,
        label=label,
    )


def _series(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Return source and method of each series; a published one is right of the measured one that it belongs to."""
    series = dict.fromkeys((row.source, row.method) for row in rows)
    return sorted(series, key=lambda pair: (tables.family(pair[1]), pair[0] == PUBLISHED))


def legend(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return what each colour stands for, and whether it is a value that the paper prints."""
    return [
        {"label": tables.label(*pair), "colour": tables.colour(pair[1]), "printed": pair[0] == PUBLISHED}
        for pair in _series(rows)
    ]


def _panels(lines: int, columns: int) -> tuple[Figure, Any]:
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH * columns, HEIGHT * lines), layout="constrained")
    FigureCanvasSVG(figure)
    return figure, figure.subplots(lines, columns, squeeze=False)


def _name(axis: Axes, experiment: Experiment, rows: Sequence[Row], data: str = "") -> None:
    """Set title and scales of a panel, which shows these rows."""
    title = tables.title_of(rows[0].metric)
    axis.set_title(f"{data}: {title}" if data else title, fontsize=8)
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
