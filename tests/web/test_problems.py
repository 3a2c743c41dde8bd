from __future__ import annotations

from ldptrace.protocol.problems import Problem
from ldptrace.web.problems import BY_NUMBER, Refused, ServerProblem, document


def test_numbers_and_codes_tell_all_problems_apart() -> None:
    every = [*Problem, *ServerProblem]
    assert (
        len({problem.number for problem in every}) == len({problem.code for problem in every}) == len(every)
    )
    assert all(400 <= problem.status < 600 for problem in every)


def test_problems_of_a_single_report_fit_into_a_byte() -> None:
    assert set(BY_NUMBER) >= {problem.number for problem in Problem}
    assert all(0 < number < 256 and problem.number == number for number, problem in BY_NUMBER.items())
    assert ServerProblem.NOT_ADMITTED in BY_NUMBER.values()
    assert ServerProblem.UNAUTHORIZED not in BY_NUMBER.values()


def test_an_answer_names_the_problem_and_what_is_known_of_it() -> None:
    body = document(ServerProblem.BUSY, "later")
    assert (body["type"], body["status"], body["detail"]) == ("urn:ldptrace:problem:busy", 503, "later")
    assert "detail" not in document(ServerProblem.BUSY)


def test_a_refusal_says_its_detail_or_its_sentence() -> None:
    assert str(Refused(ServerProblem.BUSY, "later")) == "later"
    assert str(Refused(ServerProblem.BUSY)) == ServerProblem.BUSY.sentence
