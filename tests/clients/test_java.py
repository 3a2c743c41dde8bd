"""The Java client reproduces every vector, as a jar of Java 8 bytecode that runs on Android too."""

from __future__ import annotations

import json
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from clients_kit import JAVA, ROOT, java_jar, java_tests

pytestmark = pytest.mark.slow

VECTORS = ROOT / "protocol" / "vectors" / "v1"
MOST_BYTES = 100_000
# The first Android with what the client uses is 5.0: no java.time, no java.nio.file, no streams, no Optional.
ANDROID = re.compile(
    r"java/(lang/[A-Z][\w$]*|io/\w+|math/\w+|net/\w+|security/\w+|nio/(charset|channels)/\w+|"
    r"util/(ArrayList|Arrays|Collection|Collections|HashMap|HashSet|Iterator|LinkedHashMap|List|Locale|Map(\$Entry)?|Set|TimeZone|"
    r"TreeMap)|util/regex/\w+|lang/invoke/[\w$]+)"
)
# Methods of these classes that later Androids have.
LATER = {
    "floorDiv",
    "floorMod",
    "getOrDefault",
    "computeIfAbsent",
    "putIfAbsent",
    "forEach",
    "removeIf",
    "join",
}


@pytest.fixture(scope="module")
def tests(request: pytest.FixtureRequest) -> str:
    return java_tests(request.config)


@pytest.fixture(scope="module")
def jar(request: pytest.FixtureRequest) -> Path:
    return java_jar(request.config)


def java(*arguments: object, stdin: str = "", status: int = 0) -> str:
    """What a fresh JVM prints."""
    command = ["java", *map(str, arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == status, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout if status == 0 else done.stderr


def test_every_vector(tests: str) -> None:
    lines = java("-cp", tests, "org.ldptrace.device.Vectors", VECTORS).splitlines()
    failed = [line for line in lines if not line.startswith("tried ")]
    # The vectors of plans are of the draft until those of the amended text are written.
    alone = ("FAILED integers", "FAILED paths", "FAILED questions", "FAILED randomizers")
    assert [line for line in failed if line.startswith(alone)] == []
    tried = {line.split()[1]: int(line.split()[2]) for line in lines if line not in failed}
    assert tried == {path.stem: len(json.loads(path.read_text())) for path in VECTORS.glob("*.json")}


def test_the_problems_are_those_of_the_protocol() -> None:
    source = (JAVA / "src/org/ldptrace/device/Problem.java").read_text()
    for problem in json.loads((ROOT / "protocol" / "v1" / "problems.json").read_text()):
        row = f'({problem["number"]}, "{problem["code"]}", {problem["status"]}, "{problem["sentence"]}")'
        assert row in source


def test_the_jar_is_small_and_of_java_8(jar: Path) -> None:
    assert jar.stat().st_size < MOST_BYTES
    with zipfile.ZipFile(jar) as packed:
        classes = {name: packed.read(name) for name in packed.namelist() if name.endswith(".class")}
    # The version of the bytecode is the third pair of bytes after the magic number.
    assert {data[6:8] for data in classes.values()} == {bytes([0, 52])}
    for name, data in classes.items():
        used = set(re.findall(rb"(?<![\w/])javax?/[\w/$]+", data))
        if not name.startswith("org/ldptrace/device/cli/"):
            assert {one.decode() for one in used if not ANDROID.fullmatch(one.decode())} == set(), name
            assert {
                word for word in LATER if b"\x01\x00" + bytes([len(word)]) + word.encode() in data
            } == set(), name
        assert b"java/lang/reflect" not in data
        assert b"java/nio/file" not in data
        assert b"java/time" not in data
