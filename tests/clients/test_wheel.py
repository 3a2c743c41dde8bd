"""`pip install ldptrace-device`: installed alone in an empty environment it answers a plan."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from clients_kit import CLIENTS, ROOT, python_wheel
from ldptrace import __version__
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import read_report
from shuffled_kit import shuffled

pytestmark = pytest.mark.slow

PLAN = Plan.single_report(Grid((13.3, 52.4, 13.6, 52.6), 6), 1.0, crs="EPSG:4326")
TRIP = '<gpx><trk><trkseg><trkpt lat="52.5" lon="13.4"/></trkseg></trk></gpx>'


@pytest.fixture(scope="module")
def wheel(request: pytest.FixtureRequest) -> Path:
    return python_wheel(request.config)


@pytest.fixture(scope="module")
def empty(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has nothing but the wheel."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        folder / "bin" / "python",
        "install",
        "--quiet",
        "--no-index",
    ]
    subprocess.run([*pip, "--disable-pip-version-check", wheel], check=True, capture_output=True, timeout=120)
    return folder / "bin"


def test_it_needs_nothing_and_owns_its_own_files(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        metadata = packed.read(next(name for name in names if name.endswith("METADATA"))).decode()
        sources = {name: packed.read(name).decode() for name in names if name.endswith(".py")}
    needs = [line for line in metadata.splitlines() if line.startswith("Requires-Dist")]
    assert needs == ["Requires-Dist: cryptography>=45; extra == 'shuffled'"]
    assert {name.split("/")[0] for name in names} == {
        "ldptrace_device",
        f"ldptrace_device-{__version__}.dist-info",
    }
    assert not any("from ldptrace." in text or "import ldptrace." in text for text in sources.values())
    # The same text, but for the name of the package.
    for name, text in sources.items():
        original = ROOT / "src" / "ldptrace" / Path(name).relative_to("ldptrace_device")
        if name != "ldptrace_device/__init__.py":
            assert text.replace("ldptrace_device", "ldptrace") == original.read_text().replace(
                "ldptrace_device", "ldptrace"
            )
    assert sources["ldptrace_device/__init__.py"] == (CLIENTS / "python" / "init.py").read_text()


def test_it_answers_a_plan_without_numpy(empty: Path, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(PLAN.to_json())
    (tmp_path / "trip.gpx").write_text(TRIP)
    command = [empty / "ldptrace-device", "report", "--plan", "plan.json", "--trajectory", "trip.gpx"]
    options = ["-o", "report", "--ledger", "ledger.json"]
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*command, *options], cwd=tmp_path, env=alone, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    read_report((tmp_path / "report").read_bytes(), PLAN, 0)
    code = "import importlib.util as u; print(u.find_spec('numpy'), u.find_spec('ldptrace'))"
    said = subprocess.run([empty / "python", "-I", "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "None None\n"


def test_every_public_name_is_there(empty: Path) -> None:
    """All modules can be imported without anything else."""
    code = (
        "import importlib, pkgutil, json, ldptrace_device as d;"
        "names = [m.name for m in pkgutil.walk_packages(d.__path__, 'ldptrace_device.')];"
        "[importlib.import_module(name) for name in names]; print(json.dumps(names))"
    )
    done = subprocess.run([empty / "python", "-I", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "ldptrace_device.device.program" in json.loads(done.stdout)


def test_the_example_of_the_readme_runs_and_a_shuffled_plan_names_what_it_needs(
    empty: Path, tmp_path: Path
) -> None:
    """In an environment without `cryptography`, which only shuffled plans need."""
    [example] = re.findall(r"```python\n(.*?)```", (CLIENTS / "python" / "README.md").read_text(), re.S)

    def answered(plan: Plan) -> subprocess.CompletedProcess[str]:
        (tmp_path / "plan.json").write_text(plan.to_json())
        program = [empty / "python", "-c", example]
        options = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 60}
        return subprocess.run(program, check=False, **options)  # type: ignore[call-overload, no-any-return]

    done = answered(PLAN)
    assert done.returncode == 0, done.stderr
    assert "Trips: 1, with 2 points.\nThe answer is about this one trip.\n" in done.stdout
    spent = (tmp_path / "ledger.json").read_bytes()
    done = answered(shuffled(PLAN))
    assert "ldptrace-device[shuffled]" in done.stderr
    # Nothing is spent on an answer that cannot be sealed.
    assert (tmp_path / "ledger.json").read_bytes() == spent
