from __future__ import annotations

import math
from typing import Any

import pytest

from audit_kit import GRID, SINGLE, TrueBitNeverCleared, with_channel
from ldptrace.audit.black_box import _log_ratio, black_box, worst_inputs
from ldptrace.device import Reporter
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.trips import Occasion


@pytest.mark.slow
def test_the_attacks_find_something_and_not_too_much() -> None:
    """Where there is much to find, a few hundred messages prove a good part of it, and never more than is there."""
    attacks = black_box(Plan.single_report(GRID, 4.0), 400)
    assert 1.0 < max(attack.epsilon_at_least for attack in attacks) <= 4.0


@pytest.mark.slow
def test_attackers_see_it_too() -> None:
    """Without looking at the randomizer at all."""
    tiny = Plan.paper(GRID, "0.5")
    attacks = black_box(with_channel(TrueBitNeverCleared, tiny), 1500)
    assert any(not attack.stands for attack in attacks)
    assert all(attack.stands for attack in black_box(tiny, 1500))


def test_worst_inputs_differ_and_cover_the_ends_of_the_domain() -> None:
    for ask in SINGLE.rounds[0].asks:
        inputs = worst_inputs(SINGLE.grid, (ask,))
        answers = [answer for _, _, answer in inputs]
        assert len(set(answers)) == len(answers) >= 2
        if ask.question.name in ("start", "end"):
            named = {item for answer in answers for slot in answer for item in slot}
            assert {0, ask.question.domain - 1} <= named


@pytest.mark.slow
def test_black_box_sees_a_leak_in_any_bit_of_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the named items do not show it: the last bit of the padding."""
    honest = Reporter.draw_about

    def leaky(self: Reporter, occasion: Occasion, *rest: Any, **options: Any) -> bytes:
        report, points = honest(self, occasion, *rest, **options), list(occasion.trip.points)
        return report[:-1] + bytes([report[-1] | 128 * (len(points) > 1)])

    monkeypatch.setattr(Reporter, "draw_about", leaky)
    attacks = black_box(Plan.single_report(GRID, "0.5"), 400)
    assert any(not attack.stands for attack in attacks if attack.looked_at == "the bytes")


def test_bounds_hold_and_are_not_empty() -> None:
    """Clopper-Pearson: below the truth in all but a fraction of cases, and not far below."""
    hits, false, trials = 7311, 2689, 10_000
    bound = _log_ratio(hits, false, trials, 1e-6)
    assert 0.85 < bound < math.log(hits / false)
    assert _log_ratio(0, false, trials, 1e-6) == 0.0
    assert _log_ratio(trials, trials, trials, 1e-6) <= 0.0
    # Smaller error rates give smaller bounds.
    assert _log_ratio(hits, false, trials, 1e-12) < bound < _log_ratio(hits, false, trials, 1e-2)
    # Each side has its own error: one event always happens, the other never did.
    one_side = math.log(1e-6) / trials
    assert _log_ratio(trials, trials, trials, 1e-6) == pytest.approx(one_side)
    assert _log_ratio(trials, 0, trials, 1e-6) == pytest.approx(one_side - math.log(-math.expm1(one_side)))
