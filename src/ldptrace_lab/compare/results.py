"""All runs of a comparison, in this process or in several, and the rows of its tables: means and spreads over seeds."""

from __future__ import annotations

import math
import multiprocessing
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ldptrace.errors import LdptraceError
from ldptrace.evaluation.metrics import Metric
from ldptrace.evaluation.values import ALL_METRICS
from ldptrace_lab.compare.contestants import Contestant
from ldptrace_lab.compare.runs import Question, RunKey, RunResult, run

# What is being done, how many runs are done, and how many there are.
Listener = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Row:
    """One metric of one contestant at one epsilon on one data set; `std` is the spread over the seeds."""

    data: str
    contestant: Contestant
    epsilon: float | None
    metric: Metric
    mean: float
    std: float | None
    seeds: int


@dataclass(frozen=True, eq=False)
class Comparison:
    """Everything that was found. Runs that failed have one sentence each, and no rows."""

    questions: tuple[Question, ...]
    contestants: tuple[Contestant, ...]
    epsilons: tuple[float, ...]
    seeds: int
    rows: tuple[Row, ...]
    seconds: dict[str, float]
    failures: tuple[str, ...] = ()


def compare(
    questions: Sequence[Question],
    contestants: Sequence[Contestant],
    epsilons: Sequence[float],
    seeds: int,
    folder: Path,
    *,
    jobs: int = 1,
    listener: Listener | None = None,
) -> Comparison:
    """Run what is not kept in the folder yet, with that many processes, and add up all of it."""
    keys = [
        RunKey(who, epsilon, seed)
        for who in contestants
        for epsilon in ((None,) if who.kind == "reference" else epsilons)
        for seed in range(1, seeds + 1)
    ]
    wanted = [(question, key) for question in questions for key in keys]
    found: dict[tuple[Question, RunKey], RunResult] = {}
    failures = []
    for done, (question, key, outcome) in enumerate(_outcomes(wanted, folder / "runs", jobs), start=1):
        if isinstance(outcome, RunResult):
            found[question, key] = outcome
        else:
            failures.append(f"{key.contestant.name} on {question.title}: {outcome}")
        if listener is not None:
            listener(f"{question.title}: {key.contestant.name}", done, len(wanted))
    rows = [
        row
        for question in questions
        for who in contestants
        for epsilon in ((None,) if who.kind == "reference" else epsilons)
        for row in _rows(question, who, epsilon, found)
    ]
    spent: dict[str, list[float]] = {}
    for (_, key), result in found.items():
        spent.setdefault(key.contestant.name, []).append(result.seconds)
    seconds = {name: float(np.mean(each)) for name, each in spent.items()}
    return Comparison(
        tuple(questions),
        tuple(contestants),
        tuple(epsilons),
        seeds,
        tuple(rows),
        seconds,
        tuple(dict.fromkeys(failures)),
    )


def _outcomes(
    wanted: Sequence[tuple[Question, RunKey]], folder: Path, jobs: int
) -> Iterable[tuple[Question, RunKey, RunResult | LdptraceError]]:
    """Yield the runs as they end. The error of a method that refuses is an outcome too."""
    if jobs == 1:
        for question, key in wanted:
            try:
                yield question, key, run(question, key, folder)
            except LdptraceError as error:
                yield question, key, error
        return
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        futures = {pool.submit(run, question, key, folder): (question, key) for question, key in wanted}
        try:
            for future in as_completed(futures):
                try:
                    yield *futures[future], future.result()
                except LdptraceError as error:
                    yield *futures[future], error
        finally:
            pool.shutdown(cancel_futures=True)


def _rows(
    question: Question,
    who: Contestant,
    epsilon: float | None,
    found: dict[tuple[Question, RunKey], RunResult],
) -> list[Row]:
    """Return the mean and spread over the seeds for each metric that applies."""
    results = [
        result
        for (other, key), result in found.items()
        if other == question and key.contestant == who and key.epsilon == epsilon
    ]
    rows = []
    for name, metric in ALL_METRICS.items():
        values = [
            result.values[name] for result in results if not math.isnan(result.values.get(name, math.nan))
        ]
        if values and not metric.corrects:
            std = float(np.std(values, ddof=1)) if len(values) > 1 else None
            rows.append(Row(question.title, who, epsilon, metric, float(np.mean(values)), std, len(values)))
    return rows
