"""Groups, everything in one report, and the Bernoulli ("hit") randomizer, at the same epsilon.

    python -m benchmarks.joint_report [--data FOLDER] [--repeats 3] [--epsilon 1]

Groups: each user answers one question. Joint: each user answers all questions with one set. Hit: every item is
named with a rate of its own, and reports that meet the user's set are e^eps times as likely.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.stats import norm, t

from benchmarks.data import DataSet, generated, oldenburg
from benchmarks.tables import Scores, header, repeated, row, save
from ldptrace.core.parallel import chunks, map_chunks
from ldptrace.core.paths import CellPaths
from ldptrace.core.placement import place
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.estimates import Estimate
from ldptrace.curator.planning import choose_plan
from ldptrace.evaluation import METRICS
from ldptrace.models.path.model import PathModel
from ldptrace.protocol.exact import epsilon_fraction, ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Question
from ldptrace.protocol.randomizers import PrivSet, Randomizer
from ldptrace.protocol.round import SHARES
from ldptrace.simulation.answers import Rows, answers
from ldptrace.simulation.channels import Counts, tally_of
from ldptrace.synthesis import synthesize

Floats = NDArray[np.float64]
CELLS = 6
DIRECTED = ("length", "start", "end", "moves", "turns")
POOLED = ("length", "terminals", "visits", "links", "turns")
# False-alarm probability of the check of all marginals of one channel.
ALARM = 1e-6
# Users and reports of each in that check: enough to see a chance that is wrong by a few percent.
CHECKED, DRAWS = 100_000, 20
# The default's own channels drawn here with other random numbers: what chance alone changes.
BASE, CONTROL = "groups (default)", "groups, drawn again (control)"
# Its error is often exactly zero (the five busiest cells in order), so ratios of it mean nothing.
NOT_A_RATIO = "hotspot_query_error"


@dataclass(frozen=True, eq=False)
class Form:
    """Questions answered with one set: the items of all, then the nulls of all, each question with its own.

    A form always has `capacity` members, whatever the path, so PrivSet's proof holds for it as it stands.
    """

    questions: tuple[Question, ...]

    @property
    def domain(self) -> int:
        return sum(question.domain for question in self.questions)

    @property
    def capacity(self) -> int:
        return sum(question.capacity for question in self.questions)

    @cached_property
    def places(self) -> list[tuple[Question, slice, slice]]:
        """Each question with its items and its nulls among the outputs."""
        items = pairwise(accumulate((question.domain for question in self.questions), initial=0))
        nulls = pairwise(accumulate((question.capacity for question in self.questions), initial=self.domain))
        both = zip(self.questions, items, nulls, strict=True)
        return [(question, slice(*some), slice(*none)) for question, some, none in both]

    def rows(self, paths: CellPaths, users: NDArray[np.int64], rng: np.random.Generator) -> Rows:
        """The users' sets, empty places filled with different nulls."""
        parts = []
        for question, items, nulls in self.places:
            part = answers(question, paths, users, rng)
            empty = part < 0
            parts.append(np.where(empty, nulls.start - 1 + empty.cumsum(axis=1), part + items.start))
        return np.concatenate(parts, axis=1).astype(np.int32)

    def spread(self, values: Sequence[float]) -> Floats:
        """One value per question, at all outputs of the question."""
        outputs = np.empty(self.domain + self.capacity)
        for (_, items, nulls), value in zip(self.places, values, strict=True):
            outputs[items] = outputs[nulls] = value
        return outputs


