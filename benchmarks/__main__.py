"""The benchmarks of speed, one after the other; those of utility take longer and have their own commands.

python -m benchmarks [--data FOLDER]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

SPEED = ("start", "files", "pipeline", "path_model", "size", "evaluation", "server")
OTHERS = (
    "utility",
    "learning",
    "kinds",
    "streets",
    "liars",
    "published_randomizer",
    "wire",
    "clients",
    "time",
    "standing",
    "year",
    "streams",
    "absent",
    "intervals",
    "shuffled",
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", help="folder with the experiment files; without it, generated cities")
    arguments = parser.parse_args()
    data = ["--data", arguments.data] if arguments.data else []
    for name in SPEED:
        print(f"== {name}", flush=True)
        begin = time.perf_counter()
        # Each in its own process, so that peak memory and compilation are its own.
        subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *data], check=True)
        print(f"   ({name}: {(time.perf_counter() - begin) / 60:.1f} min)", flush=True)
    print(f"More: {', '.join(f'python -m benchmarks.{name}' for name in OTHERS)}")


if __name__ == "__main__":
    main()
