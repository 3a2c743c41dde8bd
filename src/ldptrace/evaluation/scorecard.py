"""The scorecard of an evaluation, as plain data, JSON, CSV, LaTeX, a table, or one HTML page."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Mapping, Sequence
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
from ldptrace.evaluation.metrics import METRICS
from ldptrace.evaluation.texts import Document, csv_text, json_text, metric_rows, plain, tex_text
from ldptrace.evaluation.values import ALL_METRICS, over_seeds
from ldptrace.evaluation.verdict import best, judged, on_common_scale
from ldptrace.protocol.words import CURATOR, SHUFFLER

FORMAT, VERSION = "ldptrace-scorecard", 1
TITLES = {"reidentification": "re-identification", "outlier": "outlier"}
HEADINGS = {
    "street": "metrics on streets",
    "time": "metrics of time",
    "mobility": "mobility metrics",
    "difftraj": "DiffTraj's metrics",
    "stream": "tick by tick, as a stream",
}


def merged(results: Sequence[Document]) -> list[Document]:
    """Combine the results of sets with the same name, which are seeds of one method: means and spreads, with the
    pictures of the first."""
    named: dict[str, list[Document]] = {}
    for result in results:
        named.setdefault(result["name"], []).append(result)
    return [_over_seeds(same) if len(same) > 1 else same[0] for same in named.values()]


def _over_seeds(results: list[Document]) -> Document:
    first = results[0]
    return first | {
        "seeds": len(results),
        "values": {name: over_seeds([item["values"][name] for item in results]) for name in first["values"]},
        "attacks": {
            name: _mean_attack([item["attacks"][name] for item in results]) for name in first["attacks"]
        },
        "notes": list(dict.fromkeys(said for item in results for said in item["notes"])),
        "query_curve": np.mean([item["query_curve"] for item in results], axis=0).tolist(),
    }


def _mean_attack(attacks: list[Document]) -> Document:
    hidden = [item["synthetic"] for item in attacks]
    ratios = np.mean([item["resilience"] for item in hidden], axis=0)
    attacked = round(sum(item["attacked"] for item in hidden) / len(hidden))
    return attacks[0] | {"synthetic": {"attacked": attacked, "resilience": ratios.tolist()}}


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


class Scorecard:
    """The comparison of synthetic sets with a real set, by metrics and attacks.

    Do not publish a scorecard, because it is computed from real trips without noise. A printed scorecard is a table. In
    a notebook, a summary above the table says what the synthetic sets are good for.
    """

    def __init__(self, results: Sequence[Document], evaluation: Document, pictures: Document) -> None:
        """Make the scorecard of the results of all synthetic sets: plain data, with `values` for the entries of the
        metrics. `evaluation` says what was compared and how, and `pictures` what pages draw besides the sets."""
        sets = merged(results)
        measured = {
            name: metric
            for name, metric in ALL_METRICS.items()
            if name in METRICS or any(not math.isnan(_value(item["values"].get(name))) for item in sets)
        }
        for place, item in enumerate(sets):
            own = {name: value for name, value in item.items() if name != "values"}
            kinds: dict[str, Document] = {"metrics": {}, "corrected": {}}
            for name, metric in measured.items():
                kinds["corrected" if metric.corrects else "metrics"][name] = item["values"][name]
            sets[place] = own | kinds
        shown = ("metrics", "corrected", "attacks", "privacy")
        self._document = plain(
            {"format": FORMAT, "version": VERSION}
            | {name: sets[0][name] for name in shown}
            | {"sets": sets, "evaluation": evaluation}
            | pictures
        )
        judgement = judged(self._document)
        self._document |= {name: judgement[name] for name in ("verdicts", "uses")}

    def __repr__(self) -> str:
        console = Console(file=io.StringIO(), width=79 + 20 * len(self.sets), highlight=False)
        console.print(self.table())
        text: str = console.file.getvalue()  # type: ignore[attr-defined]
        return "\n".join(line.rstrip() for line in text.splitlines())

    def _repr_html_(self) -> str:
        return pages.summary(judged(self._document))

    def __getitem__(self, name: str) -> float:
        """Return the value of a metric for the first synthetic set, for example `card["density_error"]`."""
        if name not in self.measured:
            raise KeyError(f"no metric {name!r}; there are {', '.join(self.measured)}")
        return _value(self.measured[name])

    @property
    def sets(self) -> list[Document]:
        """The results of all synthetic sets, as in the document."""
        sets: list[Document] = self._document["sets"]
        return sets

    @property
    def measured(self) -> dict[str, Document]:
        """The values of the first synthetic set, by name: the nine metrics of the LDPTrace paper, and all other metrics
        that could be computed for these sets."""
        both = self._document["metrics"] | self._document["corrected"]
        return {name: both[name] for name in ALL_METRICS if name in both}

    def best(self, name: str) -> set[int]:
        """Return the indices of the synthetic sets with the best value of a metric; the empty set if there is only
        one synthetic set."""
        fair = on_common_scale(self._document)["sets"]
        marked = best([(item["metrics"] | item["corrected"])[name] for item in fair])
        return {number for number, is_best in enumerate(marked) if is_best}

    def verdicts(self) -> list[str]:
        """Return one sentence for each synthetic set: how similar it is to the real set, and what it is not good enough
        for."""
        return list(self._document["verdicts"])

    def remarks(self) -> list[str]:
        """Return a list of sentences that warn the reader, for example of bounds that were taken from the data."""
        evaluation = self._document["evaluation"]
        origin = evaluation["bounds_from"]
        remarks = [f"the bounds were taken from {origin}"] if origin != "given" else []
        remarks += evaluation["notes"]
        promised = {item["name"]: (item["privacy"] or {}).get("epsilon") for item in self.sets}
        stated = {name: str(epsilon) for name, epsilon in promised.items() if epsilon is not None}
        if len(set(stated.values())) > 1:
            each = ", ".join(f"{name} {epsilon}" for name, epsilon in stated.items())
            remarks.append(f"the sets promise different epsilons, so compare them with care: {each}")
        for item in self.sets:
            prefix = f"{item['name']}: " if len(self.sets) > 1 else ""
            remarks += [prefix + said for said in (*_kind(item["privacy"] or {}), *item["notes"])]
        return remarks

    def document(self) -> Document:
        """Return a copy of the scorecard as plain data, with None for undefined values.

        The keys `metrics`, `attacks` and `privacy` describe the first synthetic set, and the key `sets` lists all sets.
        """
        document: Document = plain(self._document)
        return document

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the scorecard as JSON, with null for undefined values and without the real trips that the page shows,
        and write it to `path` if a path is given."""
        document = self._document
        return _written(json_text(document | {"real": document["real"] | {"samples": []}}), path)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row for each metric of each set."""
        return needed("pandas").DataFrame(metric_rows(self._document))

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the rows of `to_frame` as CSV, and write them to `path` if a path is given."""
        return _written(csv_text(metric_rows(self._document)), path)

    def to_tex(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the metrics as a LaTeX table (package booktabs), and write it to `path` if a path is given."""
        return _written(tex_text(self._document), path)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the scorecard as one self-contained HTML page, and write it to `path` if a path is given."""
        return _written(pages.page(judged(self._document)), path)

    def table(self, *, corrected: bool = False) -> Table:
        """Return the metrics as a table for the terminal, with a star at the best value of each metric. With
        `corrected=True`, the table also has corrected variants of the paper's metrics, which the page "Evaluation" of
        the documentation explains."""
        table = Table(title=None, box=None, pad_edge=False)
        table.add_column("metric")
        table.add_column("goal", justify="center")
        table.add_column("perfect", justify="right")
        for item in self.sets:
            table.add_column(item["name"], justify="right", overflow="fold")
        level = "global"
        for name in self.measured:
            metric = ALL_METRICS[name]
            if metric.corrects and not corrected:
                continue
            if metric.level != level and metric.level in HEADINGS and not metric.corrects:
                table.add_row(Text(HEADINGS[metric.level], style="bold"))
            level, top = metric.level, self.best(name)
            entries = [(item["metrics"] | item["corrected"])[name] for item in self.sets]
            table.add_row(
                Text(metric.title, style="dim" if metric.corrects else ""),
                "↓" if metric.goal == "min" else "↑",
                Text(
                    " ".join(measure(floor, metric.unit) for floor in {item["floor"] for item in entries}),
                    style="dim",
                ),
                *(
                    _cell(entry, marked=number in top, stars=len(self.sets) > 1)
                    for number, entry in enumerate(entries)
                ),
            )
        return table

    def attack_table(self) -> Table:
        """Return the results of the attacks as a table for the terminal."""
        return attack_table({item["name"]: item["attacks"] for item in self.sets})


def _kind(stated: Mapping[str, Any]) -> list[str]:
    """Return the notes that a set is an experiment and must not be published, and whom one must trust for its promise,
    if this is so."""
    notes = [str(stated["experiment"])] if stated.get("experiment") else []
    if stated.get("trust") in (SHUFFLER, CURATOR):
        delta = "" if stated.get("delta") in (None, "0") else f" and delta {float(stated['delta']):g}"
        notes.append(
            f"epsilon {stated['epsilon']}{delta}: central, if the {stated['trust']} is trusted; neighbouring "
            f"collections: {stated.get('adjacency')}"
        )
    return notes


def _value(entry: Document | None) -> float:
    """Return the value of an entry, or NaN if there is none."""
    value = None if entry is None else entry["value"]
    return math.nan if value is None else float(value)


def _cell(entry: Document, *, marked: bool, stars: bool) -> Text:
    text = Text(measure(entry["value"], entry["unit"]), style="bold green" if marked else "")
    text.append(f" ±{measure(entry['std'], entry['unit'])}" if entry["std"] else "", style="dim not bold")
    if stars:
        text.append(" *" if marked else "  ")
    return text


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    """Return the text, and write it to a file if a path is given."""
    if path is not None:
        with atomic_path(path) as temporary:
            temporary.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    return text
