"""Every campaign has its own plan."""

from __future__ import annotations

import pytest

from ldptrace.curator.receive import Receiver
from ldptrace.device import Reporter
from ldptrace.errors import PlanError
from ldptrace.protocol.campaign import CampaignName
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import Problem

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
    report = Reporter(one).report([(0.5, 0.5)])
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