@dataclass(frozen=True, eq=False)
class Channel:
    """What happens to a form: chance p of naming an output that is in the set, q of one that is not."""

    form: Form
    p: Floats
    q: Floats
    tally: Callable[[Rows, np.random.Generator], Counts]

    def variance(self, reports: int, held: Floats | float = 0.0) -> Floats:
        p, q = self.p, self.q
        return reports * q * (1 - q) / (p - q) ** 2 + held * (1 - p - q) / (p - q)

    def estimates(self, counts: Counts, users: int) -> Iterator[tuple[str, Estimate]]:
        held = (counts - users * self.q) / (self.p - self.q)
        errors = np.sqrt(self.variance(users, np.clip(held, 0, users))) / users
        for question, items, nulls in self.form.places:
            empty = float(held[nulls].sum()) / users
            yield question.name, Estimate(question, held[items] / users, errors[items], users, empty)

    def largest_z(self, paths: CellPaths, rng: np.random.Generator) -> tuple[float, float]:
        """Largest standardised misfit of the named counts to p and q, and its limit at `ALARM`."""
        rows = self.form.rows(paths, np.arange(min(len(paths), CHECKED)), rng)
        held = np.bincount(rows.ravel(), minlength=len(self.p))
        counts = np.sum([self.tally(rows, rng) for _ in range(DRAWS)], axis=0)
        held, others = DRAWS * held, DRAWS * (len(rows) - held)
        noise = np.sqrt(held * self.p * (1 - self.p) + others * self.q * (1 - self.q))
        misfit = np.abs(counts - held * self.p - others * self.q) / noise
        return float(misfit.max()), float(norm.isf(ALARM / 2 / len(misfit)))


def of_package(form: Form, randomizer: Randomizer) -> Channel:
    p, q = (np.full(randomizer.outputs, float(value)) for value in randomizer.probabilities)
    return Channel(form, p, q, lambda rows, rng: tally_of(randomizer, rows, rng, "devices"))


def privset(form: Form, ratio: float) -> Channel:
    return of_package(form, PrivSet.best(form.domain, form.capacity, ratio))


def hit(form: Form, ratio: float, shares: Sequence[float] = (1.0,)) -> Channel:
    """The Bernoulli variant with the best rates, of which each question has its share (one rate per question)."""
    odds = float(ratio)
    sizes = np.array([question.capacity for question in form.questions])
    weights = np.array(shares) / np.sum(shares)

    def named(expected: float) -> tuple[Floats, float, float]:
        """Rates that name so many own items on average before tilting, chance to meet the set, normaliser."""
        rates = expected * weights / sizes
        meets = 1 - float(np.prod((1 - rates) ** sizes))
        return rates, meets, 1 + meets * (odds - 1)

    def cost(expected: float) -> float:
        rates, meets, total = named(expected)
        return float(np.sum(weights * (1 - rates) / rates)) * (total / (1 - meets)) ** 2

    rates, meets, total = named(minimize_scalar(cost, bounds=(1e-3, 1), method="bounded").x)
    q = form.spread(rates.tolist())
    hits = meets * odds / total

    def tally(rows: Rows, rng: np.random.Generator) -> Counts:
        sources = rng.spawn(len(chunks(len(rows))))
        return np.sum(map_chunks(lambda k, a, b: _hit(rows[a:b], q, hits, sources[k]), len(rows)), axis=0)

    return Channel(form, q * odds / total, q, tally)


@numba.njit(cache=True, nogil=True)
def _hit(rows, rates, hits, rng):
    """Whether the report meets the set; own items until at least one is named; others independently."""
    counts = np.zeros(len(rates), dtype=np.int64)
    own = np.full(len(rates), -1, dtype=np.int64)
    named = np.zeros(rows.shape[1], dtype=np.int64)
    for user in range(len(rows)):
        for item in rows[user]:
            own[item] = user
        if rng.random() < hits:
            named[:] = 0
            while named.sum() == 0:
                for at in range(rows.shape[1]):
                    named[at] = rng.random() < rates[rows[user, at]]
            for at in range(rows.shape[1]):
                counts[rows[user, at]] += named[at]
        for item in range(len(rates)):
            if own[item] != user and rng.random() < rates[item]:
                counts[item] += 1
    return counts


Design = list[tuple[Channel, float]]


