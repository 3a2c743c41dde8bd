"""Plots of an experiment: one panel per data set and metric, published values beside the measured ones."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ldptrace_lab.reproduce import tables
from ldptrace_lab.reproduce.bench import PUBLISHED, Row
from ldptrace_lab.reproduce.experiments import Experiment

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    sets = list(dict.fromkeys(row.data for row in rows))
    metrics = [name for name in experiment.metrics if any(row.metric == name for row in rows)]
    bars = experiment.layout == "bars"
    if bars:
        panels = [(metric, "") for metric in metrics]
        columns = 3 if len(metrics) > 1 else 1
    else:
        panels = [(metric, data) for metric in metrics for data in sets]
        columns = len(sets) if len(sets) > 1 else min(3, len(metrics))
    lines = math.ceil(len(panels) / columns)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH * columns, HEIGHT * lines), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.subplots(lines, columns, squeeze=False)
        for axis in axes.flat[len(panels) :]:
            axis.set_visible(False)
        for axis, (metric, data) in zip(axes.flat, panels, strict=False):
            here = [row for row in rows if row.metric == metric and (bars or row.data == data)]
            if bars:
                _bars(axis, here, sets, _series(rows), log=experiment.log)
            else:
                _lines(axis, here, (marks or {}).get(data))
                if experiment.log_axis:
                    _logarithmic(axis, "x")
                axis.set_xlabel(experiment.axis)
            _name(axis, experiment, here, data)
        handles: dict[str, Any] = {}
        for axis in axes.flat:
            for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
                handles.setdefault(label, handle)
        figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=4, frameon=False)
        text = io.StringIO()
        figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def _lines(axis: Axes, rows: Sequence[Row], mark: float | None) -> None:
    """Draw a line for each series, with its spread."""
    for number, series in enumerate(dict.fromkeys((row.source, row.method) for row in rows)):
        points = sorted((row for row in rows if (row.source, row.method) == series), key=lambda row: row.x)
        x, mean, spread = (
            np.array([getattr(row, name) or 0.0 for row in points]) for name in ("x", "mean", "std")
        )
        printed, colour, label = _look(series)
        if printed:
            axis.plot(
                x, mean, "D--", color=colour, markerfacecolor="white", linewidth=1, markersize=4, label=label
            )
            continue
        # Later marks are smaller, so that lines which coincide are all seen.
        size, marker = max(3.0, 6.5 - number), MARKERS[tables.family(series[1]) % len(MARKERS)]
        axis.plot(
            x, mean, color=colour, marker=marker, linewidth=1.3, markersize=size, alpha=0.9, label=label
        )
        axis.fill_between(x, mean - spread, mean + spread, color=colour, alpha=0.15, linewidth=0)
    if mark is not None:
        axis.axvline(mark, color="#888", linestyle=":", linewidth=1)


def _look(series: tuple[str, str]) -> tuple[bool, str, str]:
    """Return whether a series is printed in the paper, its colour, and its name in the legend."""
    return series[0] == PUBLISHED, tables.colour(series[1]), tables.label(*series)


def _bars(
    axis: Axes, rows: Sequence[Row], sets: list[str], all_series: list[tuple[str, str]], *, log: bool
) -> None:
    """Draw a bar for each series and data set; on a logarithmic axis a mark, because the height of a bar means nothing
    where the axis has no zero."""
    for number, series in enumerate(all_series):
        own = [row for row in rows if (row.source, row.method) == series]
        if not own:
            continue
        printed, colour, label = _look(series)
        shift = 0.8 * (number + 0.5) / len(all_series) - 0.4
        places = [sets.index(row.data) + shift for row in own]
        mean, spread = np.array([row.mean for row in own]), np.array([row.std or 0.0 for row in own])
        if log:
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
        else:
            axis.bar(
                places,
                mean,
                0.8 * 0.92 / len(all_series),
                yerr=None if printed else spread,
                color="white" if printed else colour,
                edgecolor=colour,
                hatch="////" if printed else None,
                error_kw={"linewidth": 0.8},
                label=label,
            )
    axis.set_xticks(range(len(sets)), sets)
    axis.grid(visible=False, axis="x")


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
