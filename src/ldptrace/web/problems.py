"""The problems of the server in addition to those of the protocol, listed in the OpenAPI document. They are sent as
`application/problem+json` (RFC 9457) with the type `urn:ldptrace:problem:` and the code.
"""

from __future__ import annotations

from typing import Any

from ldptrace.errors import LdptraceError
from ldptrace.protocol.problems import Numbered, Problem


class ServerProblem(Numbered):
    """The reason why the server refuses a request. Problems of a single report in a batch have a number of one byte, as
    in the protocol.
    """

    NOT_OPEN = 100, 409, "The campaign is not open yet."
    ROUND_CLOSED = 101, 409, "The round is closed: reports are no longer counted."
    CAMPAIGN_FULL = 102, 409, "The campaign has as many reports as it takes."
    NOT_ADMITTED = 103, 403, "The campaign counts only reports with an unused admission code."

    NO_SUCH_CAMPAIGN = 120, 404, "There is no campaign of this name."
    NOT_FOUND = 121, 404, "There is nothing at this address."
    METHOD_NOT_ALLOWED = 122, 405, "This address does not take this method."
    UNAUTHORIZED = 123, 401, "This needs a token that is valid: Authorization: Bearer TOKEN."
    FORBIDDEN = 124, 403, "The token does not allow this."
    BAD_REQUEST = 125, 400, "The request cannot be understood."
    BODY_TOO_LARGE = 126, 413, "The body is larger than the server takes."
    UNSUPPORTED_MEDIA_TYPE = 127, 415, "The body has another media type than expected."
    TOO_SLOW = 128, 408, "The request did not arrive in time."
    RATE_LIMITED = 129, 429, "Too many requests from this address; try again later."
    WRONG_STATE = 130, 409, "The campaign is not in a state that allows this."
    CAMPAIGN_EXISTS = 131, 409, "There is a campaign of this name already."
    NOT_ENOUGH_REPORTS = 132, 409, "The campaign has fewer reports than it needs for this."
    STORAGE_UNAVAILABLE = 133, 503, "The database cannot be used now; nothing was counted."
    BUSY = 134, 503, "The server has more to do than it can; try again later."
    STOPPING = 135, 503, "The server is stopping; nothing was counted."
    HEAD_TOO_LARGE = 136, 431, "The headers are larger than the server takes."
    NOT_SHUFFLED = 137, 409, "The plan is shuffled: its reports are counted only in batches of its shuffler."
    BATCH_TOO_SMALL = 138, 409, "The batch has fewer reports than the plan requires."
    ANOTHER_BATCH = (
        139,
        409,
        "Another batch of this plan and window was counted, or its deletion was reported.",
    )


AnyProblem = Problem | ServerProblem
BY_NUMBER: dict[int, AnyProblem] = {
    problem.number: problem for problem in (*Problem, *ServerProblem) if problem.number < 120
}


class StorageUnavailable(LdptraceError):
    """The database cannot be reached, is full or is busy. The transaction was stored completely or not at all."""


class Refused(LdptraceError):
    """The error for a request or command that the server refuses."""

    def __init__(self, problem: AnyProblem, detail: str = "") -> None:
        super().__init__(detail or problem.sentence)
        self.problem = problem
        self.detail = detail


def wrong_state(detail: str) -> Refused:
    """Return the error that the campaign is in the wrong state for this request."""
    return Refused(ServerProblem.WRONG_STATE, detail)


def bad_request(detail: str) -> Refused:
    """Return the error that the request cannot be understood."""
    return Refused(ServerProblem.BAD_REQUEST, detail)


def not_found(detail: str) -> Refused:
    """Return the error that something does not exist."""
    return Refused(ServerProblem.NOT_FOUND, detail)


def document(problem: AnyProblem, detail: str = "") -> dict[str, Any]:
    """Return the body of a response by RFC 9457.

    >>> document(ServerProblem.NOT_OPEN)["type"]
    'urn:ldptrace:problem:not-open'
    """
    body = {
        "type": problem.urn,
        "title": problem.sentence,
        "status": problem.status,
        "code": problem.code,
    }
    return body | ({"detail": detail} if detail else {})
