"""The values of all metrics of synthetic sets, with their floors and controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.line_metrics import LINE_METRICS, RANDOM, LinePair, LineQueries, StreetMap
from ldptrace.evaluation.measured import Measured, Side
from ldptrace.evaluation.metrics import CORRECTED, METRICS, Metric, Reference, Value
from ldptrace.evaluation.mobility import MOBILITY
from ldptrace.evaluation.stream_metrics import STREAM_METRICS
from ldptrace.models.time import DAY_PROFILE
from ldptrace.protocol.grid import Grid

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


@dataclass(frozen=True, eq=False)
class References:
    """The real side of an evaluation: cells, lines, and a bootstrap of the lines for each size of a set."""

    real: Measured
    again: dict[int, Measured]
    cells: Reference
    queries: LineQueries

    @staticmethod
    def of(
        real: Trajectories,
        grid: Grid,
        sizes: Sequence[int],
        rng: np.random.Generator,
        streets: StreetMap | None = None,
    ) -> References:
        """Make the references in memory."""
        return References.from_measured(*Side.of(real, grid).measured(rng, streets, sizes=sizes), rng)

    @staticmethod
    def from_measured(real: Measured, again: Mapping[int, Measured], rng: np.random.Generator) -> References:
        """Make the references from the measured real set, and a bootstrap of it for each size of a synthetic set."""
        cells = Reference.of(real.summary, real.summary.grid, rng)
        return References(real, dict(again), cells, LineQueries.draw(rng, real.traces, real.summary.scale))

    def lines(
        self, other: Measured, *, fixes: bool = False, metrics: Mapping[str, Metric] = LINES
    ) -> dict[str, float]:
        """Return the metrics of lines, with NaN for metrics that do not apply."""
        real = self.real
        sides = (real.use, other.use, real.habits, other.habits)
        pair = LinePair(real.traces, other.traces, self.queries, fixes, *sides)
        return _values(metrics, pair)

    def once(self, other: Measured) -> dict[str, float]:
        """Return every metric of a set, with one draw of the queries."""
        return _values(CELL_METRICS, self.cells.pair(other.summary)) | self.lines(other)

    def values(
        self,
        synthetic: Sequence[Measured],
        walks: Measured,
        controls: Sequence[Mapping[str, Measured]],
        repeat: int,
        rng: np.random.Generator,
    ) -> list[dict[str, Value]]:
        """Return every metric of every set over `repeat` draws of the queries, and the same for a bootstrap; random
        walks are measured once. Metrics that are not random are computed once.
        """
        blind = self.once(walks)
        beside = [{name: self.once(control) for name, control in each.items()} for each in controls]
        everyday = replace(self.real, traces=self.real.traces.leaving(DAY_PROFILE))
        profile = self.lines(everyday, metrics=EVERYDAY)
        for others, item in zip(beside, synthetic, strict=True):
            others[PUBLIC_PROFILE] = profile
            apart = replace(item, traces=item.traces.unlinked())
            others[INDEPENDENT] = self.lines(apart, metrics=LINKED)
        scores = [[self.lines(item)] for item in synthetic]
        floors = {size: [self.lines(item, fixes=True)] for size, item in self.again.items()}
        for number in range(repeat):
            drawn, metrics = (self.cells, CELL_METRICS) if number == 0 else (self.cells.redrawn(rng), METRICS)
            for rounds, item in zip(scores, synthetic, strict=True):
                rounds.append(_values(metrics, drawn.pair(item.summary)))
            for size, rounds in floors.items():
                rounds.append(_values(metrics, drawn.bootstrap(size, rng)))
        for source in rng.spawn(repeat - 1):
            other = replace(self, queries=LineQueries.draw(source, self.real.traces, self.real.summary.scale))
            for rounds, item in zip(scores, synthetic, strict=True):
                rounds.append(other.lines(item, metrics=RANDOM))
            for size, rounds in floors.items():
                rounds.append(other.lines(self.again[size], fixes=True, metrics=RANDOM))
        return [
            {
                name: Value(
                    *_mean_and_spread([each[name] for each in rounds if name in each]),
                    *_mean_and_spread([each[name] for each in floors[len(item.summary)] if name in each]),
                    blind[name],
                    {control: each[name] for control, each in others.items() if name in each},
                )
                for name in SET_METRICS
            }
            for rounds, item, others in zip(scores, synthetic, beside, strict=True)
        ]


def over_seeds(values: Sequence[Mapping[str, Value]]) -> dict[str, Value]:
    """Combine the values of several sets of one method: mean and spread of every metric over the sets."""
    if len(values) == 1:
        return dict(values[0])
    return {name: _over_seeds([each[name] for each in values]) for name in values[0]}


def _over_seeds(values: list[Value]) -> Value:
    mean, std = _mean_and_spread([value.mean for value in values])
    controls = {
        name: float(np.mean([(value.controls or {})[name] for value in values]))
        for name in values[0].controls or {}
    }
    floors = [value.floor for value in values if value.floor is not None]
    return Value(
        mean,
        std,
        float(np.mean(floors)) if floors else None,
        values[0].floor_std,
        values[0].uniform,
        controls,
        tuple(value.mean for value in values),
    )


def _values(metrics: Mapping[str, Metric], pair: object) -> dict[str, float]:
    return {name: metric.of(pair) for name, metric in metrics.items()}


def _mean_and_spread(values: list[float]) -> tuple[float, float | None]:
    if len(values) == 1 or np.isnan(values).any():
        return float(np.mean(values)), None
    if min(values) == max(values):
        # The mean of equal numbers is that number, without rounding.
        return values[0], 0.0
    return float(np.mean(values)), float(np.std(values, ddof=1))