def designs(plan: Plan) -> dict[str, Design]:
    """Channels with the share of users who send them, for everything that is compared with the plan."""
    ratio = ratio_at_most(plan.epsilon)
    asks = plan.rounds[0].asks
    questions = {ask.question.name: ask.question for ask in asks}
    shares = {ask.question.name: ask.share / SHARES for ask in asks}

    def form(names: Sequence[str]) -> Form:
        return Form(tuple(questions[name] for name in names))

    hits: Design = []
    for ask in asks:
        alone = Form((ask.question,))
        channel = hit(alone, ratio) if ask.question.capacity > 1 else of_package(alone, ask.randomizer)
        hits.append((channel, shares[ask.question.name]))
    again = [(of_package(Form((ask.question,)), ask.randomizer), ask.share / SHARES) for ask in asks]
    return {
        CONTROL: again,
        "groups, hit": hits,
        "joint: directed": [(privset(form(DIRECTED), ratio), 1.0)],
        "joint: pooled": [(privset(form(POOLED), ratio), 1.0)],
        "joint: everything": [(privset(form(list(questions)), ratio), 1.0)],
        "joint, hit, rates by shares": [(hit(form(list(questions)), ratio, list(shares.values())), 1.0)],
    }


def maker(paths: CellPaths, design: Design) -> Callable[[int], Trajectories]:
    """Synthetic sets from one report per user, everything after the report as in the default method."""

    def make(seed: int) -> Trajectories:
        rng = np.random.default_rng(seed)
        group = rng.choice(len(design), size=len(paths), p=[share for _, share in design])
        estimates: dict[str, Estimate] = {}
        for number, (channel, _) in enumerate(design):
            members = np.flatnonzero(group == number)
            counts = channel.tally(channel.form.rows(paths, members, rng), rng)
            estimates.update(channel.estimates(counts, len(members)))
        model = PathModel.fit(estimates)
        return place(model.sample_paths(len(paths), rng), rng, style="neighbours")

    return make


def print_variances(plan: Plan, compared: dict[str, Design]) -> None:
    """Variance of a rare item's frequency, times the number of all users: what a design buys before any fit."""
    asks = plan.rounds[0].asks
    print(f"{'variance x users':<34}" + "".join(f"{ask.question.name:>11}" for ask in asks))
    lines = {BASE: {ask.question.name: ask.randomizer.variance(SHARES) / ask.share for ask in asks}}
    for name, design in compared.items():
        lines[name] = {
            question.name: channel.variance(1)[items.start] / share
            for channel, share in design
            for question, items, _ in channel.form.places
        }
    # What a joint set of everything gives each question, given to groups instead: the mechanisms at equal weights.
    places = sum(ask.question.capacity for ask in asks)
    lines["groups, shares by capacity"] = {
        ask.question.name: ask.randomizer.variance(1) * places / ask.question.capacity for ask in asks
    }
    for name, line in lines.items():
        cells = (f"{line[a.question.name]:>11.1f}" if a.question.name in line else f"{'-':>11}" for a in asks)
        print(f"{name:<34}" + "".join(cells))


def print_hit_cost(grid: Grid, users: int) -> None:
    """Variance of the hit variant over that of the plan's own randomizer, both at their best."""
    print("variance of hit / variance of the plan's randomizer (capacity)")
    for epsilon in (0.5, 1.0, 2.0):
        asks = choose_plan(users, epsilon_fraction(epsilon), grid.bounds, n=grid.n)[0].rounds[0].asks
        ratio = ratio_at_most(epsilon_fraction(epsilon))
        costs = [hit(Form((a.question,)), ratio).variance(1)[0] / a.randomizer.variance(1) for a in asks]
        told = (
            f"{a.question.name} ({a.question.capacity}) {cost:.3f}"
            for a, cost in zip(asks, costs, strict=True)
        )
        print(f"  eps = {epsilon:<4g}" + "  ".join(told))


def print_checks(paths: CellPaths, compared: dict[str, Design]) -> None:
    rng = np.random.default_rng(0)
    for name, design in compared.items():
        found = [channel.largest_z(paths, rng) for channel, _ in design]
        worst, limit = max(found, key=lambda pair: pair[0] - pair[1])
        print(f"marginals of {name:<34} max |z| = {worst:.2f} (limit {limit:.2f})", flush=True)
        if worst > limit:
            raise SystemExit(f"the simulated channel of {name!r} does not have its stated probabilities")


