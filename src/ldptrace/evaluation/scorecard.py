"""The scorecard of an evaluation, as plain data, JSON, CSV, LaTeX, a table, or one HTML page."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ldptrace import pages
from ldptrace.core.atomic import atomic_path
from ldptrace.core.extras import needed
from ldptrace.core.words import measure
from ldptrace.evaluation.attacks import KAPPAS
from ldptrace.evaluation.metrics import METRICS, Metric, Value
from ldptrace.evaluation.texts import csv_text, json_text, metric_rows, plain, tex_text
from ldptrace.evaluation.values import ALL_METRICS, over_seeds
from ldptrace.evaluation.verdict import best, judged, on_common_scale
from ldptrace.protocol.words import CURATOR, SHUFFLER

FORMAT, VERSION = "ldptrace-scorecard", 1
TITLES = {"reidentification": "re-identification", "outlier": "outlier"}


@dataclass(frozen=True, eq=False)
class SetResult:
    """All results of one synthetic set: its portrait and its attacks are plain data."""

    portrait: dict[str, Any]
    values: dict[str, Value]
    attacks: dict[str, Any]
    privacy: Mapping[str, Any] | None
    notes: tuple[str, ...]
    query_curve: tuple[float, ...] = ()
    # How it goes over time, where it was compared as a stream.
    course: Mapping[str, list[Any]] | None = None
    # Sets that this is the mean of.
    seeds: int = 1

    @property
    def name(self) -> str:
        return str(self.portrait["name"])

    @staticmethod
    def of_seeds(results: Sequence[SetResult]) -> list[SetResult]:
        """Combine the results with the same name, which are seeds of one method: means and spreads, with the pictures
        of the first."""
        named: dict[str, list[SetResult]] = {}
        for result in results:
            named.setdefault(result.name, []).append(result)
        return [_over_seeds(same) if len(same) > 1 else same[0] for same in named.values()]


def _over_seeds(results: list[SetResult]) -> SetResult:
    first = results[0]
    return SetResult(
        first.portrait,
        over_seeds([item.values for item in results]),
        {name: _mean_attack([item.attacks[name] for item in results]) for name in first.attacks},
        first.privacy,
        tuple(dict.fromkeys(said for item in results for said in item.notes)),
        tuple(np.mean([item.query_curve for item in results], axis=0).tolist()),
        first.course,
        len(results),
    )


def _mean_attack(attacks: list[dict[str, Any]]) -> dict[str, Any]:
    hidden = [item["synthetic"] for item in attacks]
    ratios = np.mean([item["resilience"] for item in hidden], axis=0)
    attacked = round(sum(item["attacked"] for item in hidden) / len(hidden))
    return attacks[0] | {"synthetic": {"attacked": attacked, "resilience": ratios.tolist()}}


def value_document(metric: Metric, value: Value) -> dict[str, Any]:
    """Return a value as plain data, with the description of its metric."""
    controls = {name: number for name, number in (value.controls or {}).items() if not math.isnan(number)}
    return {
        "value": value.mean,
        "goal": metric.goal,
        **{name: getattr(value, name) for name in ("std", "floor", "floor_std", "uniform")},
        **{name: getattr(metric, name) for name in ("title", "level", "range", "unit", "section", "meaning")},
        **({"seeds": list(value.seeds)} if value.seeds else {}),
        **({"controls": controls} if controls else {}),
        **({"corrects": metric.corrects} if metric.corrects else {}),
    }


def attack_table(results: Mapping[str, Mapping[str, Any]]) -> Table:
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
        attacked = [attacks[name] for attacks in results.values()]
        rows = [(label, item["synthetic"]) for label, item in zip(results, attacked, strict=True)]
        rows += [
            ("the other real trips", attacked[0]["fresh_real"]),
            ("uniform random walks", attacked[0]["uniform"]),
        ]
        for number, (label, one) in enumerate(rows):
            ratios = measure(one["resilience"][0]), measure(one["resilience"][-1])
            table.add_row(title if number == 0 else "", f"{one['attacked']:,}", *ratios, label)
    return table


@dataclass(frozen=True, eq=False, repr=False)
class Scorecard:
    """The comparison of synthetic sets with a real set, by metrics and attacks.

    Do not publish a scorecard, because it is computed from real trips without noise. A printed scorecard is a table. In
    a notebook, a summary above the table says what the synthetic sets are good for.
    """

    sets: tuple[SetResult, ...]
    # What was compared and how, with notes for the reader.
    evaluation: dict[str, Any]
    # What pages draw besides the portraits of the sets: the real set, the query error of a perfect set by the size of
    # the squares, the borders of the buckets of histograms, the controls, the streets, frequent patterns, the stream.
    pictures: dict[str, Any]

    def __repr__(self) -> str:
        console = Console(file=io.StringIO(), width=79 + 20 * len(self.sets), highlight=False)
        console.print(self.table())
        text: str = console.file.getvalue()  # type: ignore[attr-defined]
        return "\n".join(line.rstrip() for line in text.splitlines())

    def _repr_html_(self) -> str:
        return pages.summary(judged(self.document()))

    def __getitem__(self, name: str) -> float:
        """Return the value of a metric for the first synthetic set, for example `card["density_error"]`."""
        if name not in self.measured:
            raise KeyError(f"no metric {name!r}; there are {', '.join(self.measured)}")
        return self.sets[0].values[name].mean

    @cached_property
    def measured(self) -> dict[str, Metric]:
        """The metrics of the scorecard, by name: the nine metrics of the LDPTrace paper, and all other metrics that
        could be computed for these sets."""
        return {
            name: metric
            for name, metric in ALL_METRICS.items()
            if name in METRICS
            or any(name in item.values and not math.isnan(item.values[name].mean) for item in self.sets)
        }

    def best(self, name: str) -> set[int]:
        """Return the indices of the synthetic sets with the best value of a metric; the empty set if there is only
        one synthetic set."""
        marked = best([(item["metrics"] | item["corrected"])[name] for item in self._fair["sets"]])
        return {number for number, is_best in enumerate(marked) if is_best}

    @cached_property
    def _fair(self) -> dict[str, Any]:
        return on_common_scale(self.document())

    def verdicts(self) -> list[str]:
        """Return one sentence for each synthetic set: how similar it is to the real set, and what it is not good enough
        for."""
        return list(self._fair["verdicts"])

    def remarks(self) -> list[str]:
        """Return a list of sentences that warn the reader, for example of bounds that were taken from the data."""
        origin = self.evaluation["bounds_from"]
        remarks = [f"the bounds were taken from {origin}"] if origin != "given" else []
        remarks += self.evaluation["notes"]
        promised = {item.name: str((item.privacy or {}).get("epsilon")) for item in self.sets}
        if len({epsilon for epsilon in promised.values() if epsilon != "None"}) > 1:
            stated = ", ".join(f"{name} {epsilon}" for name, epsilon in promised.items() if epsilon != "None")
            remarks.append(f"the sets promise different epsilons, so compare them with care: {stated}")
        for item in self.sets:
            prefix = f"{item.name}: " if len(self.sets) > 1 else ""
            remarks += [prefix + said for said in (*_kind(item.privacy), *item.notes)]
        return remarks

    def document(self) -> dict[str, Any]:
        """Return the scorecard as plain data, with None for undefined values.

        The keys `metrics`, `attacks` and `privacy` describe the first synthetic set, and the key `sets` lists all sets.
        """
        sets = [self._set_document(item) for item in self.sets]
        document: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            **{name: sets[0][name] for name in ("metrics", "corrected", "attacks", "privacy")},
            "sets": sets,
            "evaluation": self.evaluation,
            **self.pictures,
        }
        document = plain(document)
        judgement = judged(document)
        return document | {name: judgement[name] for name in ("verdicts", "uses")}

    def _set_document(self, item: SetResult) -> dict[str, Any]:
        values = {name: value_document(metric, item.values[name]) for name, metric in self.measured.items()}
        return {
            "name": item.name,
            "seeds": item.seeds,
            "metrics": {name: value for name, value in values.items() if "corrects" not in value},
            "corrected": {name: value for name, value in values.items() if "corrects" in value},
            "attacks": item.attacks,
            "privacy": item.privacy,
            "notes": list(item.notes),
            "query_curve": list(item.query_curve),
            "course": item.course,
            "portrait": item.portrait,
        }

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the scorecard as JSON, with null for undefined values and without the real trips that the page shows,
        and write it to `path` if a path is given."""
        document = self.document()
        return _written(json_text(document | {"real": document["real"] | {"samples": []}}), path)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row for each metric of each set."""
        return needed("pandas").DataFrame(metric_rows(self.document()))

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the rows of `to_frame` as CSV, and write them to `path` if a path is given."""
        return _written(csv_text(metric_rows(self.document())), path)

    def to_tex(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the metrics as a LaTeX table (package booktabs), and write it to `path` if a path is given."""
        return _written(tex_text(self.document()), path)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the scorecard as one self-contained HTML page, and write it to `path` if a path is given."""
        return _written(pages.page(judged(self.document())), path)

    def table(self, *, corrected: bool = False) -> Table:
        """Return the metrics as a table for the terminal, with a star at the best value of each metric. With
        `corrected=True`, the table also has corrected variants of the paper's metrics, which the page "Evaluation" of
        the documentation explains."""
        table = Table(title=None, box=None, pad_edge=False)
        table.add_column("metric")
        table.add_column("goal", justify="center")
        table.add_column("perfect", justify="right")
        for item in self.sets:
            table.add_column(item.name, justify="right", overflow="fold")
        level = "global"
        for name, metric in self.measured.items():
            if metric.corrects and not corrected:
                continue
            if metric.level != level and metric.level in HEADINGS and not metric.corrects:
                table.add_row(Text(HEADINGS[metric.level], style="bold"))
            level = metric.level
            top = self.best(name)
            floors = {item.values[name].floor for item in self.sets}
            cells = [
                _cell(item.values[name], metric.unit, marked=number in top, stars=len(self.sets) > 1)
                for number, item in enumerate(self.sets)
            ]
            table.add_row(
                Text(metric.title, style="dim" if metric.corrects else ""),
                "↓" if metric.goal == "min" else "↑",
                Text(" ".join(measure(floor, metric.unit) for floor in floors), style="dim"),
                *cells,
            )
        return table

    def attack_table(self) -> Table:
        """Return the results of the attacks as a table for the terminal."""
        return attack_table({item.name: item.attacks for item in self.sets})


HEADINGS = {
    "street": "metrics on streets",
    "time": "metrics of time",
    "mobility": "mobility metrics",
    "difftraj": "DiffTraj's metrics",
    "stream": "tick by tick, as a stream",
}


def _kind(privacy: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return the notes that a set is an experiment and must not be published, and whom one must trust for its promise,
    if this is so."""
    stated = privacy or {}
    notes = [str(stated["experiment"])] if stated.get("experiment") else []
    if stated.get("trust") in (SHUFFLER, CURATOR):
        delta = "" if stated.get("delta") in (None, "0") else f" and delta {float(stated['delta']):g}"
        notes.append(
            f"epsilon {stated['epsilon']}{delta}: central, if the {stated['trust']} is trusted; neighbouring "
            f"collections: {stated.get('adjacency')}"
        )
    return tuple(notes)


def _cell(value: Value, unit: str, *, marked: bool, stars: bool) -> Text:
    spread = f" ±{measure(value.std, unit)}" if value.std else ""
    text = Text(measure(value.mean, unit), style="bold green" if marked else "")
    text.append(spread, style="dim not bold")
    if stars:
        text.append(" *" if marked else "  ")
    return text


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    """Return the text, and write it to a file if a path is given."""
    if path is not None:
        with atomic_path(path) as temporary:
            temporary.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    return text
