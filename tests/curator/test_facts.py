from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from ldptrace.curator.facts import PAPER, PAPER_GRID, Facts
from ldptrace.curator.planning import outlook
from ldptrace.device.files import trips_of
from ldptrace.errors import InputError
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Pace
from ldptrace.protocol.seals import GENERATOR

BOX = (0.0, 0.0, 10.0, 10.0)
WORLD = (13.0, 52.0, 14.0, 53.0)


def asked(plan: Plan) -> list[str]:
    return [ask.question.name for ask in plan.rounds[0].asks]


def test_the_grid_is_given_or_follows_from_the_users() -> None:
    assert Facts(1000, "1", BOX, grid=9).plan().grid.n == 9
    few, many = (Facts(users, "1", BOX).plan().grid.n for users in (1000, 10**8))
    assert few < many


@pytest.mark.parametrize("method", PAPER)
def test_methods_of_the_paper_have_its_grid_and_keep_the_coordinates(method: str) -> None:
    facts = Facts(30_000_000, 1, WORLD, "EPSG:4326", method=method)
    plan = facts.plan()
    assert (plan.method, plan.grid.n, plan.crs, len(plan.rounds)) == (method, PAPER_GRID, "EPSG:4326", 1)
    assert facts.outlook() is None
    assert Facts(10, 1, WORLD, method=method, grid=9).plan().grid.n == 9


def test_a_standing_plan_asks_for_the_number_of_trips() -> None:
    assert "trips" in asked(Facts(1000, 1, BOX, every="7d").plan())
    assert "trips" not in asked(Facts(1000, 1, BOX).plan())
    assert asked(Facts(1000, 1, BOX, every="7d", questions="start, end").plan()) == ["start", "end"]
    assert {"trips", "departure"} <= set(asked(Facts(1000, 1, BOX, every="7d", time=True).plan()))


def test_texts_and_values_are_the_same_facts() -> None:
    texts = Facts(
        1000,
        "0.5",
        "0,0,10,10",  # type: ignore[arg-type]
        grid="6",  # type: ignore[arg-type]
        time=True,
        centre="5,5",  # type: ignore[arg-type]
        every="7d",
        recent="36h",
        start="2026-01-05T00:00Z",
        lifetime="4.5",
        grace="1h",
    )
    values = Facts(
        1000,
        0.5,
        BOX,
        grid=6,
        time=True,
        centre=(5, 5),
        every=604_800,
        recent=129_600,
        start=1_767_571_200,
        lifetime=4.5,
        grace=3600,
    )
    assert texts == values
    assert texts.plan().id == values.plan().id


def test_epsilon_is_exact_and_degrees_become_metres() -> None:
    assert str(Facts(1000, "0.1", (0, 0, 9000, 9000), grid=4, crs="EPSG:25833").plan().epsilon) == "1/10"
    made = Facts(1000, "1", WORLD, "EPSG:4326", grid=4, time=True).plan()
    [pace] = [ask.question for ask in made.rounds[0].asks if isinstance(ask.question, Pace)]
    assert pace.y_scale == pytest.approx(111_320_000, rel=0.01)


def test_a_coordinate_system_that_only_data_can_describe_is_left_to_the_data() -> None:
    assert Facts(1000, 1, BOX, 'PROJCS["x"]', grid=4).plan().crs is None
    with pytest.raises(InputError, match="named like EPSG:4326"):
        Facts(1000, 1, BOX, "EPSG 4326")


def test_degrees_are_not_taken_for_metres() -> None:
    """Of a system in metres, and of one in degrees whose metres nobody would know."""
    for crs in ("EPSG:3857", "EPSG:4258"):
        with pytest.raises(
            InputError, match=rf"-122.5,37.5,-122.2,37.9 look like degrees, and {crs} .*--crs EPSG:4326"
        ):
            Facts(1000, 1, (-122.5, 37.5, -122.2, 37.9), crs)


def test_the_mean_trip_is_in_units_of_the_bounds() -> None:
    assert Facts(1000, 1, (0, 0, 10, 20), mean_trip=5).trip == 0.25
    assert Facts(1000, 1, BOX).trip == 0.5


def test_too_few_users_are_told() -> None:
    assert "mostly noise" in str(Facts(10, 1, BOX).noise())
    assert Facts(200_000, 1, BOX).noise() is None


