"""Cost against the number of trajectories, from ten thousand to ten million: it should be a line.

python -m benchmarks.scaling [--largest 10000000] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import resource
from pathlib import Path

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.generators import city
from ldptrace.settings import Settings
from ldptrace.synthesis import run


def repeated(trips: Trajectories, count: int) -> Trajectories:
    """`count` trajectories, the given ones over and over."""
    return trips.take(np.arange(count) % len(trips))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--largest", type=int, default=10_000_000)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    arguments = parser.parse_args()
    sizes = [int(size) for size in 10.0 ** np.arange(4, np.log10(arguments.largest) + 1e-9, 0.5)]
    base = city(min(100_000, sizes[-1]), seed=1, interval=60.0)
    bounds = base.bounds()
    curves: dict[str, list[float]] = {"paper": [], "single-report": []}
    for method in curves:
        run(repeated(base, 1000), Settings.of(1.0, bounds=bounds, grid=6, method=method, seed=0))
    for size in sizes:
        trips = repeated(base, size)
        for method, seconds in curves.items():
            done = run(trips, Settings.of(1.0, bounds=bounds, grid=6, method=method, seed=1))
            seconds.append(sum(done.seconds.values()))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
            each = 1e6 * seconds[-1] / size
            print(
                f"{method:>14} {size:>11,} trajectories {seconds[-1]:8.2f} s {each:7.2f} us each, peak {peak:.1f} GiB"
            )
    _plot(sizes, curves, arguments.out)


def _plot(sizes: list[int], curves: dict[str, list[float]], folder: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    for method, seconds in curves.items():
        axis.loglog(sizes, seconds, marker="o", label=method)
    axis.loglog(sizes, np.array(sizes) * curves["paper"][-1] / sizes[-1], color="0.6", ls=":", label="linear")
    axis.set_xlabel("trajectories")
    axis.set_ylabel("seconds")
    axis.legend()
    figure.savefig(folder / "scaling.svg")
    print(f"plot: {folder / 'scaling.svg'}")


if __name__ == "__main__":
    main()
