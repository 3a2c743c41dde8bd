"""Plan documents with one fault each, and the problem that a reader must find.

One fault: where a field has to agree with others, they are changed with it, so that nothing else is wrong and a reader
that misses the fault answers the plan. The few exceptions, where one fault cannot be had alone, say so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ldptrace.protocol.canonical import dumps
from ldptrace.protocol.exact import epsilon_fraction, ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.limits import MAX_COUNT, MAX_DOCUMENT, MAX_EVERY, MAX_N, MAX_START, RATIO_BITS
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.questions import (
    Departure,
    Length,
    Links,
    Moves,
    Pace,
    Question,
    Start,
    Steps,
    Tides,
    Visits,
)
from ldptrace.protocol.randomizers import GRR, OUE, PrivSet, Randomizer
from ldptrace.protocol.round import SHARES, Ask, Round

MALFORMED, OVERSPENDS, TOO_LARGE = Problem.PLAN_MALFORMED, Problem.PLAN_OVERSPENDS, Problem.PLAN_TOO_LARGE
CITY = Grid((-8.7, 41.0, -8.4, 41.4), 6)
RATIO = ratio_at_most(Fraction(1))
TINY = ratio_at_most(epsilon_fraction("0.0000001"))

Change = Callable[[Any], object]


def refused(made: dict[str, Plan]) -> list[dict[str, Any]]:
    """All documents."""
    vectors = Vectors()
    _canonical(vectors)
    _heads(vectors)
    _campaigns(vectors, made)
    _standing(vectors, made)
    _grids(vectors)
    _rounds(vectors, made)
    _questions(vectors)
    _times(vectors)
    _randomizers(vectors)
    _budgets(vectors)
    _sizes(vectors, made)
    _chains(vectors, made["paper, second round"])
    return vectors.made


class Vectors:
    """Documents with one fault each, each checked when it is added."""

    def __init__(self) -> None:
        self.made: list[dict[str, Any]] = []

    def add(self, name: str, document: str, problem: Problem = MALFORMED, spaces: int = 0) -> None:
        """A document, checked with the reader of this repository."""
        if refusal_of(document + " " * spaces) is not problem:
            raise AssertionError(f"{name} is not {problem.code}")
        assert name not in {vector["name"] for vector in self.made}, name
        self.made.append({"name": name, "document": document, "spaces": spaces, "problem": problem.code})

    def edit(self, name: str, plan: Plan, change: Change, problem: Problem = MALFORMED) -> None:
        """A plan that would be answered, changed."""
        assert refusal_of(plan.to_json()) is None, name
        data = json.loads(plan.to_json())
        change(data)
        self.add(name, dumps(data).decode(), problem)

    def ask(self, name: str, question: Question, channel: Randomizer, change: Change, n: int = 6) -> None:
        """A plan of one question for everyone, with a change of its ask."""
        plan = one(question, channel, n)
        self.edit(name, plan, lambda data: change(data["rounds"][0]["asks"][0]))


def one(question: Question, channel: Randomizer, n: int = 6, epsilon: int = 20) -> Plan:
    """One question for everyone, and room in the budget for whatever the ratio is changed to."""
    grid = Grid(CITY.bounds, n)
    return Plan("vectors", grid, Fraction(epsilon), (Round((Ask(question, channel),), "everyone"),))


def three(assignment: Any = "partition", shares: tuple[int, ...] = (10000, 10000, SHARES - 20000)) -> Plan:
    """Three questions, and a budget that is enough for all of them together."""
    questions = (Length(6, 9), Start(6), Moves(6, 3))
    asks = tuple(
        Ask(question, PrivSet.best(question.domain, question.capacity, RATIO), share)
        for question, share in zip(questions, shares, strict=True)
    )
    return Plan("vectors", CITY, Fraction(4), (Round(asks, assignment),), crs="EPSG:4326")


# Its domain does not depend on the grid.
LENGTHS = one(Length(6, 9), GRR(9, 1, RATIO))
EVERYONE = three("everyone", (SHARES,) * 3)


def _canonical(vectors: Vectors) -> None:
    text = three().to_json()
    other = text.replace('"version":1', '"version":2')
    for name, document in {
        "nothing": "",
        "not JSON": "plan",
        "a list": "[]",
        "cut": text[:-1],
        "a space": " " + text,
        "a space inside": text.replace('"crs":', '"crs": '),
        "a line break at the end": text + "\n",
        "an escape": text.replace("vectors", "vector\\u0073"),
        "a key twice": text.replace('"epsilon":"4"', '"epsilon":"4","epsilon":"4"', 1),
        "keys not sorted": text.replace('"crs":"EPSG:4326","n":6', '"n":6,"crs":"EPSG:4326"'),
        "a fraction": text.replace('"n":6', '"n":6.0'),
        "an exponent": text.replace('"n":6', '"n":6e0'),
        "minus zero": text.replace('"n":6', '"n":-0'),
        "a leading zero": text.replace('"n":6', '"n":06'),
        "not a number": text.replace('"n":6', '"n":NaN'),
        "a huge integer": text.replace('"n":6', '"n":' + "9" * 5000),
        "beyond ASCII": text.replace("vectors", "vectörs"),
        "deep": "[" * 1000 + "]" * 1000,
        "two documents": text + text,
        "another format": text.replace("ldptrace-plan", "ldptrace-tally"),
        # That a document is canonical comes before its version.
        "another version and an escape": other.replace("vectors", "\\n"),
        "another version and an escape beyond ASCII": other.replace("vectors", "\\u00e9"),
        "another version and a delete character": other.replace("vectors", "\x7f"),
        "a version of 2^53": other.replace('"version":2', '"version":9007199254740992'),
        "a version of -2^53": other.replace('"version":2', '"version":-9007199254740992'),
        "a version with a fraction": other.replace('"version":2', '"version":2.5'),
    }.items():
        vectors.add(name, document)
    vectors.add("as large as allowed, with spaces", text, MALFORMED, spaces=MAX_DOCUMENT - len(text))
    vectors.add("too large by one", text, TOO_LARGE, spaces=MAX_DOCUMENT + 1 - len(text))


def _heads(vectors: Vectors) -> None:
    plan = three()
    for version in (0, 2, True, "1", None, [1], {}):
        vectors.edit(
            f"version {version!r}",
            plan,
            lambda d, v=version: d.update(version=v),
            Problem.PLAN_UNKNOWN_VERSION,
        )
    vectors.edit("without version", plan, lambda d: d.pop("version"), Problem.PLAN_UNKNOWN_VERSION)
    vectors.edit(
        "another version and nothing else right",
        plan,
        lambda d: (d.update(version=2, note="x"), d.pop("grid")),
        Problem.PLAN_UNKNOWN_VERSION,
    )
    vectors.edit("without format", plan, lambda d: d.pop("format"))
    for key in ("campaign", "epsilon", "extends", "grid", "method", "rounds", "standing"):
        vectors.edit(f"without {key}", plan, lambda d, k=key: d.pop(k))
        vectors.edit(f"{key} a list", plan, lambda d, k=key: d.update({k: []}))
        vectors.edit(f"{key} an object", plan, lambda d, k=key: d.update({k: {}}))
    vectors.edit("an unknown key", plan, lambda d: d.update(note="x"))
    # Each of them, read leniently, is enough for the plan's budget; all but the first, which no plan can keep to.
    too_precise = "4.0000000000000000001"
    for value in ("0", "-4", "21", "20.000000000000000001", "4.0", "04", "4e0", ".4e1", "4.", " 4", "8/2"):
        vectors.edit(f"epsilon {value!r}", plan, lambda d, v=value: d.update(epsilon=v))
    for value in (too_precise, "+4", "0x4", "4 ", "", 4, True, None):
        vectors.edit(f"epsilon {value!r}", plan, lambda d, v=value: d.update(epsilon=v))
    for value in ("", "Vectors", "a b", "a\n", "x" * 33, 7, None):
        vectors.edit(f"method {value!r}", plan, lambda d, v=value: d.update(method=v))


def _campaigns(vectors: Vectors, made: dict[str, Plan]) -> None:
    def of(name: str, change: Change) -> None:
        vectors.edit(f"campaign: {name}", made["campaign"], lambda d: change(d["campaign"]))

    for value in ("", "-a", "a-", "A", "a b", "a\n", "a_b", "x" * 65, 7, None):
        of(f"name {value!r}", lambda c, v=value: c.update(name=v))
    for value in ("", "0" * 31, "0" * 33, "0" * 31 + "F", "0" * 31 + "g", 0, None):
        of(f"nonce {value!r}", lambda c, v=value: c.update(nonce=v))
    of("without a name", lambda c: c.pop("name"))
    of("without a nonce", lambda c: c.pop("nonce"))
    of("an unknown key", lambda c: c.update(person="me"))
    vectors.edit("campaign: a text", made["campaign"], lambda d: d.update(campaign="spring-2026"))


def _standing(vectors: Vectors, made: dict[str, Plan]) -> None:
    plan = made["standing"]

    def of(name: str, change: Change) -> None:
        vectors.edit(f"standing: {name}", plan, lambda d: change(d["standing"]))

    # Where every is changed, what may not be longer goes with it.
    for value in (0, 59, MAX_EVERY + 1, -60, "604800", True, None, []):
        of(f"every {value!r}", lambda s, v=value: s.update(every=v, recent=1, grace=0))
    for key, values in {
        "recent": (0, -1, 604_801, "1", True, None),
        "grace": (-1, 604_801, "1", True, None),
        "start": (-1, MAX_START + 1, "0", True, None, "1970-01-05T00:00Z"),
        "lifetime": ("0", "1.4", "1.499999999999999999", "1000", "10.0", "010", "1e1", " 10", "", 10, None),
    }.items():
        for value in values:
            of(f"{key} {value!r}", lambda s, k=key, v=value: s.update({k: v}))
    of("lifetime above 999", lambda s: s.update(lifetime="999.5"))
    for key in ("every", "recent", "start", "lifetime", "grace"):
        of(f"without {key}", lambda s, k=key: s.pop(k))
    of("an unknown key", lambda s: s.update(phase=5))
    vectors.edit("standing: true", plan, lambda d: d.update(standing=True))
    both, first = made["most rounds, at once"], made["standing, shortest windows"].standing
    assert first is not None
    vectors.edit("standing: two rounds", both, lambda d: d.update(standing=first.document()))
    chain = made["most rounds, one after another"]
    vectors.edit("standing: extends", chain, lambda d: d.update(standing=first.document()))


def _grids(vectors: Vectors) -> None:
    plan = three()
    for value in ("", "a b", "x" * 65, 4326, False):
        vectors.edit(f"crs {value!r}", plan, lambda d, v=value: d["grid"].update(crs=v))
    for value in (1, 0, -6, MAX_N + 1, "6", True, None):
        vectors.edit(f"n {value!r}", LENGTHS, lambda d, v=value: d["grid"].update(n=v))
    # As the upper bound of x, each of them, read leniently, is above the lower one; text that is no number cannot be.
    lenient = (
        "-8.40",
        "+1",
        "1e3",
        "-0",
        "0x1",
        "Infinity",
        "1" * 41,
        "0.1000000000000000055",
        "01",
        "1.",
        ".5",
    )
    for value in (*lenient, " 1", "", "NaN", "one", 1, None):
        vectors.edit(f"bound {value!r}", plan, lambda d, v=value: d["grid"]["bounds"].__setitem__(2, v))
    vectors.edit("three bounds", plan, lambda d: d["grid"]["bounds"].pop())
    vectors.edit("five bounds", plan, lambda d: d["grid"]["bounds"].append("42"))
    vectors.edit("bounds without width", plan, lambda d: d["grid"].update(bounds=["1", "0", "1", "1"]))
    vectors.edit("bounds without height", plan, lambda d: d["grid"].update(bounds=["0", "1", "1", "1"]))
    vectors.edit("bounds turned in x", plan, lambda d: d["grid"].update(bounds=["1", "0", "0", "1"]))
    vectors.edit("bounds turned in y", plan, lambda d: d["grid"].update(bounds=["0", "1", "1", "0"]))
    for key in ("bounds", "crs", "n"):
        vectors.edit(f"a grid without {key}", LENGTHS, lambda d, k=key: d["grid"].pop(k))
    vectors.edit("a grid with an unknown key", plan, lambda d: d["grid"].update(note=1))


def _rounds(vectors: Vectors, made: dict[str, Plan]) -> None:
    plan = three()
    vectors.edit("no rounds", plan, lambda d: d.update(rounds=[]))
    most = made["most rounds, at once"]
    vectors.edit("17 rounds", most, lambda d: d.update(rounds=d["rounds"] + d["rounds"][:1]))

    def of_round(name: str, change: Change, of: Plan = plan, problem: Problem = MALFORMED) -> None:
        vectors.edit(name, of, lambda d: change(d["rounds"][0]), problem)

    for value in ("all", "Everyone", None, []):
        of_round(f"assignment {value!r}", lambda r, v=value: r.update(assignment=v), EVERYONE)
    for value in (1, "true", None):
        of_round(f"padded {value!r}", lambda r, v=value: r.update(padded=v))
    for key in ("asks", "assignment", "padded"):
        of_round(f"a round without {key}", lambda r, k=key: r.pop(k))
    of_round("no asks", lambda r: r.update(asks=[]), EVERYONE)
    of_round("a round with an unknown key", lambda r: r.update(note=1))
    of_round("an ask twice", lambda r: r["asks"].append(r["asks"][0]), EVERYONE)

    def shared(name: str, *shares: object, of: Plan = plan) -> None:
        def change(asks: Any) -> None:
            for ask, share in zip(asks, shares, strict=True):
                ask["share"] = share

        of_round(name, lambda r: change(r["asks"]), of)

    shared("a share of zero", 0, 20000, SHARES - 20000)
    shared("a share below zero", -1, 20001, SHARES - 20000)
    shared("a share that is true", True, 20000, SHARES - 20001)
    shared("a share that is null", None, 20000, SHARES - 20000)
    shared("a share in a string", "1", 20000, SHARES - 20001)
    shared("shares that add up to less", 10000, 10000, SHARES - 20001)
    shared("shares that add up to more", 10000, 10000, SHARES - 19999)
    shared("everyone with a smaller share", SHARES, SHARES - 1, SHARES, of=EVERYONE)
    shared("everyone with shares", 10000, 10000, SHARES - 20000, of=EVERYONE)
    for key in ("question", "randomizer", "share"):
        of_round(f"an ask without {key}", lambda r, k=key: r["asks"][0].pop(k))
    of_round("an ask with an unknown key", lambda r: r["asks"][0].update(note=1))


def _questions(vectors: Vectors) -> None:
    moves, channel = Moves(6, 3), PrivSet(220, 3, RATIO, 4)
    for value in ("speed", "Moves", "", None, 3, [], {}, "constructor", "__proto__"):
        vectors.ask(f"question {value!r}", moves, channel, lambda a, v=value: a["question"].update(name=v))
    vectors.ask("a question without a name", moves, channel, lambda a: a["question"].pop("name"))
    vectors.ask("a question without its parameter", moves, channel, lambda a: a["question"].pop("most"))
    vectors.ask("a question with another's too", moves, channel, lambda a: a["question"].update(cap=3))
    vectors.ask("a question that is no object", moves, channel, lambda a: a.update(question="moves"))
    for value in ("3", True, None, [3]):
        vectors.ask(f"most {value!r}", moves, channel, lambda a, v=value: a["question"].update(most=v))

    def raised(name: str, question: Question, channel: Randomizer, n: int, **values: int) -> None:
        """The parameter, and the domain or the capacity that follows from it."""
        (key, value), *rest = values.items()
        follows = dict(rest)

        def change(ask: Any) -> None:
            ask["question"][key] = value
            ask["randomizer"].update(follows)

        vectors.ask(name, question, channel, change, n)

    # A capacity outside 1..min(domain, 256) is a fault of the question and of the randomizer alike.
    raised("most 0", moves, channel, 6, most=0, capacity=0)
    raised("most 257", Moves(9, 256), PrivSet(544, 256, RATIO, 4), 9, most=257, capacity=257)
    raised("more moves than there are", Moves(2, 12), PrivSet(12, 12, RATIO, 2), 2, most=13, capacity=13)
    raised("more visits than cells", Visits(2, 4), PrivSet(4, 4, RATIO, 2), 2, most=5, capacity=5)
    raised("more links than there are", Links(2, 6), PrivSet(6, 6, RATIO, 2), 2, most=7, capacity=7)
    raised("cap 1", Length(6, 2), GRR(2, 1, RATIO), 6, cap=1, domain=1)
    raised(
        "cap 65537",
        Length(6, MAX_COUNT),
        GRR(MAX_COUNT, 1, RATIO),
        6,
        cap=MAX_COUNT + 1,
        domain=MAX_COUNT + 1,
    )
    vectors.ask("cap '9'", Length(6, 9), GRR(9, 1, RATIO), lambda a: a["question"].update(cap="9"))
    for value in (0, MAX_COUNT + 1, "3", True):
        vectors.ask(
            f"count {value!r}",
            Steps(2, MAX_COUNT),
            GRR(12, 1, TINY),
            lambda a, v=value: a["question"].update(count=v),
            2,
        )


def _times(vectors: Vectors) -> None:
    """Questions about time; their domains follow from their parameters, so they are changed together."""

    def of(name: str, question: Question, domain: int | None = None, **values: object) -> None:
        def change(ask: Any) -> None:
            ask["question"].update(values)
            ask["randomizer"]["domain"] = question.domain if domain is None else domain

        vectors.ask(name, question, GRR(question.domain, 1, RATIO), change)

    for days, domain in ((2, 48), (6, 144), (8, 192), (True, 24), ("7", 168)):
        of(f"days {days!r}", Departure(6, 7, 0), domain, days=days)
    pace = Pace(6, 1000, 1000, 2000, 26, 0)
    for value in (-1, 12, "0", None, True):
        of(f"reach of hours {value!r}", Departure(6, 1, 0), reach=value)
    for value in (-1, 13, "0", None):
        of(f"reach of speeds {value!r}", pace, reach=value)
    of("classes 1", pace, 1, classes=1)
    of("classes 65", pace, 65, classes=65)
    for name in ("x_scale", "y_scale", "slowest"):
        for value in (0, -1, (10**9 if name == "slowest" else 10**12) + 1, "1", None):
            of(f"{name} {value!r}", pace, **{name: value})
    for value in (-1, 36, "0", None):
        of(f"centre {value!r}", Tides(6, 0), centre=value)


def _randomizers(vectors: Vectors) -> None:
    moves, channel = Moves(6, 3), PrivSet(220, 3, RATIO, 4)

    def of(
        name: str, change: Change, question: Question = moves, channel: Randomizer = channel, n: int = 6
    ) -> None:
        vectors.ask(name, question, channel, lambda a: change(a["randomizer"]), n)

    for key in ("kind", "domain", "capacity", "ratio", "size"):
        of(f"randomizer without {key}", lambda r, k=key: r.pop(k))
    of("randomizer with an unknown key", lambda r: r.update(note=1))
    vectors.ask("a randomizer that is no object", moves, channel, lambda a: a.update(randomizer="privset"))
    for value in ("hash", "PrivSet", None, 1, []):
        of(f"kind {value!r}", lambda r, v=value: r.update(kind=v))
    for kind in ("grr", "oue"):
        of(f"{kind} with a size", lambda r, k=kind: r.update(kind=k), Start(6), PrivSet(36, 1, RATIO, 4))
        of(f"{kind} for a set", lambda r, k=kind: (r.update(kind=k), r.pop("size")))
    of("another domain", lambda r: r.update(domain=221))
    of("another capacity", lambda r: r.update(capacity=4))
    of("a domain in a string", lambda r: r.update(domain="220"))
    of("a capacity that is true", lambda r: r.update(capacity=True), Start(6), PrivSet(36, 1, RATIO, 4))
    for value in (0, 221, "3", True, None):
        of(f"size {value!r}", lambda r, v=value: r.update(size=v))
    wide = Start(128)
    of("size 4097", lambda r: r.update(size=4097), wide, PrivSet(wide.domain, 1, RATIO, 4096), 128)
    for name, value in {
        "not in lowest terms": [str(2 * RATIO.numerator), str(2 * RATIO.denominator)],
        "two over one not in lowest terms": ["4", "2"],
        "one": ["1", "1"],
        "below one": ["1", "2"],
        "a denominator that is no power of two": ["4", "3"],
        "a denominator above 2^40": [str((1 << 42) + 1), str(1 << 41)],
        # Such a ratio is more than any epsilon allows, too.
        "a numerator of 2^70": [str(1 << 70), "1"],
        "many digits": ["9" * 4000, "1"],
        "a leading zero": ["03", "1"],
        "a sign": ["+3", "1"],
        "a negative one": ["-3", "1"],
        "hexadecimal": ["0x3", "1"],
        "a space": [" 3", "1"],
        "a fraction": ["3.0", "1"],
        "numbers": [3, 1],
        "one number": ["3"],
        "three numbers": ["3", "1", "1"],
        "text": "31",
        "a denominator of zero": ["3", "0"],
    }.items():
        of(f"ratio: {name}", lambda r, v=value: r.update(ratio=v))


def _budgets(vectors: Vectors) -> None:
    tight = one(Start(6), GRR(36, 1, ratio_at_most(Fraction(3, 2))), epsilon=2).changed(
        epsilon=Fraction(3, 2)
    )
    raised = tight.rounds[0].asks[0].randomizer.ratio + Fraction(1, 1 << RATIO_BITS)

    def raise_ratio(data: Any) -> None:
        ratio = [str(raised.numerator), str(raised.denominator)]
        data["rounds"][0]["asks"][0]["randomizer"]["ratio"] = ratio

    vectors.edit("a ratio that is one step too large", tight, raise_ratio, OVERSPENDS)
    vectors.edit(
        "an epsilon that is a hair too small", tight, lambda d: d.update(epsilon="1.499999999999"), OVERSPENDS
    )
    half = three().changed(epsilon=Fraction(3, 2))
    vectors.edit("rounds that add up to more", half, lambda d: d.update(rounds=d["rounds"] * 2), OVERSPENDS)
    everyone = EVERYONE.changed(epsilon=Fraction(3))
    vectors.edit("questions that add up to more", everyone, lambda d: d.update(epsilon="2.9999"), OVERSPENDS)
    alone = one(Length(6, 9), GRR(9, 1, RATIO), epsilon=1)
    vectors.edit("the largest of a partition", half, lambda d: d.update(epsilon="0.9999"), OVERSPENDS)
    steps = one(Steps(6, 3), OUE(220, 1, RATIO), epsilon=3)
    vectors.edit("slots that add up to more", steps, lambda d: d.update(epsilon="2.9999"), OVERSPENDS)
    vectors.edit(
        "a budget of which nothing is left", alone, lambda d: d.update(epsilon="0.0000000001"), OVERSPENDS
    )


def _sizes(vectors: Vectors, made: dict[str, Plan]) -> None:
    def cap(value: int) -> Change:
        """Another cap of the last question, which is about lengths."""

        def change(data: Any) -> None:
            ask = data["rounds"][0]["asks"][-1]
            ask["question"]["cap"] = value
            ask["randomizer"]["domain"] = value

        return change

    largest, hardest = made["most payload"], made["most work"]
    vectors.edit("a payload that is one byte too large", largest, cap(17), TOO_LARGE)
    most = hardest.rounds[0].asks[-1].question.domain
    vectors.edit("work that is one step too much", hardest, cap(most + 1), TOO_LARGE)
    # 372 bytes that would have cost a device more than an hour.
    hostile = PrivSet(8 * 256**2 - 12 * 256 + 4 + 2 * 256**2, 1, Fraction((1 << 40) + 1, 1 << 40), 1)
    question = {"count": MAX_COUNT, "name": "combined-steps"}
    round_ = {"asks": [{"question": question, "randomizer": hostile.document(), "share": SHARES}]}
    round_ |= {"assignment": "everyone", "padded": True}
    document = one(Start(6), GRR(36, 1, RATIO), 6, 1).document() | {"rounds": [round_]}
    document["grid"] = {"bounds": ["0", "0", "1", "1"], "crs": None, "n": 256}
    vectors.add("hours of work in a few bytes", dumps(document).decode(), TOO_LARGE)


def _chains(vectors: Vectors, second: Plan) -> None:
    vectors.edit("extends nothing", three(), lambda d: d.update(extends="0" * 64))
    vectors.edit("extends itself", three(), lambda d: d.update(extends=three().id))
    vectors.edit("extends another plan", second, lambda d: d.update(extends=three().id))
    vectors.edit("extends with another epsilon", second, lambda d: d.update(epsilon="1.1"))
    vectors.edit(
        "extends with another first round",
        second,
        lambda d: d["rounds"][0]["asks"][0]["question"].update(cap=37),
    )
    vectors.edit("extends in capitals", second, lambda d: d.update(extends=d["extends"].upper()))
    vectors.edit("extends cut", second, lambda d: d.update(extends=d["extends"][:32]))
    vectors.edit("extends a number", second, lambda d: d.update(extends=1))


def refusal_of(document: str) -> Problem | None:
    try:
        Plan.from_json(document)
    except PlanRefused as refusal:
        return refusal.problem
    return None
