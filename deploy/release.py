"""Build everything that a release publishes into `dist/`, and check it in clean environments: `make release`.

A release has one version, `ldptrace.__version__`: three wheels (the product, the laboratory, the device), the npm
package and the jar. Installing the product takes its dependencies from the package index.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]
# Documents that state the version, and how.
STATED = {
    "CITATION.cff": r"^version: (\S+)$",
    "CHANGELOG.md": r"^## (\S+) - ",
    "clients/js/package.json": r'^  "version": "([^"]+)",$',
}


def _clients() -> ModuleType:
    spec = importlib.util.spec_from_file_location("clients_build", ROOT / "clients" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


clients = _clients()


def disagreements(version: str) -> list[str]:
    """List the documents whose newest version is another one."""
    wrong = []
    for name, pattern in STATED.items():
        stated = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.M)
        if stated is None or stated[1] != version:
            wrong.append(f"{name} states {stated[1] if stated else 'no version'}, the package has {version}")
    return wrong


def build(out: Path) -> dict[str, Path]:
    """Build all files of a release."""
    return {
        "ldptrace": clients.wheel(out, ROOT),
        "ldptrace-lab": clients.wheel(out, ROOT / "lab"),
        "ldptrace-device": clients.wheel(out),
        "npm": clients.npm(out),
        "jar": clients.jar(out),
    }


def check(made: dict[str, Path], version: str) -> None:
    """Install each file alone in an empty place, and use it once."""
    checks: dict[str, Callable[[Path], str]] = {
        "product and laboratory": lambda place: _product(made, place),
        "device wheel": lambda place: _device(made["ldptrace-device"], place),
        "npm package": lambda place: _npm(made["npm"], place),
        "jar": lambda _: _jar(made["jar"]),
    }
    for name, look in checks.items():
        with tempfile.TemporaryDirectory() as folder:
            found = look(Path(folder))
        if found != version:
            raise SystemExit(f"the {name} has version {found}, expected {version}")
        sys.stdout.write(f"{name}: installed and used, version {found}\n")


def _environment(place: Path, *packages: Path | str) -> Path:
    """Make an environment with these packages; return the folder of its programs."""
    venv.create(place / "environment", with_pip=True)
    programs = place / "environment" / ("Scripts" if sys.platform == "win32" else "bin")
    _said(programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return programs


def _said(*command: Path | str, folder: Path | None = None) -> str:
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command[:4]))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def _product(made: dict[str, Path], place: Path) -> str:
    programs = _environment(place, made["ldptrace"], made["ldptrace-lab"])
    ldptrace, trips = programs / "ldptrace", place / "trips.parquet"
    _said(ldptrace, "generate", "city", "-o", trips, "-n", "500", "--seed", "1")
    bounds = ["--bounds", "0,0,20000,20000"]
    for method in ("single-report", "ngram"):
        _said(
            ldptrace,
            "synthesize",
            trips,
            "-o",
            place / "out.csv",
            "--epsilon",
            "1",
            "--method",
            method,
            *bounds,
        )
    _said(ldptrace, "compare", "--help")
    return _said(ldptrace, "--version").split()[-1]


def _device(wheel: Path, place: Path) -> str:
    programs = _environment(place, "--no-index", wheel)
    _said(programs / "ldptrace-device", "--help")
    code = "import importlib.metadata as m; print(m.version('ldptrace-device'))"
    return _said(programs / "python", "-I", "-c", code).strip()


def _npm(package: Path, place: Path) -> str:
    _said("npm", "install", "--silent", "--offline", "--prefix", place, package.resolve())
    _said("node", "--input-type=module", "-e", 'await import("@ldptrace/device")', folder=place)
    found = json.loads((place / "node_modules" / "@ldptrace" / "device" / "package.json").read_text())
    return str(found["version"])


def _jar(jar: Path) -> str:
    _said("java", "-jar", jar, "--help")
    with zipfile.ZipFile(jar) as packed:
        manifest = packed.read("META-INF/MANIFEST.MF").decode()
    stated = re.search(r"^Implementation-Version: (\S+)", manifest, re.M)
    return stated[1] if stated else "none"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--tag", help="the tag of the release, such as v0.1.0; it must name the version")
    given = parser.parse_args()
    version = clients.version()
    wrong = disagreements(version)
    if given.tag is not None and given.tag != f"v{version}":
        wrong.append(f"the tag is {given.tag}, the package has {version}")
    if wrong:
        raise SystemExit("; ".join(wrong))
    given.out.mkdir(parents=True, exist_ok=True)
    made = build(given.out)
    check(made, version)
    for path in made.values():
        sys.stdout.write(f"{path} ({path.stat().st_size:,} bytes)\n")


if __name__ == "__main__":
    main()
