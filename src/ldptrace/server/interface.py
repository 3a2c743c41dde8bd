"""The requests of the HTTP interface, and the OpenAPI document that describes them.

A function with the decorator `operation` answers one kind of request. Its docstring, its types and what the decorator
states are checked or carried out for each request, and the document is made from them. Types of answers are typed
dictionaries; types of bodies are records of options (`ldptrace.options`).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, is_dataclass
from fractions import Fraction
from functools import cached_property
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from starlette.requests import Request
from starlette.responses import Response

from ldptrace.errors import InputError
from ldptrace.options import decoded, from_options, kinds_of, option_of, options_in
from ldptrace.protocol.limits import MAX_WINDOW
from ldptrace.protocol.plan import NAME_PATTERN
from ldptrace.protocol.problems import Problem
from ldptrace.server.state import State
from ldptrace.server.tokens import EVERY, Token
from ldptrace.web.answers import PROBLEM_TYPE, JsonAnswer, read_json
from ldptrace.web.problems import AnyProblem, Refused, ServerProblem

Schema = dict[str, Any]
# The type of a body or of an answer as JSON, or types by media type.
Content = Any
# The right that every valid token gives.
ANY = "any"
# Bytes of a JSON document.
MOST_JSON = 1 << 20
JSON = "application/json"
TEXT: Schema = {"type": "string"}


@dataclass(frozen=True)
class Call:
    """One request that was admitted: its campaign, the token and the record in its body, where it has them."""

    request: Request
    state: State
    token: Token
    body: Any

    @property
    def name(self) -> str:
        """The name of the campaign."""
        return str(self.request.path_params["name"])


Handler = Callable[[Call], Awaitable[Any]]
NOBODY = Token("", "", "", "", "", None)


def parameter(name: str, place: Literal["path", "query", "header"], about: str, schema: Schema) -> Schema:
    """Describe a parameter of a request in its path, query or headers."""
    return {
        "name": name,
        "in": place,
        "required": place == "path",
        "description": about,
        "schema": schema,
    }


# The description and the schema of each parameter in a path.
PATH: dict[str, tuple[str, Schema]] = {
    "name": ("Name of the campaign.", TEXT | {"pattern": f"^{NAME_PATTERN}$"}),
    "plan": ("Id of the plan.", TEXT | {"pattern": "^[0-9a-f]{64}$"}),
    "round": (
        "Number of the round, or of the time window of a standing campaign, from 1.",
        {"type": "integer", "minimum": 1, "maximum": 999_999_999},
    ),
    "window": ("Number of the time window.", {"type": "integer", "minimum": 0, "maximum": MAX_WINDOW}),
    "file": ("Name of the file.", TEXT | {"pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"}),
}
AFTER = parameter("after", "query", "The list goes on after the campaign of this name.", TEXT)
TAGS = {
    "shufflers": ("/v1/campaigns/{name}/plans/", "Batches of sealed reports."),
    "devices": ("/v1/campaigns", "Requests that need no token."),
    "operators": ("/v1/operator/", "Requests that need a token from `ldptrace campaign token`."),
    "server": ("/", "The server itself."),
}


@dataclass(frozen=True)
class Operation:
    """One kind of request: what it needs, what answers it, and what can go wrong."""

    method: str
    path: str
    handler: Handler
    # The right that a token must give; empty: no token is needed.
    scope: str = ""
    takes: Content = None
    gives: Content = None
    # The sentence on the answer; by default that of its type.
    answer: str = ""
    status: int = 200
    # Other answers that are no problems.
    also: Mapping[int, str] | None = None
    parameters: Sequence[Schema] = ()
    problems: Sequence[AnyProblem] = ()
    id: str = ""
    summary: str = ""

    async def endpoint(self, request: Request) -> Response:
        """Check the token and the body of a request, and answer it."""
        state = State.of(request)
        token, body = NOBODY, None
        if self.scope:
            token = await state.token(request)
            if self.scope != ANY and not token.allows(self.scope, request.path_params.get("name", EVERY)):
                raise Refused(ServerProblem.FORBIDDEN, f"the token allows {token.scope} of {token.campaign}")
        if is_dataclass(self.takes):
            data = await read_json(request, MOST_JSON, state.settings.timeout)
            body = decoded(self.takes, data)  # type: ignore[arg-type]
        answer = await self.handler(Call(request, state, token, body))
        return answer if isinstance(answer, Response) else JsonAnswer(answer, status_code=self.status)

    @property
    def tag(self) -> str:
        return next(tag for tag, (start, _) in TAGS.items() if self.path.startswith(start))

    @property
    def plain_path(self) -> str:
        """The path without the kinds of its parameters."""
        return re.sub(":[a-z]+", "", self.path)

    @cached_property
    def _given(self) -> Content:
        given = self.gives or get_type_hints(self.handler, include_extras=True)["return"]
        return None if isinstance(given, type) and issubclass(given, Response) else given

    def document(self, components: dict[str, Schema]) -> Schema:
        """Return the description of the operation; `components` gets the schemas of its types."""
        summary, _, rest = (inspect.getdoc(self.handler) or "").partition("\n\n")
        shown: Schema = {
            "operationId": self.id or self.handler.__name__,
            "summary": self.summary or " ".join(summary.split()).removesuffix("."),
            "tags": [self.tag],
            "security": [{"token": []}] if self.scope else [],
        }
        if rest:
            shown["description"] = " ".join(rest.split())
        if self.parameters:
            shown["parameters"] = list(self.parameters)
        if self.takes is not None:
            required = not is_dataclass(self.takes) or _needs_options(self.takes)
            shown["requestBody"] = {"required": required, "content": _content(self.takes, components)}
        good: Schema = {"description": self.answer or _words(self._given)}
        if self._given is not None:
            good["content"] = _content(self._given, components)
        answers = {self.status: good} | {
            one: {"description": text} for one, text in (self.also or {}).items()
        }
        by_status: dict[int, list[str]] = {}
        for problem in self._possible():
            by_status.setdefault(problem.status, []).append(f"`{problem.code}`")
        for status, codes in by_status.items():
            content = {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
            answers[status] = {"description": f"Problem: {', '.join(codes)}", "content": content}
        return shown | {"responses": {str(status): answers[status] for status in sorted(answers)}}

    def _possible(self) -> list[AnyProblem]:
        """Return the problems that the request can meet, those of all requests like it first."""
        problems: list[AnyProblem] = []
        if self.scope:
            problems += [ServerProblem.UNAUTHORIZED, ServerProblem.FORBIDDEN]
        if "{name}" in self.path:
            problems.append(ServerProblem.NO_SUCH_CAMPAIGN)
        if self.takes is not None:
            problems += [ServerProblem.BAD_REQUEST, ServerProblem.TOO_SLOW, ServerProblem.BODY_TOO_LARGE]
            if self.takes is not bytes:
                problems.append(ServerProblem.UNSUPPORTED_MEDIA_TYPE)
        if AFTER in self.parameters:
            problems.append(ServerProblem.BAD_REQUEST)
        problems += self.problems
        return [*problems, ServerProblem.RATE_LIMITED, ServerProblem.STORAGE_UNAVAILABLE, ServerProblem.BUSY]


def operation(method: str, path: str, **stated: Any) -> Callable[[Handler], Operation]:
    """Make an operation of the function that answers it."""
    return lambda handler: Operation(method, path, handler, **stated)


def openapi(operations: Iterable[Operation]) -> Schema:
    """Return the OpenAPI document of all operations."""
    codes = [problem.code for problem in (*Problem, *ServerProblem)]
    components: dict[str, Schema] = {
        "Problem": {
            "type": "object",
            "required": ["type", "title", "status", "code"],
            "properties": {
                "type": TEXT | {"pattern": "^urn:ldptrace:problem:[a-z-]+$"},
                "title": TEXT,
                "status": {"type": "integer"},
                "code": {"enum": codes},
                "detail": TEXT,
            },
        }
    }
    paths: dict[str, Schema] = {}
    for one in operations:
        item = paths.setdefault(one.plain_path, {})
        if names := re.findall(r"{(\w+)}", one.plain_path):
            item["parameters"] = [parameter(name, "path", *PATH[name]) for name in names]
        item[one.method.lower()] = one.document(components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "ldptrace",
            "version": "1",
            "summary": "Collect randomised reports from devices.",
            "description": "The version is the version of the protocol (protocol/v1.md). Errors are problem documents "
            "of RFC 9457; their type is `urn:ldptrace:problem:` followed by a problem code.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "tags": [{"name": tag, "description": about} for tag, (_, about) in TAGS.items()],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": components,
        },
    }


def _content(kind: Content, components: dict[str, Schema]) -> Schema:
    """Return the schemas by media type."""
    if not isinstance(kind, Mapping):
        kind = {"application/octet-stream" if kind is bytes else JSON: kind}
    return {media: {"schema": _schema(one, components)} for media, one in kind.items()}


_SIMPLE = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}


def _schema(kind: Any, components: dict[str, Schema], field: str = "") -> Schema:
    """Return the JSON schema of a type. Annotations are the smallest number, a sentence, or the record that has one of
    the same name as `field`."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind in _SIMPLE:
        return {"type": _SIMPLE[kind]}
    if kind is bytes:
        return TEXT | {"format": "binary"}
    if origin is NotRequired:
        return _schema(parts[0], components, field)
    if origin is Annotated:
        schema = _schema(parts[0], components)
        for note in parts[1:]:
            schema |= {"minimum": note} if isinstance(note, int) else {"description": _about(note, field)}
        return schema
    if origin is Literal:
        return {"enum": list(parts)}
    if origin in (list, Sequence, tuple):
        fixed = origin is tuple and ... not in parts
        sizes = {"minItems": len(parts), "maxItems": len(parts)} if fixed else {}
        return {"type": "array", "items": _schema(parts[0], components)} | sizes
    if origin in (dict, Mapping):
        value = _schema(parts[1], components)
        return {"type": "object"} | ({"additionalProperties": value} if value else {})
    if origin is Union or len(kinds_of(kind)) > 1:
        schemas = [one for part in kinds_of(kind) if (one := _schema(part, components))]
        if all(set(one) == {"type"} for one in schemas):
            return {"type": [one["type"] for one in schemas]}
        return {"anyOf": schemas}
    described = _typed_dict if is_typeddict(kind) else _record
    if is_typeddict(kind) or (is_dataclass(kind) and any(options_in(kind))):
        if kind.__name__ not in components:
            # A type may name itself.
            components[kind.__name__] = {}
            components[kind.__name__] = described(kind, components)
        return {"$ref": f"#/components/schemas/{kind.__name__}"}
    return {} if kind in (Any, Fraction) else {"type": "object"}


