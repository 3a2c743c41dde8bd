"""Utility and cost of shuffled reports, and how exact the accountant is.

    python -m benchmarks.shuffled utility [--data FOLDER] [--repeats 9]   few shuffled reports beside many direct ones
    python -m benchmarks.shuffled accountant       the stated epsilon beside the exact value, and time, also in Node
    python -m benchmarks.shuffled lifetime         52 windows at eps0 3, n = 300,000, delta 1e-6

Wanted: 10,000 people at a central epsilon of 1 at least as good as 300,000 who answer directly at epsilon 1 in density,
Kendall and F1, trip within a quarter; 20,000 at a central epsilon of 0.5 better in density, query, Kendall, trip, F1
and pattern. The stated epsilon within 2 % above the exact value of the clones' pair, a check within 50 ms, below 1 s
for the inverse; 52 windows at most 0.45.

Each repeat draws other people and other reports, and from the model as many trips as there are people in the data; they
are judged against everybody's trips, also those of people who were not asked.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import time
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.data import DataSet, oldenburg
from benchmarks.tables import Scores, header, repeated, row, save
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.accounting import stated_lifetime
from ldptrace.protocol.shuffling import clones, divergence, local_epsilon, stated_epsilon
from ldptrace.synthesis import synthesize

# People, epsilon, and whether they are shuffled.
CASES = ((300_000, 1.0, False), (10_000, 1.0, False), (10_000, 1.0, True), (20_000, 0.5, True))
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
LOCALS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
DELTAS = (1e-6, 1e-8, 1e-10, 1e-12)
CLIENT = Path(__file__).parents[1] / "clients" / "js" / "src"


def utility(data: DataSet, repeats: int, out: Path) -> None:
    """Score people who were asked against everybody's trips."""
    results: dict[str, Scores] = {}
    print(header(f"{data.name}, judged against all {len(data.trajectories):,} trips"))
    for users, epsilon, shuffled in CASES:

        def made(
            seed: int, users: int = users, epsilon: float = epsilon, shuffled: bool = shuffled
        ) -> Trajectories:
            asked = data.sample(users, seed).trajectories
            trips = synthesize(
                asked,
                epsilon,
                bounds=data.bounds,
                grid=6,
                count=len(data.trajectories),
                seed=seed,
                unit="trip",
                shuffled=shuffled,
            )
            if shuffled and seed == 1:
                told = trips.provenance or {}
                print(f"  central {told['epsilon']}, eps0 {told['local_epsilon']}, delta {told['delta']}")
            return trips

        name = f"{users:,}, eps {epsilon:g}{' shuffled' if shuffled else ''}"
        results[name] = repeated(data, made, repeats)
        print(row(name, results[name]), flush=True)
    save(out / "shuffled.json", results)


def exact(n: int, local: float, delta: float) -> float:
    """The central epsilon of the clones' pair, from the tails of scipy: another implementation."""

    def found(central: float) -> float:
        p, e = math.exp(-local), math.exp(central)
        more, mean = 1 / (1 + p), (n - 1) * p
        reach = 11 * math.sqrt(mean * (1 - p)) + 40
        c = np.arange(max(math.floor(mean - reach), 0), min(math.ceil(mean + reach), n - 1) + 1)
        first = np.floor((e * more - (1 - more)) / ((2 * more - 1) * (1 + e)) * (c + 1)) + 1
        at, above = stats.binom.sf(first - 2, c, 0.5), stats.binom.sf(first - 1, c, 0.5)
        gap = more * at + (1 - more) * above - e * ((1 - more) * at + more * above)
        return float(np.sum(stats.binom.pmf(c, n - 1, p) * np.maximum(gap, 0)))

    low, high = 0.0, local
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) <= delta else (middle, high)
    return high


def accountant() -> None:
    """Compare the stated central epsilon with the exact one over a grid, and time the check and the inverse."""
    worst, least, check, inverse = 0.0, math.inf, 0.0, 0.0
    for n in SIZES:
        for local in LOCALS:
            for delta in DELTAS:
                ratio = stated_epsilon(n, local, delta) / exact(n, local, delta)
                worst, least = max(worst, ratio), min(least, ratio)
                clones.cache_clear()
                begin = time.process_time()
                divergence(n, local, 0.3 * local)
                check = max(check, time.process_time() - begin)
        clones.cache_clear()
        begin = time.process_time()
        local_epsilon(n, 1.0, 1e-8)
        inverse = max(inverse, time.process_time() - begin)
    print(
        f"stated / exact: from {least:.4f} to {worst:.4f} over {len(SIZES) * len(LOCALS) * len(DELTAS)} cases"
    )
    print(f"longest check {1000 * check:.1f} ms, longest inverse {inverse:.2f} s")
    first, later = (max(times) for times in zip(*(in_node(local) for local in LOCALS), strict=True))
    print(f"in a new process of Node, longest first check {first:.1f} ms, longest second one {later:.1f} ms")


def in_node(local: float) -> tuple[float, float]:
    """Return how many milliseconds the first two checks of the largest batch take in a new process of Node."""
    script = f"""
        import {{ divergence }} from "{(CLIENT / "accountant.js").as_uri()}";
        for (let time = 0; time < 2; time += 1) {{
          const begin = performance.now();
          divergence({SIZES[-1]}, {local}, {0.3 * local});
          console.log(performance.now() - begin);
        }}"""
    found = subprocess.run(["node", "--input-type=module", "--eval", script], capture_output=True, check=True)
    first, second = map(float, found.stdout.split())
    return first, second


def lifetime() -> None:
    """Print what a standing plan states for a year of weeks."""
    begin = time.process_time()
    value = stated_lifetime(300_000, 3.0, 1e-6 / 52, 52)
    print(f"52 windows at eps0 3, n = 300,000, delta 1e-6: {value:g} ({time.process_time() - begin:.1f} s)")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("utility", "accountant", "lifetime"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    given = parser.parse_args()
    if given.what == "utility":
        utility(oldenburg(given.data), given.repeats, given.out)
    elif given.what == "accountant":
        accountant()
    else:
        lifetime()


if __name__ == "__main__":
    main()
