"""Hours on a circle: does a randomizer that lies to near hours rather than far ones beat set selection?

    python -m benchmarks.ordinal [--data FOLDER] [--seeds N]

All randomizers get the same epsilon and the same users, and all answers go through the same estimator (a smooth prior
on the log scale around the public profile). An ordinal randomizer names one hour; an hour with a mark is E = e^epsilon
times as likely as one without, and marks move round the clock with the truth. `arc` marks the hours around the truth
(square wave; the width with the best mean is shown, which favours it), `slope` falls off with the distance (the
exponential mechanism), `harmonics` are the best of many random mark patterns by the information they give on the
first four harmonics. Set selection is the protocol's PrivSet, asked for the hour alone or for the hour with one or two
on both sides, which makes it ordinal. Shown is the JSD of the estimated day and the true one.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import generated
from ldptrace.evaluation.divergence import jensen_shannon as jsd
from ldptrace.models.ordinal import Answers, circle, fit_ordinal
from ldptrace.models.time import DAY_PROFILE
from ldptrace.protocol.exact import epsilon_fraction, ratio_at_most
from ldptrace.protocol.randomizers import PrivSet
from ldptrace.simulation.channels import tally_of

Floats = NDArray[np.float64]
HOURS = 24
PATTERNS = 4000
# Offset of the taxis' clocks from UTC in May and June 2008, in seconds.
PACIFIC = -7 * 3600


def days(folder: Path | None) -> dict[str, tuple[Floats, int]]:
    """Shares of the hours of departure, and how many users there are: a city, two generated days, the taxis."""
    trips = generated(41, 100_000).trajectories
    assert trips.t is not None
    hours = (trips.t[trips.offsets[:-1]] // 3600).astype(int) % HOURS
    found = {"city": (np.bincount(hours, minlength=HOURS) / len(trips), 200_000)}
    clock = np.arange(HOURS) + 0.5
    for name, width in (("two sharp peaks", 0.8), ("two wide peaks", 2.5)):
        day = sum(np.exp(-0.5 * ((clock - peak) / width) ** 2) for peak in (8.0, 17.5)) + 0.002
        found[name] = (day / day.sum(), 200_000)
    file = folder / "cabspotting_occupied_trips.parquet" if folder else None
    if file and file.exists():
        import pyarrow.parquet as pq

        seconds = pq.read_table(file, columns=["t0"])["t0"].to_numpy() + PACIFIC
        counts = np.bincount((seconds // 3600).astype(int) % HOURS, minlength=HOURS)
        found["taxis"] = (counts / counts.sum(), int(counts.sum()))
    return found


def channel(marks: Floats, epsilon: float) -> Floats:
    """Chance of naming each hour (row) given the true one (column); marks from 0 to 1, by distance from the truth."""
    weights = np.exp(epsilon * marks)
    column = weights / weights.sum()
    return np.stack([np.roll(column, true) for true in range(HOURS)], axis=1)


def arc(reach: int) -> Floats:
    apart = np.minimum(np.arange(HOURS), HOURS - np.arange(HOURS))
    return (apart <= reach).astype(np.float64)


def slope() -> Floats:
    apart = np.minimum(np.arange(HOURS), HOURS - np.arange(HOURS))
    return 1 - apart / (HOURS / 2)


def harmonic_marks(epsilon: float) -> Floats:
    """The pattern of marks that says most about the first four harmonics together."""
    rng = np.random.default_rng(0)
    best, found = -np.inf, arc(4)
    for _ in range(PATTERNS):
        marks = (rng.random(HOURS) < rng.uniform(0.15, 0.5)).astype(np.float64)
        if not 0 < marks.sum() < HOURS:
            continue
        gains = np.abs(np.fft.fft(channel(marks, epsilon)[:, 0]))[1:5] ** 2
        value = float(np.log1p(3e4 * gains).sum())
        if value > best:
            best, found = value, marks
    return found


def estimate(seen: Answers, truth: Floats) -> float:
    return float(
        jsd(fit_ordinal(DAY_PROFILE, [seen], circle(HOURS, np.log(DAY_PROFILE))).probabilities, truth)
    )


def by_sets(reach: int) -> Callable[[Floats, int, float, np.random.Generator], float]:
    """The protocol's PrivSet, for the true hour and so many before and after it."""

    def run(truth: Floats, users: int, epsilon: float, rng: np.random.Generator) -> float:
        sets = PrivSet.best(HOURS, 2 * reach + 1, ratio_at_most(epsilon_fraction(epsilon)))
        near = np.arange(-reach, reach + 1)
        rows = (rng.choice(HOURS, size=users, p=truth)[:, None] + near) % HOURS
        held = sets.debias(tally_of(sets, rows.astype(np.int32), rng, "counts").astype(np.float64), users)[
            :HOURS
        ]
        variances = sets.variance(users, np.clip(held, 0, users)) / users**2
        response = sum(np.roll(np.eye(HOURS), apart, axis=0) for apart in near)
        return estimate(Answers(held / users, variances, response), truth)

    return run


def by_marks(marks: Floats) -> Callable[[Floats, int, float, np.random.Generator], float]:
    def run(truth: Floats, users: int, epsilon: float, rng: np.random.Generator) -> float:
        matrix = channel(marks, epsilon)
        named = rng.multinomial(users, matrix @ truth) / users
        return estimate(Answers(named, np.maximum(named * (1 - named), 1e-6) / users, matrix), truth)

    return run


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with the taxi file")
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--share", type=float, default=0.06, help="of the users are asked for their hour")
    arguments = parser.parse_args()
    columns = ("sets of one", "sets of three", "sets of five", "best arc", "slope", "harmonics")
    print(f"{'day':<16}{'asked':>8}{'eps':>5}{'profile':>9}" + "".join(f"{name:>19}" for name in columns))
    for name, (truth, users) in days(arguments.data).items():
        for epsilon in (0.5, 1.0, 2.0):
            members = round(arguments.share * users)
            runs = {"sets of one": by_sets(0), "sets of three": by_sets(1), "sets of five": by_sets(2)}
            runs["slope"] = by_marks(slope())
            runs["harmonics"] = by_marks(harmonic_marks(epsilon))
            runs |= {f"arc {2 * reach + 1}": by_marks(arc(reach)) for reach in range(1, 7)}
            errors = {
                kind: [
                    run(truth, members, epsilon, np.random.default_rng(seed))
                    for seed in range(arguments.seeds)
                ]
                for kind, run in runs.items()
            }
            best = min((kind for kind in errors if kind.startswith("arc")), key=lambda k: np.mean(errors[k]))
            errors["best arc"] = errors[best]
            cells = [f"{np.mean(errors[name]):.4f} +- {np.std(errors[name]):.4f}" for name in columns]
            print(
                f"{name:<16}{members:>8,}{epsilon:>5g}{jsd(DAY_PROFILE, truth):>9.4f}"
                + "".join(f"{cell:>19}" for cell in cells)
                + f"  ({best} hours)",
                flush=True,
            )


if __name__ == "__main__":
    main()
