"""The values of all metrics of synthetic sets, with their floors and controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ldptrace.evaluation.line_metrics import LINE_METRICS, RANDOM, LinePair
from ldptrace.evaluation.measured import Measured
from ldptrace.evaluation.metrics import CORRECTED, METRICS, Metric, Reference, of_pair
from ldptrace.evaluation.mobility import MOBILITY
from ldptrace.evaluation.stream_metrics import STREAM_METRICS
from ldptrace.models.time import DAY_PROFILE

# Of a set whose places and hours are drawn apart, and of one that leaves as any city's people do.
INDEPENDENT, PUBLIC_PROFILE = "independent", "public_profile"
# Metrics of the cells of a pair, those of any set, and all there are.
CELL_METRICS: dict[str, Metric] = METRICS | CORRECTED
LINES: dict[str, Metric] = LINE_METRICS | MOBILITY
SET_METRICS: dict[str, Metric] = METRICS | LINES | CORRECTED
# Metrics that a daily profile alone may do well in, and those that need place and hour together.
EVERYDAY = {name: LINES[name] for name in ("departure_error", "departure_emd")}
LINKED = {name: LINES[name] for name in ("spacetime_query_error", "period_origin_error")}
ALL_METRICS: dict[str, Metric] = SET_METRICS | STREAM_METRICS

Values = dict[str, float]


def lines(
    perfect: LinePair, other: Measured, metrics: Mapping[str, Metric] = LINES, *, fixes: bool = False
) -> Values:
    """Return the metrics of lines of a set beside the real one, with NaN for metrics that do not apply. `perfect` is
    the pair of the real set with itself; with `fixes`, the set is a bootstrap of the real fixes."""
    return of_pair(metrics, replace(perfect, synthetic=other, fixes=fixes))


def once(cells: Reference, perfect: LinePair, other: Measured) -> Values:
    """Return every metric of a set, with one draw of the queries."""
    return of_pair(CELL_METRICS, cells.pair(other.summary)) | lines(perfect, other)


def entries(
    cells: Reference,
    perfect: LinePair,
    again: Mapping[int, Measured],
    synthetic: Sequence[Measured],
    walks: Measured,
    controls: Sequence[Mapping[str, Measured]],
    repeat: int,
    rng: np.random.Generator,
) -> list[dict[str, dict[str, Any]]]:
    """Return the entry of every metric of every synthetic set, over `repeat` draws of the queries, with the same for a
    bootstrap of its size, `again`. Random walks and controls are measured once, and so are metrics that are not random.
    """
    real, blind = perfect.real, once(cells, perfect, walks)
    everyday = replace(real, traces=real.traces.leaving(DAY_PROFILE))
    profile = lines(perfect, everyday, EVERYDAY)
    beside = [
        {
            **{name: once(cells, perfect, control) for name, control in own.items()},
            PUBLIC_PROFILE: profile,
            INDEPENDENT: lines(perfect, replace(item, traces=item.traces.unlinked()), LINKED),
        }
        for own, item in zip(controls, synthetic, strict=True)
    ]
    scores = [[lines(perfect, item)] for item in synthetic]
    floors = {size: [lines(perfect, item, fixes=True)] for size, item in again.items()}
    for number in range(repeat):
        drawn, metrics = (cells, CELL_METRICS) if number == 0 else (cells.redrawn(rng), METRICS)
        for rounds, item in zip(scores, synthetic, strict=True):
            rounds.append(of_pair(metrics, drawn.pair(item.summary)))
        for size, rounds in floors.items():
            rounds.append(of_pair(metrics, drawn.bootstrap(size, rng)))
    for source in rng.spawn(repeat - 1):
        redrawn = LinePair.draw(real, source)
        for rounds, item in zip(scores, synthetic, strict=True):
            rounds.append(lines(redrawn, item, RANDOM))
        for size, rounds in floors.items():
            rounds.append(lines(redrawn, again[size], RANDOM, fixes=True))
    return [
        {
            name: metric.entry(
                *_mean_and_spread([each[name] for each in rounds if name in each]),
                *_mean_and_spread([each[name] for each in floors[len(item.summary)] if name in each]),
                blind[name],
                {control: each[name] for control, each in others.items() if name in each},
            )
            for name, metric in SET_METRICS.items()
        }
        for rounds, item, others in zip(scores, synthetic, beside, strict=True)
    ]


def over_seeds(given: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Combine the entries of a metric of several sets of one method: mean and spread over the sets."""
    values = [entry["value"] for entry in given]
    mean, std = _mean_and_spread(values)
    floors = [entry["floor"] for entry in given if entry["floor"] is not None]
    controls = [entry.get("controls", {}) for entry in given]
    means = {
        name: float(np.mean([each[name] for each in controls]))
        for name in controls[0]
        if all(name in each for each in controls)
    }
    entry = {key: item for key, item in given[0].items() if key != "controls"}
    entry |= {"value": mean, "std": std, "floor": float(np.mean(floors)) if floors else None, "seeds": values}
    return entry | {"controls": means} if means else entry


def _mean_and_spread(values: list[float]) -> tuple[float, float | None]:
    if len(values) == 1 or np.isnan(values).any():
        return float(np.mean(values)), None
    if min(values) == max(values):
        # The mean of equal numbers is that number, without rounding.
        return values[0], 0.0
    return float(np.mean(values)), float(np.std(values, ddof=1))
