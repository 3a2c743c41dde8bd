from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ldptrace.core.paths import CellPaths
from ldptrace.curator.estimates import Estimate, Estimates
from ldptrace.curator.memory import ALARM, VIEWS, Answers, Watch, _compared, _named, level_changes
from ldptrace.curator.tally import Tally
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Length, Moves, Question, Visits
from ldptrace.simulation import collect

GRID = Grid((0.0, 0.0, 3.0, 3.0), 3)
PLAN = Plan.single_report(GRID, 2.0)


def step(cell: int, rng: np.random.Generator, *, absent: float = 0.0, users: int = 3000) -> Tally:
    cells = np.where(rng.random(users) < 0.6, cell, rng.integers(0, 9, users)).astype(np.int32)
    here = rng.random(users) >= absent
    offsets = np.concatenate(([0], np.cumsum(here)))
    return collect(PLAN, CellPaths(cells[here], offsets, GRID), rng)


def test_a_steady_stream_has_no_change_and_neither_has_one_with_fewer_trips(
    rng: np.random.Generator,
) -> None:
    """Some 2,000 comparisons, much alike: noise alone names a change in less than one of 500 such tests."""
    watch = Watch(PLAN)
    for number in range(20):
        assert watch.add(step(4, rng, absent=number / 25), float(number)) == ()


def test_a_change_says_which_question_where_since_when_and_how_sure(rng: np.random.Generator) -> None:
    watch = Watch(PLAN)
    for number in range(10):
        assert watch.add(step(4, rng), float(number)) == ()
    found = watch.add(step(2, rng), 10.0)
    assert "visits" in {change.question for change in found}
    clearest = found[0]
    assert clearest.since == 9.0
    assert clearest.chance < 200 * ALARM
    assert clearest.item in (2, 4)
    assert (clearest.after > clearest.before) == (clearest.item == 2)
    assert "has changed since 9 s" in str(clearest)
    assert list(found) == sorted(found, key=lambda change: change.chance)
    assert watch.since_change.effective == 3000


def test_how_sure_counts_all_comparisons_of_the_step(rng: np.random.Generator) -> None:
    """A second step is compared with the first in three views: each question, and all of them together."""
    watch, tallies = Watch(PLAN), [step(4, rng, users=1500), step(2, rng, users=1500)]
    watch.add(tallies[0], 0.0)
    found = watch.add(tallies[1], 1.0)
    views = [_compared(*(Estimates.from_tally(PLAN, tally) for tally in tallies), view) for view in VIEWS]
    single = min(change.chance for compared in views for change in _named(compared, 0.0))
    assert found[0].chance == pytest.approx(sum(len(compared) + 1 for compared in views) * single)
    assert found[0].chance > 10 * single
    assert str(replace(found[0], chance=1.3e-4)).endswith("by chance in 1 of 7,700 steps)")
    assert str(replace(found[0], chance=1e-20)).endswith("by chance in fewer than 1 of 1,000,000 steps)")


def test_nothing_is_named_while_it_warms_up(rng: np.random.Generator) -> None:
    watch = Watch(PLAN, warm_up=6)
    for number in range(6):
        assert watch.add(step(number, rng), float(number)) == ()


def test_complete_steps_need_no_time_to_warm_up(rng: np.random.Generator) -> None:
    watch = Watch(PLAN)
    assert watch.add(step(4, rng), 0.0) == ()
    assert {change.since for change in watch.add(step(2, rng), 1.0)} == {0.0}


def test_what_may_be_over_counts_as_far_as_it_may_not(rng: np.random.Generator) -> None:
    """The answers are the mean over what may be: no change, or that the last step, or the last two, are since one."""
    watch = Watch(PLAN, warm_up=3)
    for number, users in enumerate((9000, 2000, 1000)):
        watch.add(step(4 + number, rng, users=users), 10.0 * number, weight=0.5)
    first, second, last = (
        sums.aged(2.0**-age) for (*_, sums), age in zip(watch._recent, (2, 1, 0), strict=True)
    )
    both, every = second + last, first + second + last
    watch._chances = np.array([0.2, 0.3, 0.5])
    found = watch.believed(every, half_life=10.0)
    for number in range(len(found.rows)):
        mean, of_all, of_last, of_both = (
            counts / users
            for counts, _, users, _ in (part.of_ask(number) for part in (found, every, last, both))
        )
        # Questions are asked of a little more or less than their share of the users.
        assert mean == pytest.approx(0.2 * of_all + 0.3 * of_last + 0.5 * of_both, abs=0.02)
        assert found.of_ask(number)[3] < every.of_ask(number)[3]
    watch._chances = np.ones(1)
    assert watch.believed(every, 10.0).rows[0] == pytest.approx(every.rows[0])


def test_a_change_that_is_not_yet_beyond_noise_makes_the_past_count_less(rng: np.random.Generator) -> None:
    watch = Watch(PLAN)
    for number in range(8):
        assert watch.add(step(4, rng), float(number)) == ()
    steady = watch._chances[0]
    assert watch.add(step(4, rng, users=2400) + step(2, rng, users=600), 8.0) == ()
    assert watch._chances[0] < 0.5 < steady
    assert watch._chances.sum() == pytest.approx(1.0)
    assert int(np.argmax(watch._chances)) == 1


def test_a_level_changes_where_noise_does_not_explain_it() -> None:
    assert level_changes([None, (1.0, 0.1), None, (9.0, 0.1)]) == []
    assert level_changes([(1.0, 0.1), (1.6, 0.1), (2.5, 0.1)]) == [2]


def test_steps_without_reports_change_nothing(rng: np.random.Generator) -> None:
    watch = Watch(PLAN)
    for number in range(10):
        assert watch.add(Tally.zero(PLAN), float(number)) == ()


def estimate(question: Question) -> Estimate:
    size = question.domain
    return Estimate(question, np.arange(size) / size, np.full(size, 0.1), 100)


def test_cells_are_added_up_to_blocks() -> None:
    found = Answers.of(estimate(Visits(6, 3)), 3)
    assert found is not None
    assert len(found.frequencies) == 9
    assert found.frequencies[0] == pytest.approx((0 + 1 + 6 + 7) / 36)
    # The noise of four answers, and that 100 people were asked.
    held = np.array([0, 1, 6, 7]) / 36
    assert found.std_errors[0] == pytest.approx(np.sqrt(0.04 + (held * (1 - held)).sum() / 100))
    assert found.words(0) == "cell A1 to cell B2"


def test_few_items_are_broad_and_moves_are_too_many() -> None:
    found = Answers.of(estimate(Length(6, 20)), 3)
    assert found is not None
    assert len(found.frequencies) == 20
    assert found.words(2) == "3 cells"
    assert Answers.of(estimate(Moves(6, 3)), 3) is None
    few = Answers.of(estimate(Visits(3, 3)), 3)
    assert few is not None
    assert len(few.frequencies) == 9
