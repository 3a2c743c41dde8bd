from __future__ import annotations

import tracemalloc
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.curator.receive import Receiver
from ldptrace.device import Reporter
from ldptrace.errors import InputError, PlanError
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.limits import MAX_WORK
from ldptrace.protocol.plan import CampaignName, Plan
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.questions import Start, Steps
from ldptrace.protocol.randomizers import GRR, OUE, PrivSet
from ldptrace.protocol.reports import report_bytes
from ldptrace.protocol.round import Ask, Round
from ldptrace.protocol.shares import TIME_SHARES
from ldptrace.protocol.standing import Standing

SETTINGS = Plan.single_report(Grid((0, 0, 1, 1), 2), 1)


def test_campaigns_of_equal_settings_have_different_plans() -> None:
    plans = [SETTINGS, *(SETTINGS.changed(campaign=CampaignName.fresh("spring")) for _ in range(20))]
    assert len({plan.id for plan in plans}) == 21
    assert len({plan.root for plan in plans}) == 21
    assert all(Plan.from_json(plan.to_json()) == plan for plan in plans)
    # Only the campaign differs, and the reports have one size.
    assert {plan.changed(campaign=None).id for plan in plans} == {SETTINGS.id}


def test_a_plan_without_a_campaign_follows_from_its_settings() -> None:
    assert Plan.single_report(Grid((0, 0, 1, 1), 2), 1).id == SETTINGS.id


def test_a_report_belongs_to_one_campaign() -> None:
    """Also where only one digit of the nonce differs."""
    one = SETTINGS.changed(campaign=CampaignName("spring", "0" * 32))
    other = SETTINGS.changed(campaign=CampaignName("spring", "0" * 31 + "1"))
    report = Reporter(one, "none").report([(0.5, 0.5)])
    assert Receiver(one).receive(report).tolist() == [0]
    assert Receiver(other).receive(report).tolist() == [Problem.WRONG_PLAN.number]


def test_an_extended_plan_keeps_its_campaign() -> None:
    first = Plan.paper(Grid((0, 0, 1, 1), 2), 1).changed(campaign=CampaignName.fresh("a"))
    second = first.paper_second_round(3)
    assert second.campaign == first.campaign
    assert second.root == first.id


@pytest.mark.parametrize("name", ["", "-a", "a-", "A", "a b", "é", "x" * 65, "a\x00b"])
def test_names_are_those_of_addresses(name: str) -> None:
    with pytest.raises(PlanError, match="a campaign is named"):
        CampaignName.fresh(name)


@pytest.mark.parametrize("nonce", ["", "0" * 31, "0" * 33, "G" * 32])
def test_a_nonce_is_sixteen_bytes(nonce: str) -> None:
    with pytest.raises(PlanError, match="a nonce is"):
        CampaignName("a", nonce)


GRID = Grid((0.0, 0.0, 6.0, 6.0), 6)
HALF = ratio_at_most(Fraction(1, 2))


@given(
    st.tuples(*[st.floats(-1e9, 1e9)] * 2, *[st.floats(0.001, 1e9)] * 2),
    st.integers(2, 12),
    st.floats(0.01, 20).map(lambda value: round(value, 6)),
)
def test_a_plan_survives_its_document(box: tuple[float, ...], n: int, epsilon: float) -> None:
    x0, y0, width, height = (0.0 if abs(value) < 1e-6 else value for value in box)
    grid = Grid((x0, y0, x0 + width, y0 + height), n)
    for plan in (Plan.single_report(grid, epsilon), Plan.paper(grid, epsilon).paper_second_round(4)):
        again = Plan.from_json(plan.to_json())
        assert again == plan
        assert again.id == plan.id
        assert Fraction(plan.spent) <= plan.epsilon


def test_every_slot_of_a_drawn_question_costs() -> None:
    """A partition answers one question, but all of its slots."""
    asks = (
        Ask(Steps(6, 3), OUE(220, 1, HALF), 30000),
        Ask(Start(6), GRR(36, 1, HALF), 35536),
    )
    assert float(Round(asks, "partition").spent) == pytest.approx(1.5)
    with pytest.raises(PlanRefused) as refusal:
        Plan("test", GRID, Fraction(1), (Round(asks, "partition"),))
    assert refusal.value.problem is Problem.PLAN_OVERSPENDS


def test_a_chain_has_one_root() -> None:
    first = Plan.paper(GRID, 1)
    second = first.paper_second_round(5)
    assert (first.root, second.root, second.extends) == (first.id, first.id, first.id)
    with pytest.raises(PlanError, match="extend"):
        second.changed(extends=second.id)
    with pytest.raises(PlanError, match="extend"):
        second.changed(method="other")
    with pytest.raises(PlanError, match="extend"):
        first.changed(extends=first.id)


