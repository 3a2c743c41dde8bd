"""The results of one synthetic set: metrics, attacks and pictures; and the combined result of several seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from rich.table import Table

from ldptrace.core.words import measure
from ldptrace.evaluation.attacks import KAPPAS, Resilience
from ldptrace.evaluation.figures import Figures
from ldptrace.evaluation.metrics import Metric, Value
from ldptrace.evaluation.values import over_seeds

TITLES = {"reidentification": "re-identification", "outlier": "outlier"}


@dataclass(frozen=True)
class Attack:
    """The result of an attack on a synthetic set, on other real data, and on uniform random walks."""

    synthetic: Resilience
    fresh_real: Resilience
    uniform: Resilience
    threshold: float


@dataclass(frozen=True, eq=False)
class SetResult:
    """All results of one synthetic set."""

    figures: Figures
    values: dict[str, Value]
    attacks: dict[str, Attack]
    privacy: Mapping[str, Any] | None
    notes: tuple[str, ...]
    query_curve: tuple[float, ...] = ()
    # How it goes over time, where it was compared as a stream.
    course: Mapping[str, list[Any]] | None = None
    # Sets that this is the mean of.
    seeds: int = 1

    @property
    def name(self) -> str:
        return self.figures.name

    @staticmethod
    def of_seeds(results: Sequence[SetResult]) -> list[SetResult]:
        """Combine the results with the same name, which are seeds of one method: means and spreads, with the pictures
        of the first."""
        named: dict[str, list[SetResult]] = {}
        for result in results:
            named.setdefault(result.name, []).append(result)
        return [_over_seeds(found) if len(found) > 1 else found[0] for found in named.values()]


def _over_seeds(found: list[SetResult]) -> SetResult:
    first = found[0]
    return SetResult(
        first.figures,
        over_seeds([item.values for item in found]),
        {name: _mean_attack([item.attacks[name] for item in found]) for name in first.attacks},
        first.privacy,
        tuple(dict.fromkeys(said for item in found for said in item.notes)),
        tuple(float(value) for value in np.mean([item.query_curve for item in found], axis=0)),
        first.course,
        len(found),
    )


def _mean_attack(found: list[Attack]) -> Attack:
    ratios = np.mean([item.synthetic.ratios for item in found], axis=0)
    attacked = round(sum(item.synthetic.attacked for item in found) / len(found))
    return replace(found[0], synthetic=Resilience(attacked, tuple(float(value) for value in ratios)))


def value_document(metric: Metric, value: Value) -> dict[str, Any]:
    """Return a value as plain data, with the description of its metric."""
    controls = {name: found for name, found in (value.controls or {}).items() if not math.isnan(found)}
    return {
        "value": value.mean,
        "goal": metric.goal,
        **{name: getattr(value, name) for name in ("std", "floor", "floor_std", "uniform")},
        **{name: getattr(metric, name) for name in ("title", "level", "range", "unit", "section", "meaning")},
        **({"seeds": list(value.seeds)} if value.seeds else {}),
        **({"controls": controls} if controls else {}),
        **({"corrects": metric.corrects} if metric.corrects else {}),
    }


def attacks_document(attacks: Mapping[str, Attack]) -> dict[str, Any]:
    """Return both attacks as plain data."""
    found: dict[str, Any] = {}
    for name, attack in attacks.items():
        found[name] = {"kappa": list(KAPPAS), "threshold": attack.threshold}
        for whom in ("synthetic", "fresh_real", "uniform"):
            hidden: Resilience = getattr(attack, whom)
            found[name][whom] = {"attacked": hidden.attacked, "resilience": list(hidden.ratios)}
    return found


def attack_table(results: Mapping[str, Mapping[str, Attack]]) -> Table:
    """Return a table with the share of attacked trajectories that were not found, for each set, other real data and
    random walks. 1 means that no trajectory was found.
    """
    table = Table(title=None, box=None, pad_edge=False)
    table.add_column("stay hidden from")
    table.add_column("attacked", justify="right")
    for kappa in (KAPPAS[0], KAPPAS[-1]):
        table.add_column(f"↑ κ = {kappa}", justify="right")
    table.add_column("set")
    for name, title in TITLES.items():
        found = [attacks[name] for attacks in results.values()]
        rows = [(label, item.synthetic) for label, item in zip(results, found, strict=True)]
        rows += [("the other real trips", found[0].fresh_real), ("uniform random walks", found[0].uniform)]
        for number, (label, one) in enumerate(rows):
            ratios = measure(one.ratios[0]), measure(one.ratios[-1])
            table.add_row(title if number == 0 else "", f"{one.attacked:,}", *ratios, label)
    return table
