"""The description of the HTTP interface, which is made from its functions and types."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest

from ldptrace.options import option
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import Problem
from ldptrace.server.app import OPERATIONS, openapi_text
from ldptrace.server.interface import ANY, Operation, openapi, operation
from ldptrace.web.problems import ServerProblem

DOCUMENT: dict[str, Any] = json.loads(openapi_text())


@dataclass(frozen=True)
class Walk:
    """A walk."""

    name: str = option(help="Its name.")
    steps: int = option(3, help="Steps, with --very-long ones in `a --b`.", least=0, below=9)
    pace: float | str | Fraction | None = option(None, help="How fast.")
    way: tuple[float, float] | None = option(None, help="Where to.")
    plan: Plan | None = option(None, help="Why.")


class Turn(TypedDict):
    """A turn."""

    side: Literal["left", "right"]
    name: Annotated[str | None, Walk]
    degrees: NotRequired[Annotated[int, 0, "How far."]]
    before: list[dict[str, int]]
    other: Any


@operation("POST", "/v1/campaigns/{name}/{round:number}", scope="read", takes=Walk, status=201)
async def turned(call: Any) -> Turn:
    """Turn.

    Once.
    """
    raise NotImplementedError


def described(one: Operation) -> tuple[dict[str, Any], dict[str, Any]]:
    document = openapi([one])
    [item] = document["paths"].values()
    return item, document["components"]["schemas"]


def test_an_operation_says_what_its_function_says() -> None:
    item, _ = described(turned)
    assert [one["name"] for one in item["parameters"]] == ["name", "round"]
    shown = item["post"]
    assert (shown["operationId"], shown["summary"], shown["description"]) == ("turned", "Turn", "Once.")
    assert (shown["tags"], shown["security"]) == (["devices"], [{"token": []}])
    assert shown["requestBody"]["required"]
    assert list(shown["responses"]) == ["201", "400", "401", "403", "404", "408", "413", "415", "429", "503"]
    assert shown["responses"]["201"]["description"] == "A turn."
    assert shown["responses"]["404"]["description"] == "Problem: `no-such-campaign`"


def test_types_are_schemas() -> None:
    _, schemas = described(turned)
    assert schemas["Turn"] == {
        "type": "object",
        "description": "A turn.",
        "required": ["side", "name", "before", "other"],
        "properties": {
            "side": {"enum": ["left", "right"]},
            "name": {"type": ["string", "null"], "description": "Its name."},
            "degrees": {"type": "integer", "minimum": 0, "description": "How far."},
            "before": {
                "type": "array",
                "items": {"type": "object", "additionalProperties": {"type": "integer"}},
            },
            "other": {},
        },
    }
    walk = schemas["Walk"]
    assert (walk["required"], walk["additionalProperties"]) == (["name"], False)
    assert walk["properties"]["steps"] == {
        "type": "integer",
        "description": "Steps, with `very_long` ones in `a --b`.",
        "default": 3,
        "minimum": 0,
        "exclusiveMaximum": 9,
    }
    assert walk["properties"]["pace"]["type"] == ["number", "string", "null"]
    numbers = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
    assert walk["properties"]["way"]["anyOf"] == [numbers, {"type": "null"}]
    assert walk["properties"]["plan"]["type"] == ["object", "null"]


def test_the_document_has_every_operation_and_every_problem() -> None:
    shown = [one for item in DOCUMENT["paths"].values() for key, one in item.items() if key != "parameters"]
    assert len(shown) == len(OPERATIONS) == len({one["operationId"] for one in shown})
    codes = DOCUMENT["components"]["schemas"]["Problem"]["properties"]["code"]["enum"]
    assert codes == [problem.code for problem in (*Problem, *ServerProblem)]
    numbers = [problem.number for problem in (*Problem, *ServerProblem)]
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("one", OPERATIONS, ids=lambda one: one.id or one.handler.__name__)
def test_every_request_of_an_operator_has_a_scope(one: Operation) -> None:
    """What needs no token is named here, so that a new request is not open by mistake."""
    public = {"list_campaigns", "show_campaign", "plan", "words", "streets", "reports"}
    public |= {"openapi", "healthz", "readyz"}
    if one.handler.__name__ in public:
        assert one.scope == ""
    else:
        assert one.scope in (ANY, "read", "manage", "shuffle")
        assert (one.method == "GET") == (one.scope in (ANY, "read"))