def relative(scores: Scores, base: Scores) -> Floats:
    """Geometric mean over eight metrics of the error compared with the base, per repeat; below 1 is better."""
    logs = []
    for metric in METRICS.keys() - {NOT_A_RATIO}:
        ours, theirs = np.array(scores[metric]), np.array(base[metric])
        # Of a metric where 1 is perfect, what is missing is the error.
        logs.append(np.log(ours / theirs if METRICS[metric].goal == "min" else (1 - ours) / (1 - theirs)))
    return np.exp(np.mean(logs, axis=0))


def interval(values: Floats) -> float:
    """Half the width of the 95% confidence interval of the mean."""
    if len(values) < 2:
        return float("inf")
    return float(t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))


def better(scores: Scores, base: Scores) -> int:
    """Metrics whose mean is better than the base's."""
    gains = {metric: np.mean(scores[metric]) - np.mean(base[metric]) for metric in METRICS}
    return sum(gain < 0 if METRICS[metric].goal == "min" else gain > 0 for metric, gain in gains.items())


def compare(data: DataSet, epsilon: float, repeats: int) -> tuple[dict[str, Scores], str]:
    users, grid = len(data.trajectories), Grid(data.bounds, CELLS)
    paths = CellPaths.from_trajectories(data.trajectories, grid)
    plan, view = choose_plan(users, epsilon_fraction(epsilon), data.bounds, n=CELLS)
    compared = designs(plan)
    print(f"{data.name}, n = {users:,}, eps = {epsilon:g}, m = {view.most_moves}, lengths to {view.cap}")
    print("shares: " + ", ".join(f"{a.question.name} {a.share / SHARES:.2f}" for a in plan.rounds[0].asks))
    print_variances(plan, compared)
    print_hit_cost(grid, users)
    print_checks(paths, compared)
    makers = {name: maker(paths, design) for name, design in compared.items()}
    makers = {
        BASE: lambda seed: synthesize(data.trajectories, epsilon, bounds=data.bounds, grid=CELLS, seed=seed)
    } | makers
    print(header(f"{data.name}, eps = {epsilon:g}"))
    results: dict[str, Scores] = {}
    for name, make in makers.items():
        results[name] = repeated(data, make, repeats, CELLS)
        print(row(name, results[name]), flush=True)
    print(f"{'error over default error':<34}{'geometric mean, 95%':>22}{'metrics better':>16}")
    ratios = {name: relative(results[name], results[BASE]) for name in compared}
    for name, values in ratios.items():
        mean = f"{values.mean():.3f} ±{interval(values):.3f}"
        print(f"{name:<34}{mean:>22}{better(results[name], results[BASE]):>11} of 9")
    return results, verdict(f"{data.name}, eps = {epsilon:g}", ratios)


def verdict(title: str, ratios: dict[str, Floats]) -> str:
    """What won, beyond what chance explains."""
    others = {name: values for name, values in ratios.items() if name != CONTROL}
    best = min(others, key=lambda name: others[name].mean())
    mean, width = float(others[best].mean()), interval(others[best])
    won = f"{BASE} won" if mean - width > 1 else f"{best} won" if mean + width < 1 else "nothing won clearly"
    return f"{title}: {won}; best alternative: {best}, {mean:.3f} ±{width:.3f} times the default's error"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with the Oldenburg files; without it, two cities")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    arguments = parser.parse_args()
    sets = [oldenburg(arguments.data)] if arguments.data else [generated(1), generated(2)]
    told = {data.name: compare(data, arguments.epsilon, arguments.repeats) for data in sets}
    results = {name: scores for name, (scores, _) in told.items()}
    save(arguments.out / f"joint_report_eps{arguments.epsilon:g}.json", results)
    print("; ".join(line for _, line in told.values()))


if __name__ == "__main__":
    main()
