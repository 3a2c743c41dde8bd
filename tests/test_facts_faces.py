"""The same facts by five ways make the same plan: plan, campaign, HTTP, the operator's page, and synthesize."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ldptrace.server
from cli_kit import run
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.facts import Facts
from ldptrace.errors import InputError
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.seals import GENERATOR
from ldptrace.server import registry
from ldptrace.server.storage import Database, open_database
from programs_kit import require
from server_kit import Client
from synthesis_kit import run_method

WORLD = {"bounds": [13.0, 52.0, 14.0, 53.0], "crs": "EPSG:4326"}
TIMES = {"time": True, "week": True, "centre": [13.4, 52.5]}
WINDOWS = {"every": 604_800, "lifetime": "6"}
# Fills the form of the page with texts, and prints the request that the page would send.
PAGE = """
const filled = JSON.parse(process.argv[2]);
globalThis.FormData = class {
  get(key) { return filled[key] ?? null; }
  has(key) { return key in filled; }
  getAll() { return []; }
};
const { campaignIn } = await import(process.argv[1]);
console.log(JSON.stringify(campaignIn(null).body));
"""
# And whether it is small enough, and answered once, as a synthesis is.
CASES = {
    "a usual one": ({"users": 400, "epsilon": "0.7", **WORLD}, True),
    "of many": ({"users": 30_000_000, "epsilon": "1", **WORLD}, False),
    "of the paper": ({"users": 400, "epsilon": "1", **WORLD, "crs": "OGC:CRS84", "method": "paper"}, True),
    "of the paper, of many": ({"users": 30_000_000, "epsilon": "1", **WORLD, "method": "paper"}, False),
    "with times": ({"users": 400, "epsilon": "1", **WORLD, **TIMES, "grid": 9}, True),
    "standing": ({"users": 9_000, "epsilon": "1", **WORLD, **WINDOWS}, False),
    "standing, with times": ({"users": 9_000, "epsilon": "1", **WORLD, **TIMES, **WINDOWS}, False),
    "planar": ({"users": 400, "epsilon": "2", "bounds": [0.0, 0.0, 900.0, 400.0], "grid": 5}, True),
}


# Facts for which the form of the page has no field.
FURTHER = {
    "for a map": {"users": 200_000, "epsilon": "2", **WORLD, "for_map": True},
    "of named questions": {
        "users": 5_000,
        "epsilon": "1",
        **WORLD,
        "questions": ["length", "visits", "trips"],
    },
    "with windows of its own": {
        "users": 5_000,
        "epsilon": "1",
        "recent": "2d",
        "start": "2026-11-16T00:00Z",
        "grace": "12h",
        **(WORLD | WINDOWS),
    },
    "shuffled": {
        "users": 20_000,
        "epsilon": "1",
        "shuffled": True,
        "delta": "1e-8",
        "honest": "0.8",
        "batch": 9_000,
        **(WORLD | {"operator": "A club", "shuffler": "https://club.example", "closes": 1_900_000_000}),
    },
}


def typed(facts: dict[str, Any]) -> list[str]:
    """The facts on the command line."""
    words = []
    for name, value in facts.items():
        text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        text = f"{value}s" if name == "every" else text
        words += [f"--{name.replace('_', '-')}", *([] if value is True else [text])]
    return words


def of_campaign(database: Database, name: str) -> Plan:
    with database.reading() as session:
        return registry.find(session, name).plan


def by_command(facts: dict[str, Any], folder: Path) -> Plan:
    result = run("plan", *typed(facts), "-o", str(folder / "plan.json"))
    assert result.exception is None, result.output
    return Plan.from_json((folder / "plan.json").read_text())


def by_campaign(facts: dict[str, Any], folder: Path) -> Plan:
    data = str(folder / "campaigns")
    result = run("campaign", "create", "town", *typed(facts), "--data", data)
    assert result.exception is None, result.output
    return of_campaign(open_database(data), "town")


def by_http(facts: dict[str, Any], folder: Path) -> Plan:
    client = Client(folder / "http")
    with client as http:
        made = http.post("/v1/operator/campaigns", json={"name": "town"} | facts, headers=client.token)
        assert made.status_code == 201, made.text
    return of_campaign(client.database, "town")


def by_page(facts: dict[str, Any], folder: Path) -> Plan:
    node, form = require("Node"), Path(ldptrace.server.__file__).parent / "assets" / "form.js"
    filled = {
        name: ", ".join(map(str, value)) if isinstance(value, list) else value
        for name, value in facts.items()
    }
    filled = {"grid": "auto", "min_reports": "1000"} | filled | {"name": "town"}
    if "every" in filled:
        filled["every"] = str(facts["every"] / 86_400)
    # A module by its name: files that end with .js are not taken as modules by every version.
    module = folder / "form.mjs"
    module.write_text(form.read_text())
    command = [str(node), "--input-type=module", "-e", PAGE, str(module), json.dumps(filled)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    sent = json.loads(done.stdout)
    (folder / "page").mkdir()
    return by_http({name: value for name, value in sent.items() if name != "name"}, folder / "page")


def by_synthesis(facts: dict[str, Any], _: Path) -> Plan:
    rng, users, (x0, y0, x1, y1) = np.random.default_rng(1), facts["users"], facts["bounds"]
    x, y = rng.uniform(x0, x1, 3 * users), rng.uniform(y0, y1, 3 * users)
    t = 1.7e9 + np.arange(3.0 * users) if facts.get("time") else None
    real = Trajectories(x, y, np.arange(0, 3 * users + 1, 3), t, crs=facts.get("crs"))
    options = {
        name: value for name, value in facts.items() if name not in ("users", "epsilon", "crs", "time")
    }
    done = run_method(real, float(facts["epsilon"]), **options, count=1, seed=1).synthesis.plan
    assert done is not None
    # The second round of the paper's methods is decided by the answers to the first.
    return done.changed(rounds=done.rounds[:1], extends=None)


@pytest.mark.filterwarnings("ignore::ldptrace.errors.NoiseWarning", "ignore::ldptrace.errors.FitWarning")
@pytest.mark.parametrize(
    ("case", "way"),
    [
        (case, way)
        for case, (_, small) in CASES.items()
        for way in (by_campaign, by_http, by_page, *([by_synthesis] if small else []))
    ],
)
@pytest.mark.slow
def test_every_way_makes_the_same_plan(case: str, way: Any, tmp_path: Path) -> None:
    facts, _ = CASES[case]
    found = way(facts, tmp_path).changed(campaign=None)
    assert found.document() == by_command(facts, tmp_path).document()
    assert found.grid.n == 6 or facts.get("method") != "paper"
    assert ("trips" in [ask.question.name for ask in found.rounds[0].asks]) == ("every" in facts)


@pytest.mark.parametrize("way", [by_campaign, by_http])
@pytest.mark.parametrize("case", FURTHER)
@pytest.mark.slow
def test_every_way_knows_all_facts(case: str, way: Any, tmp_path: Path) -> None:
    facts = FURTHER[case]
    found, wanted = (
        one.changed(campaign=None, shuffled=one.shuffled and one.shuffled.changed(key=GENERATOR))
        for one in (way(facts, tmp_path), by_command(facts, tmp_path))
    )
    assert found.document() == wanted.document()


WRONG: dict[str, dict[str, Any]] = {
    "nobody": {"users": 0},
    "a centre elsewhere": {"time": True, "centre": [5.0, 5.0]},
    "windows of the paper": {"method": "paper", "every": 604_800},
    "a batch that is never full": {"shuffled": True, "batch": 5_000},
}


@pytest.mark.parametrize("name", WRONG)
def test_the_same_mistake_gets_the_same_sentence(name: str, tmp_path: Path) -> None:
    facts = {"users": 400, "epsilon": "1", **WORLD} | WRONG[name]
    said = {
        str(run(*command, *typed(facts), *folder).exception)
        for command, folder in (
            (("plan",), ("-o", str(tmp_path / "plan.json"))),
            (("campaign", "create", "town"), ("--data", str(tmp_path / "campaigns"))),
        )
    }
    client = Client(tmp_path / "http")
    with client as http:
        made = http.post("/v1/operator/campaigns", json={"name": "town"} | facts, headers=client.token)
    said.add(made.json()["detail"])
    with pytest.raises(InputError) as refused:
        Facts(**facts).campaign_plan()
    assert said == {str(refused.value)}
