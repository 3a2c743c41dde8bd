from __future__ import annotations

import pytest

from ldptrace.evaluation.metrics import METRICS
from ldptrace_lab.reproduce import published


def test_tables_agree_where_the_paper_prints_a_value_twice() -> None:
    """Table 5 and 6 repeat columns of Table 3; the paper itself differs in three places of Campus."""
    differ = []
    for name, rows in published.VARIANTS.items():
        whole = published.utility(name, published.LDPTRACE, 1.0)
        differ += [
            (name, metric)
            for metric, value in zip(METRICS, rows["paper"], strict=True)
            if value != whole[metric]
        ]
    assert differ == [("campus", "kendall_tau"), ("campus", "diameter_error")]
    for method in (published.LDPTRACE, published.NGRAM):
        whole = published.utility("campus", method, 1.0)
        again = dict(zip(METRICS, published.CAMPUS[method], strict=True))
        assert {metric for metric in again if again[metric] != whole[metric]} <= {
            "kendall_tau",
            "diameter_error",
        }


def test_parts_of_the_time_add_up() -> None:
    for table in published.SECONDS.values():
        parts = sum(table[name] for name in ("length", "moves", "ends", "prepare", "estimate", "synthesise"))
        assert parts == pytest.approx(table["total"], abs=0.0015)


def test_nothing_is_printed_of_other_epsilons_and_other_sets() -> None:
    assert published.utility("oldenburg", published.LDPTRACE, 0.7) == {}
    assert (
        published.utility("elsewhere", published.LDPTRACE, 1.0) == published.utility(None, "NGRAM", 1.0) == {}
    )
