"""The clients as devices install them, built once for all tests of a run."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from programs_kit import require

ROOT = Path(__file__).parents[1]
CLIENTS = ROOT / "clients"
JAVA = CLIENTS / "java"
# For programs of seconds: the machine code that better suits a day takes longer to make than it saves.
JVM = ("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
DEVICE_PARTS = ("errors.py", "protocol", "device")


def _build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("clients_build", CLIENTS / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


build = _build()


def built(config: pytest.Config, name: str, sources: list[Path], make: Callable[[Path], object]) -> Path:
    """A folder with what `make` puts there, made again only when the sources have changed."""
    files = sorted(
        path for source in sources for path in (source.rglob("*") if source.is_dir() else [source])
    )
    digest = hashlib.sha256()
    for path in files:
        if path.is_file() and "node_modules" not in path.parts and "__pycache__" not in path.parts:
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    # Without pytest's cache, everything is made for this run alone.
    cache = getattr(config, "cache", None)
    folder = Path(tempfile.mkdtemp()) if cache is None else cache.mkdir("clients")
    found = folder / f"{name}-{digest.hexdigest()[:16]}"
    with open(folder / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not found.is_dir():
            with tempfile.TemporaryDirectory(dir=folder) as temporary:
                made = Path(temporary) / "made"
                made.mkdir()
                make(made)
                made.rename(found)
    return found


def java_jar(config: pytest.Config) -> Path:
    """The jar that `make clients` builds."""
    require("a Java compiler")
    folder = built(config, "jar", [JAVA / "src", CLIENTS / "build.py"], build.jar)
    return folder / build.JAR


def java_tests(config: pytest.Config) -> str:
    """The class path of the client with its tests."""
    jar = java_jar(config)

    def make(out: Path) -> None:
        build.compile_java(out, JAVA / "test", using=jar)

    return f"{jar}:{built(config, 'java-tests', [JAVA, CLIENTS / 'build.py'], make)}"


def npm_package(config: pytest.Config) -> Path:
    """The tarball that `make clients` builds."""
    require("npm")
    folder = built(config, "npm", [CLIENTS / "js", CLIENTS / "build.py"], build.npm)
    return next(folder.glob("*.tgz"))


def python_wheel(config: pytest.Config) -> Path:
    """The wheel that `make clients` builds."""
    sources = [
        CLIENTS / "python",
        CLIENTS / "build.py",
        *(ROOT / "src/ldptrace" / part for part in DEVICE_PARTS),
    ]
    folder = built(config, "wheel", sources, build.wheel)
    return next(folder.glob("*.whl"))
