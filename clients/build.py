"""Build what devices install, the jar, the wheel and the npm package: `make clients` puts them into `dist/`.

Each needs its own tools only: a Java compiler, `hatchling`, `npm`.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

CLIENTS = Path(__file__).parent
SOURCE = CLIENTS.parent / "src" / "ldptrace" / "__init__.py"
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


def version() -> str:
    """The version of everything that is released: of the wheels, the npm package and the jar."""
    (found,) = re.findall(r'^__version__ = "([^"]+)"$', SOURCE.read_text(encoding="utf-8"), re.M)
    return str(found)


def compile_java(out: Path, *folders: Path, using: Path | None = None) -> None:
    """Compile all sources below some folders."""
    sources = sorted(str(path) for folder in folders for path in folder.rglob("*.java"))
    run(*JAVAC, *(() if using is None else ("-cp", str(using))), "-d", out, *sources)


def jar(out: Path, source: Path = CLIENTS / "java" / "src") -> Path:
    """The Java client with its command-line program."""
    with tempfile.TemporaryDirectory() as folder:
        compile_java(Path(folder), source)
        made, manifest = Path(folder) / JAR, Path(folder) / "manifest"
        manifest.write_text(f"Main-Class: {MAIN}\nImplementation-Version: {version()}\n", encoding="utf-8")
        run("jar", "--create", "--file", made, "--manifest", manifest, "-C", folder, "org")
        return Path(shutil.move(made, out / JAR))


def wheel(out: Path, project: Path = CLIENTS / "python") -> Path:
    """The wheel of a project; unless another is named, of the Python client alone, without numpy and the rest."""
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, folder=project)
        (made,) = Path(folder).glob("*.whl")
        return Path(shutil.move(made, out / made.name))


def npm(out: Path, source: Path = CLIENTS / "js") -> Path:
    """The JavaScript client: ES module, types, and one file for browsers without a bundler."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "package"
        shutil.copytree(source, package, ignore=shutil.ignore_patterns("node_modules", "test"))
        shutil.copy(CLIENTS.parent / "LICENSE", package)
        (package / "browser.js").write_text(browser_script(source / "index.js"), encoding="utf-8")
        run("npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", folder, folder=package)
        (made,) = Path(folder).glob("*.tgz")
        return Path(shutil.move(made, out / made.name))


# The two kinds of statements between modules, as the client writes them.
IMPORT = re.compile(r'^(import|export) \{([^}]*)\} from "\./(?:src/)?(\w+)\.js";$', re.M)
EXPORT = re.compile(r"^export ((?:async )?(?:function|class|const) (\w+))", re.M)


def browser_script(index: Path) -> str:
    """One classic script that sets `ldptrace`: every module is a function that returns what it exports.

    The modules must import by plain names, and their statements must stand as `IMPORT` and `EXPORT` expect them.
    """
    modules: dict[str, str] = {}

    def wrapped(path: Path) -> tuple[str, list[str]]:
        text = path.read_text(encoding="utf-8")
        names = [name for _, name in EXPORT.findall(text)]
        for kind, imported, module in IMPORT.findall(text):
            add(module)
            names += re.findall(r"\w+", imported) if kind == "export" else []
        text = EXPORT.sub(r"\1", IMPORT.sub(r"const {\2} = _\3;", text))
        if re.search(r"^\s*(import|export)\b", text, re.M):
            raise SystemExit(f"{path} has an import or export that the browser script cannot follow")
        return text, names

    def add(module: str) -> None:
        if module not in modules:
            text, names = wrapped(index.parent / "src" / f"{module}.js")
            modules[module] = (
                f"const _{module} = (() => {{\n{text}\nreturn {{ {', '.join(names)} }};\n}})();\n"
            )

    text, names = wrapped(index)
    body = "".join(modules.values()) + f"{text}\nreturn Object.freeze({{ {', '.join(names)} }});"
    return f'"use strict";\nglobalThis.ldptrace = (() => {{\n{body}\n}})();\n'


BUILDERS: dict[str, Callable[[Path], Path]] = {"jar": jar, "wheel": wheel, "npm": npm}


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
