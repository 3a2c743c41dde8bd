"""Speed of the paper's mechanism and of ours, stage by stage, beside the paper's own table (section 6.4).

    python -m benchmarks.pipeline [--data FOLDER] [--repeats 5]

Prints seconds per 1,000 trajectories and in all, after compilation, as mean and spread over the repeats.
"""

from __future__ import annotations

import argparse
import resource
import warnings
from pathlib import Path

import numpy as np

from benchmarks.data import oldenburg
from ldptrace.errors import PrivacyWarning
from ldptrace.settings import Settings
from ldptrace.synthesis import run

# The paper's efficiency table for Oldenburg: seconds per 1,000 trajectories.
PUBLISHED = {
    "collect lengths": 0.030,
    "collect transitions": 0.192 + 0.104,
    "estimate lengths": 0.010,
    "estimate model": 0.001,
    "synthesise": 0.219,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with the Oldenburg files")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", PrivacyWarning)
    data = oldenburg(arguments.data)
    real, bounds = data.trajectories, data.bounds
    print(f"{data.name}: {len(real):,} trajectories, {real.points:,} points\n")
    for method, simulation in (("paper", "counts"), ("paper", "devices"), ("single-report", "devices")):
        runs = []
        for seed in range(arguments.repeats + 1):
            settings = Settings.of(
                1.0, bounds=bounds, outside="clamp", grid=6, method=method, seed=seed, simulation=simulation
            )
            runs.append(run(real, settings).seconds)
        measured = {stage: np.array([seconds[stage] for seconds in runs[1:]]) for stage in runs[1]}
        print(f"{method}, simulation {simulation}")
        print(f"  {'stage':<22}{'s / 1,000':>12}{'spread':>10}{'paper':>9}{'paper / ours':>14}")
        for stage, seconds in measured.items():
            per_thousand = seconds / (len(real) / 1000)
            line = f"  {stage:<22}{per_thousand.mean():>12.6f}{per_thousand.std():>10.6f}"
            if stage in PUBLISHED and method == "paper":
                line += f"{PUBLISHED[stage]:>9.3f}{PUBLISHED[stage] / per_thousand.mean():>14.0f}"
            print(line)
        total = np.sum(list(measured.values()), axis=0)
        print(f"  {'all':<22}{total.mean() / (len(real) / 1000):>12.6f}{'':>10}{0.556:>9.3f}")
        print(f"  all trajectories: {total.mean():.3f} s +- {total.std():.3f}, best {total.min():.3f}\n")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2:.2f} GiB")


if __name__ == "__main__":
    main()