def _typed_dict(kind: Any, components: dict[str, Schema]) -> Schema:
    hints = get_type_hints(kind, include_extras=True)
    properties = {name: _schema(one, components, name) for name, one in hints.items()}
    required = [name for name, one in hints.items() if get_origin(one) is not NotRequired]
    return {"type": "object", "description": _words(kind), "required": required, "properties": properties}


def _record(kind: Any, components: dict[str, Schema]) -> Schema:
    """Return the schema of a body: the options of a record, and of the records in it."""
    properties, required = {}, []
    for entry, hint in options_in(kind):
        about = option_of(entry)
        schema = _schema(hint, components) | {"description": _in_json(about.help)}
        given = {
            "minimum": about.least,
            "exclusiveMinimum": about.above,
            "exclusiveMaximum": about.below,
            "default": entry.default if isinstance(entry.default, int | str) else None,
        }
        properties[entry.name] = schema | {key: value for key, value in given.items() if value is not None}
        if entry.default is MISSING and entry.name in kind.__dataclass_fields__:
            required.append(entry.name)
    record = {
        "type": "object",
        "description": _words(kind),
        "additionalProperties": False,
        "properties": properties,
    }
    return record | ({"required": required} if required else {})


def _needs_options(record: Any) -> bool:
    """Whether a record cannot be made without options."""
    try:
        from_options(record, {})
    except InputError:
        return True
    return False


def _about(note: Any, field: str) -> str:
    """Return the description of a field: the note itself if it is a text, otherwise the help text of the option of this
    name in the record."""
    if isinstance(note, str):
        return note
    return next(_in_json(option_of(entry).help) for entry, _ in options_in(note) if entry.name == field)


def _in_json(text: str) -> str:
    """Return the help text of an option with the names that options have in JSON.

    >>> _in_json("Only with --for-map.")
    'Only with `for_map`.'
    """
    return re.sub(
        "`[^`]*`|--([a-z-]+)", lambda match: f"`{match[1].replace('-', '_')}`" if match[1] else match[0], text
    )


def _words(kind: Any) -> str:
    """Return the docstring of a type in one line."""
    return " ".join((getattr(kind, "__doc__", None) or "").split())
