from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

import ldptrace as lt
from cli_kit import status
from ldptrace.cli.generate import picture
from ldptrace.core.trajectories import Trajectories
from ldptrace.generators import city_traffic
from ldptrace.methods import single_report
from road_kit import lattice_roads


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_the_demo_makes_everything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(single_report.Options.__init__.__kwdefaults__, "library", 1_000)
    # A city with a sixteenth of the area.
    monkeypatch.setattr("ldptrace.generators.city_traffic", partial(city_traffic, size=5_000, minutes=4))
    assert status("demo", "--out", tmp_path, "--users", 500) == 0
    assert len(lt.read(tmp_path / "synthetic.parquet")) == 500
    card = json.loads((tmp_path / "scorecard.json").read_text())
    assert "density_error" in card["metrics"]
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert (tmp_path / "trips.png").read_bytes().startswith(b"\x89PNG")
    assert "report.html" in capsys.readouterr().out


@pytest.mark.slow
def test_sets_are_drawn_side_by_side(tmp_path: Path) -> None:
    one = Trajectories.from_lists([[(50.0, 50.0), (250.0, 150.0)]])
    sizes = []
    for count in (2, 3):
        path = tmp_path / f"{count}.png"
        picture({f"set {number}": one for number in range(count)}, lattice_roads(), path)
        # The header of a PNG says its width.
        sizes.append(int.from_bytes(path.read_bytes()[16:20], "big"))
    assert sizes[0] < sizes[1]


def test_bad_settings_make_nothing(tmp_path: Path) -> None:
    for wrong in (("--epsilon", 0), ("--users", 0)):
        assert status("demo", "--out", tmp_path / "demo", *wrong) == 2
    assert not (tmp_path / "demo").exists()