@pytest.mark.parametrize("epsilon", [0, -1, 21, "x", float("nan"), Fraction(1, 3)])
def test_an_epsilon_that_cannot_be_written(epsilon: object) -> None:
    with pytest.raises(InputError):
        Plan.single_report(GRID, epsilon)  # type: ignore[arg-type]


def test_bounds_that_cannot_be_written() -> None:
    with pytest.raises(PlanError, match="40 characters"):
        Plan.single_report(Grid((1e-300, 0, 1, 1), 6), 1.0).to_json()


@pytest.mark.parametrize("name", ["", "Upper", "a b", "x" * 33])
def test_names_are_plain(name: str) -> None:
    with pytest.raises(PlanError, match="named like"):
        Plan.paper(GRID, 1, method=name)
    with pytest.raises(PlanError, match="named like"):
        Plan.paper(GRID, 1, crs=name + " ")


def test_questions_about_time_take_their_share_and_leave_the_others_in_proportion() -> None:
    grid = Grid((-122.5, 37.5, -122.3, 37.9), 6)
    with_time = Plan.single_report(grid, 1.0, crs="EPSG:4326", time=True)
    without = Plan.single_report(grid, 1.0, crs="EPSG:4326")
    shares = {ask.question.name: ask.share for ask in with_time.rounds[0].asks}
    for name, share in TIME_SHARES.items():
        assert abs(shares[name] / 65536 - 0.95 * 5 / 64 * share) < 1e-4
    for ask in without.rounds[0].asks:
        left = 64 if ask.question.name == "length" else 59
        assert 64 * shares[ask.question.name] == left * ask.share
    pace = next(ask.question for ask in with_time.rounds[0].asks if ask.question.name == "pace")
    # A degree of longitude at 37.7 degrees north is 88 km.
    assert abs(pace.parameters()["x_scale"] / 1e6 - 87.98) < 0.01
    assert with_time == Plan.from_json(with_time.to_json())
    assert with_time.is_private


def test_the_work_of_all_rounds_adds_up() -> None:
    """Two rounds that are allowed alone, and together are too much: refused before anything is spent."""
    tiny = Fraction((1 << 40) + 1, 1 << 40)
    round_ = Round((Ask(Steps(6, 40_000), GRR(220, 1, tiny)),), "everyone")
    once = Plan("work", GRID, Fraction(1), (round_,))
    assert Plan.from_json(once.to_json()).work == 40_000 * 221 <= MAX_WORK
    with pytest.raises(PlanRefused) as refusal:
        Plan.from_json(once.extended(round_).to_json())
    assert refusal.value.problem is Problem.PLAN_TOO_LARGE


def test_large_domains_are_drawn_from_without_listing_them() -> None:
    """As much as a plan may ask for in slots; what was an hour and a half is a second or two."""
    tiny = Fraction((1 << 40) + 1, 1 << 40)
    question = Steps(256, 30)
    round_ = Round((Ask(question, PrivSet(question.domain, 1, tiny, 1)),), "everyone")
    plan = Plan.from_json(Plan("work", Grid(GRID.bounds, 256), Fraction(1), (round_,)).to_json())
    tracemalloc.start()
    try:
        report = Reporter(plan, "none").report([(0.1, 0.1), (5.9, 5.9)])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(report) == report_bytes(plan.rounds[0])
    # A list of the domain alone has half a million places.
    assert peak < 2_000_000


def test_coordinates_without_a_name_are_degrees_where_metres_make_no_sense() -> None:
    def scales(bounds: tuple[float, float, float, float], crs: str | None) -> list[int]:
        plan = Plan.single_report(Grid(bounds, 6), 1.0, crs=crs, time=True)
        pace = next(ask.question for ask in plan.rounds[0].asks if ask.question.name == "pace")
        return [pace.parameters()[name] for name in ("x_scale", "y_scale")]

    assert scales((-122.5, 37.6, -122.3, 37.8), None) == scales((-122.5, 37.6, -122.3, 37.8), "EPSG:4326")
    assert scales((0.0, 0.0, 20_000.0, 20_000.0), None) == [1000, 1000]
    assert scales((0.0, 0.0, 5.0, 5.0), "EPSG:32632") == [1000, 1000]


def test_windows_are_the_only_round_of_a_standing_plan() -> None:
    plan = Plan.single_report(Grid((0, 0, 6, 6), 6), 1)
    assert plan.place(3) == 3
    assert plan.changed(standing=Standing.of(86_400, epsilon=1)).place(3) == 0