def test_enough_users_of_a_shuffled_plan_are_so_many_as_its_own_promise_needs() -> None:
    few = Facts(400, "0.2", BOX, shuffled=True, grid=6)
    said = str(few.noise())
    assert "with 400 users and central epsilon 0.2" in said
    needed = int(said.split("; about ")[1].split()[0].replace(",", ""))
    # The noise is that of so many people with the epsilon that hides among them.
    at = [
        outlook(users, Facts(users, "0.2", BOX, shuffled=True).budget, 6).noise
        for users in (needed // 2, needed)
    ]
    assert at[1] <= 0.5 < at[0]
    # With the epsilon of 400 people it would be several times as many.
    assert needed < 400 * (few.outlook().noise / 0.5) ** 2 / 2  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"users": 0}, "expected number of users"),
        ({"users": 10**13}, "expected number of users"),
        ({"users": "9"}, "users must be a whole number, got '9'"),
        ({"epsilon": 0}, "epsilon"),
        ({"bounds": (0, 0, 0, 1)}, "bounds"),
        ({"bounds": (0, 0, 1, "1")}, "four numbers"),
        ({"bounds": None}, "public bounds"),
        ({"grid": "six"}, "a whole number or auto, got 'six'"),
        ({"grid": 6.5}, "whole number of cells"),
        ({"grid": 1}, "from 2 to 256"),
        ({"mean_trip": -1}, "the mean trip must be above 0"),
        ({"time": "yes"}, "time must be true or false, got 'yes'"),
        ({"centre": (1, 2, 3)}, "centre must be two numbers"),
        ({"time": True, "centre": (30, 3)}, "within the bounds"),
        ({"week": True}, "belong to the questions about time"),
        ({"questions": 5}, "questions must be names"),
        ({"questions": "start,speed"}, "questions are some of"),
        ({"every": "7"}, "a number with a unit"),
        ({"every": 7.5}, "a number with a unit"),
        ({"recent": "7d"}, "recent belongs to a standing plan"),
        ({"grace": 60}, "grace belongs to a standing plan"),
        ({"every": "1d", "start": "Monday"}, "a moment with its zone"),
        ({"every": "1d", "start": "5.5"}, "a whole second"),
        ({"every": "1d", "method": "paper"}, "no windows"),
        ({"method": "paper", "time": True}, "asks nothing about time"),
        ({"method": "paper", "questions": "start"}, "its own questions"),
        ({"method": "other"}, "a plan has the method single-report, paper"),
    ],
)
def test_facts_that_make_no_plan(facts: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Facts(**{"users": 9, "epsilon": 1, "bounds": BOX} | facts).plan()


# -- shuffled plans ----------------------------------------------------------------------------------------


def test_epsilon_of_a_shuffled_plan_is_the_central_one() -> None:
    facts = Facts(10_000, 1, BOX, shuffled=True)
    plan = facts.plan(GENERATOR)
    shuffled = plan.shuffled
    assert shuffled is not None
    assert 4 < facts.budget == plan.epsilon < 4.2
    assert Fraction(99, 100) < shuffled.epsilon <= 1
    assert (shuffled.batch, shuffled.honest, shuffled.delta) == (8_000, Fraction(9, 10), Fraction(1, 10**8))
    # The grid and the questions are chosen by what devices really say.
    direct = Facts(10_000, float(plan.epsilon), BOX).plan()
    assert plan.rounds == direct.rounds
    assert (facts.noise(), Facts(10_000, 1, BOX).map_grid().n) == (None, 6)
    assert Plan.from_json(plan.to_json()) == plan


def test_facts_of_a_shuffled_plan_are_those_that_were_given() -> None:
    told: dict[str, Any] = {"delta": "1e-7", "batch": 5_000, "honest": "0.8", "most_local": "3"}
    where = {"shuffler": "https://club.example", "operator": "A club", "closes": "2027-01-01T00:00Z"}
    facts = Facts(10_000, 1, BOX, shuffled=True, key=GENERATOR.hex(), **told, **where)  # type: ignore[arg-type]
    plan = facts.plan()
    shuffled = plan.shuffled
    assert shuffled is not None
    assert (shuffled.key, shuffled.batch, shuffled.hidden) == (GENERATOR, 5_000, 4_000)
    assert (plan.epsilon, shuffled.delta) == (3, Fraction(1, 10**7))
    assert (shuffled.address, shuffled.operator, shuffled.until) == (
        "https://club.example",
        "A club",
        1_798_761_600,
    )


@pytest.mark.slow
def test_the_lifetime_of_a_standing_shuffled_plan_is_central() -> None:
    plan = Facts(300_000, "0.1", BOX, shuffled=True, every="7d", lifetime="0.5").plan(GENERATOR)
    assert plan.shuffled is not None
    assert plan.standing is not None
    most = plan.standing.answers(plan.epsilon)
    assert most > 10
    assert plan.standing.lifetime == most * plan.epsilon
    assert Fraction(48, 100) < plan.shuffled.lifetime <= Fraction(1, 2)  # type: ignore[operator]
    assert plan.shuffled.until is None


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"delta": "1e-8"}, "delta belongs to a shuffled plan"),
        ({"batch": 100}, "batch belongs to a shuffled plan"),
        ({"shuffled": True, "method": "paper"}, "two rounds"),
        ({"shuffled": True, "delta": "1e-5"}, "delta of one answer must be from"),
        ({"shuffled": True, "batch": 1}, "a batch must have"),
        ({"shuffled": True, "batch": 10_001}, "at least 10,001 reports of 10,000 users would never be sent"),
        ({"shuffled": True, "every": "7d", "closes": "2027-01-01T00:00Z"}, "closes belongs"),
        ({"shuffled": True}, "needs the curator's public key"),
        ({"shuffled": True, "key": "04"}, "key"),
        ({"shuffled": True, "key": GENERATOR.hex(), "operator": "<b>"}, "operator"),
        ({"shuffled": True, "honest": "2"}, "honest"),
    ],
)
def test_facts_that_do_not_fit_a_shuffled_plan(told: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Facts(10_000, 1, BOX, **told).plan()


@pytest.mark.parametrize("name", ["epsg:4326", "OGC:CRS84", "wgs84"])
def test_a_plan_names_degrees_as_the_files_of_devices_do(name: str) -> None:
    plan = Facts(1000, 1, (13.0, 52.0, 14.0, 53.0), name, grid=4).plan()
    assert plan.crs == trips_of(b'{"features":[]}', gpx=False).crs
