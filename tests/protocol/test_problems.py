from __future__ import annotations

import pytest

from ldptrace.errors import PlanError, ProtocolError
from ldptrace.protocol.problems import PlanRefused, Problem, ReportRejected


def test_numbers_and_codes_name_one_problem_each() -> None:
    assert len({problem.number for problem in Problem}) == len(Problem)
    assert len({problem.code for problem in Problem}) == len(Problem)
    assert all(Problem.of_number(problem.number) is problem for problem in Problem)
    assert all(400 <= problem.status < 500 for problem in Problem)


@pytest.mark.parametrize("problem", list(Problem), ids=lambda problem: problem.code)
def test_an_error_carries_its_problem_and_says_it(problem: Problem) -> None:
    kind = PlanRefused if problem.code.startswith("plan-") else ReportRejected
    error = kind(problem)
    assert error.problem is problem
    assert str(error) == f"{problem.code}: {problem.sentence}"
    assert isinstance(error, PlanError if kind is PlanRefused else ProtocolError)
