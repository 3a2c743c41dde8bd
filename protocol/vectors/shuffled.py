"""Writes the test vectors of protocol version 2, except those of seals: `python protocol/vectors/shuffled.py [FOLDER]`.

The files of plans have the form of those in version 1; the text of version 2 describes `accountant.json` and
`ledgers.json`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from draws import Ordinary
from faults import of_plan
from material import plans
from refusals import Vectors
from sums import sum_scenarios
from writing import slug, write

from ldptrace.device import Reporter
from ldptrace.protocol.exact import epsilon_fraction, ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.limits import MAX_BATCH, MAX_START
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import Problem
from ldptrace.protocol.questions import Start
from ldptrace.protocol.randomizers import GRR
from ldptrace.protocol.round import Ask, Round
from ldptrace.protocol.seals import GENERATOR
from ldptrace.protocol.shuffled import Shuffled
from ldptrace.protocol.shuffling import central_epsilon, divergence, stated_epsilon
from wire import plan_vectors, reports, tallies

HERE = Path(__file__).parent / "v2"
# The key of these vectors is public: its private key is 1.
CLUB = Shuffled(
    GENERATOR,
    10_000,
    Fraction(9, 10),
    Fraction(1, 10**8),
    Fraction("0.5"),
    None,
    1_800_000_000,
    "The city's library, which is independent of the transport authority",
    "https://shuffler.example/v1",
)


def shuffled_plans() -> dict[str, Plan]:
    """Plans with and without windows, at the limits, and as near to the edge of their promise as a plan may be."""
    direct = plans()
    two = _one("2")
    least = Shuffled(
        GENERATOR,
        2,
        Fraction("0.5"),
        Fraction(1, 10**15),
        Fraction("0.01"),
        None,
        0,
        "x",
        "http://x",
    )
    made = {
        "shuffled": direct["three questions"].changed(shuffled=CLUB),
        "shuffled, campaign": direct["campaign"].changed(shuffled=CLUB),
        "shuffled, standing": direct["standing"].changed(
            shuffled=CLUB.changed(lifetime=Fraction("1.25"), until=None)
        ),
        "least of everything": _one("0.01").changed(shuffled=least),
        "most of everything": _one("20").changed(
            shuffled=CLUB.changed(
                batch=MAX_BATCH,
                honest=Fraction(1),
                delta=Fraction(1, 10**6),
                epsilon=Fraction(20),
                until=MAX_START,
                operator="~" * 200,
                address="https://" + "a" * 200,
            )
        ),
        "everyone is honest": two.changed(shuffled=CLUB.changed(honest=Fraction(1))),
        "one honest device": two.changed(
            shuffled=CLUB.changed(batch=10_000, honest=Fraction("0.0001"), epsilon=2)
        ),
    }
    for local, batch, delta in EDGES:
        shuffled = CLUB.changed(batch=batch, delta=Fraction(delta), epsilon=Fraction(local))
        stated = stated_epsilon(shuffled.hidden, float(local), float(delta))
        made[f"edge {local} {batch} {delta}"] = _one(local).changed(
            shuffled=shuffled.changed(epsilon=Fraction(str(stated)))
        )
    return made


# eps0, batch and delta of plans that state exactly what the text says.
EDGES = (
    ("0.5", 1_000, "0.000001"),
    ("1", 300_000, "0.00000001"),
    ("3", 20_000, "0.00000001"),
    ("4.2", 8_000, "0.00000001"),
    ("5", 1_000_000, "0.000000000001"),
    ("6", 10_000_000, "0.00000001"),
)


def _one(epsilon: str) -> Plan:
    ask = Ask(Start(6), GRR(36, 1, ratio_at_most(Fraction(epsilon))))
    rounds = (Round((ask,), "everyone"),)
    return Plan("vectors", Grid((0, 0, 6, 6), 6), epsilon_fraction(epsilon), rounds)


def accountant() -> list[dict[str, Any]]:
    """The divergence of section 4, and whether a central epsilon just beside the exact one fits a delta."""
    return [*_divergences(), *_edges()]


def _divergences() -> Iterator[dict[str, Any]]:
    for n in (1, 2, 3, 10, 1_000, 7_200, 9_000, 300_000, 10_000_000):
        for local in (0.01, 0.5, 1.0, 2.0, 3.0, 4.2, 6.0, 8.0, 20.0):
            for part in (0.01, 0.1, 0.3, 0.9, 1.0):
                central = round(max(local * part, 0.0001), 6)
                value = divergence(n, local, central)
                yield {"n": n, "local": repr(local), "central": repr(central), "divergence": repr(value)}


def _edges() -> Iterator[dict[str, Any]]:
    for n in (900, 7_200, 270_000, 9_000_000):
        for local in (0.5, 1.0, 3.0, 4.2, 6.0, 8.0):
            for delta in ("0.000001", "0.00000001", "0.000000000001"):
                value = central_epsilon(n, local, float(delta))
                for factor in (0.99, 0.999, 1.001, 1.01):
                    central = float(f"{value * factor:.9g}")
                    fits = divergence(n, local, central) <= float(delta)
                    told = {"n": n, "local": repr(local), "central": repr(central)}
                    yield told | {"delta": delta, "fits": fits}


def refused(made: dict[str, Plan]) -> list[dict[str, Any]]:
    """Documents with one fault each."""
    vectors, plan = Vectors(), made["everyone is honest"]
    values: dict[str, tuple[Any, ...]] = {
        "key": (
            "",
            "04",
            GENERATOR.hex().upper(),
            GENERATOR.hex()[:-2],
            GENERATOR.hex()[:-2] + "ff",
            7,
            None,
        ),
        "batch": (1, 0, -1, MAX_BATCH + 1, "10000", True, None),
        "honest": ("0", "1.1", "1.0", "0.90", ".9", "0.00001", "-0.9", 1, None, True),
        "delta": ("0", "0.00000101", "0.000002", "1", "0.000000010", "1e-8", "0.0000000000000009", 0, None),
        "epsilon": ("0", "0.00009", "2.000000001", "21", "0.50", "5e-1", ".5", 1, None, True),
        "lifetime": ("1", "0.5", 1, True, []),
        "until": (None, -1, MAX_START + 1, "1800000000", True),
        "operator": ("", " a", "a ", "a[b", "a}b", "a<b", "a\n", "x" * 201, 7, None),
        "address": ("", "shuffler.example", "ftp://shuffler.example", "https://", "https://a b", 7, None),
    }
    for key, wrong in values.items():
        for value in wrong:
            vectors.edit(f"{key} {value!r}", plan, lambda d, k=key, v=value: d["shuffled"].update({k: v}))
        vectors.edit(f"without {key}", plan, lambda d, k=key: d["shuffled"].pop(k))
    vectors.edit(
        "honest devices that are less than one",
        plan,
        lambda d: d["shuffled"].update(batch=5_000, honest="0.0001", epsilon="2"),
    )
    vectors.edit("shuffled: an unknown key", plan, lambda d: d["shuffled"].update(note="x"))
    for value in (None, [], "x", True, {}):
        vectors.edit(f"shuffled {value!r}", plan, lambda d, v=value: d.update(shuffled=v))
    standing = made["shuffled, standing"]
    for key, value in (
        ("lifetime", None),
        ("lifetime", "0.4"),
        ("lifetime", "1000"),
        ("until", 1_800_000_000),
    ):
        vectors.edit(
            f"standing: {key} {value!r}", standing, lambda d, k=key, v=value: d["shuffled"].update({k: v})
        )
    _versions(vectors, plan)
    direct = plans()
    chain = direct["most rounds, one after another"]
    row = CLUB.document() | {"epsilon": "1"}
    vectors.edit("extends", chain, lambda d: d.update(version=2, shuffled=row))
    vectors.edit("two rounds", direct["most rounds, at once"], lambda d: d.update(version=2, shuffled=row))
    unpadded = _one("2")
    vectors.edit(
        "reports of different sizes",
        unpadded,
        lambda d: (d.update(version=2, shuffled=row), d["rounds"][0].update(padded=False)),
        Problem.PLAN_NOT_PRIVATE,
    )
    tiny = _one("0.009")
    vectors.edit(
        "too small an epsilon", tiny, lambda d: d.update(version=2, shuffled=row | {"epsilon": "0.009"})
    )
    _promises(vectors, made)
    return vectors.made


def _versions(vectors: Vectors, plan: Plan) -> None:
    vectors.edit("version 1 with shuffled", plan, lambda d: d.update(version=1))
    vectors.edit(
        "version 2 without shuffled", plan, lambda d: d.pop("shuffled"), Problem.PLAN_UNKNOWN_VERSION
    )
    for version in (0, 3, True, "2", None):
        vectors.edit(
            f"version {version!r}",
            plan,
            lambda d, v=version: d.update(version=v),
            Problem.PLAN_UNKNOWN_VERSION,
        )


def _promises(vectors: Vectors, made: dict[str, Plan]) -> None:
    """Plans that state less than is true: by a little, and with one number of the promise changed."""
    too_much = Problem.PLAN_PROMISES_TOO_MUCH
    for name, plan in made.items():
        if not name.startswith("edge"):
            continue
        shuffled = plan.shuffled
        assert shuffled is not None
        less = float(f"{float(shuffled.epsilon) * 0.985:.6f}")
        vectors.edit(
            f"{name}: less", plan, lambda d, e=less: d["shuffled"].update(epsilon=f"{e:g}"), too_much
        )
        vectors.edit(
            f"{name}: fewer devices",
            plan,
            lambda d, b=shuffled.batch: d["shuffled"].update(batch=b * 9 // 10),
            too_much,
        )
        vectors.edit(f"{name}: fewer honest", plan, lambda d: d["shuffled"].update(honest="0.8"), too_much)
        vectors.edit(
            f"{name}: a smaller delta",
            plan,
            lambda d: d["shuffled"].update(delta="0.000000000000001"),
            too_much,
        )
        more = f"{float(plan.epsilon) * 1.1:g}"
        vectors.edit(f"{name}: a larger epsilon", plan, lambda d, e=more: d.update(epsilon=e), too_much)
    vectors.edit(
        "a standing plan that states less",
        made["shuffled, standing"],
        lambda d: d["shuffled"].update(batch=50),
        too_much,
    )


def files() -> dict[str, Any]:
    """Return all vector files by name."""
    made = shuffled_plans()
    found: dict[str, Any] = {
        "accountant": accountant(),
        "refused_plans": refused(made),
        "ledgers": sum_scenarios(),
    }
    for name, about in plan_vectors(made).items():
        plan = made[name]
        counted = name in ("shuffled", "shuffled, standing")
        good = Reporter(plan, "none").draw([], 0, Ordinary(f"rejected {name}"))
        found[f"plans/{slug(name)}"] = about | {
            "hidden": plan.shuffled.hidden if plan.shuffled else None,
            "reports": reports(name, plan) if name != "most of everything" else [],
            "tallies": tallies(name, plan) if counted else [],
            "rejected_reports": of_plan(plan, 0, good) if counted else [],
        }
    return found | {"index": sorted([*(f"{name}.json" for name in found), "seals.json"])}


if __name__ == "__main__":
    write(files(), Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
