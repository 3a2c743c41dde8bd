"""Build what devices install, the jar, the wheel and the npm package: `make clients` puts them into `dist/`.

Each needs its own tools only: a Java compiler, `hatchling`, `npm`.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

CLIENTS = Path(__file__).parent
JAR = "ldptrace-device.jar"
MAIN = "org.ldptrace.device.cli.Main"
# Java 8 bytecode, which Android's tools read too. New compilers do not need `strictfp`; old machines do.
JAVAC = (
    "javac",
    "--release",
    "8",
    "-g:none",
    "-encoding",
    "UTF-8",
    "-Xlint:all,-options,-strictfp",
    "-Werror",
)


def run(*command: str | Path, folder: Path | None = None) -> str:
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command[:2]))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def compile_java(out: Path, *folders: Path, using: Path | None = None) -> None:
    """Compile all sources below some folders."""
    sources = sorted(str(path) for folder in folders for path in folder.rglob("*.java"))
    run(*JAVAC, *(() if using is None else ("-cp", str(using))), "-d", out, *sources)


def jar(out: Path, source: Path = CLIENTS / "java" / "src") -> Path:
    """The Java client with its command-line program."""
    with tempfile.TemporaryDirectory() as folder:
        compile_java(Path(folder), source)
        made = Path(folder) / JAR
        run("jar", "--create", "--file", made, "--main-class", MAIN, "-C", folder, "org")
        return Path(shutil.move(made, out / JAR))


BUILDERS: dict[str, Callable[[Path], Path]] = {"jar": jar}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clients", nargs="*", help=f"which of {', '.join(BUILDERS)}; all if none is named")
    parser.add_argument("--out", type=Path, default=CLIENTS.parent / "dist")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.clients or BUILDERS:
        made = BUILDERS[name](given.out)
        sys.stdout.write(f"{made} ({made.stat().st_size:,} bytes)\n")


if __name__ == "__main__":
    main()
