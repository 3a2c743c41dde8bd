"""What people read: names of methods in tables and plots, and a colour for each."""

from __future__ import annotations

from ldptrace.reproduce import published
from ldptrace.reproduce.bench import FLOOR, WALKS
from ldptrace.reproduce.central import NAME as CENTRAL

TITLES = {
    "single-report": "one report",
    "paper": "LDPTrace, padded",
    "paper-unpadded": "LDPTrace, leaking length",
    "randsyn": "RandSyn",
    "combtran": "CombTran",
    "noadapt": "NoAdapt",
    "ngram": "NGRAM",
    "ngram-full": "NGRAM with places",
    CENTRAL: "central DP (other trust)",
    FLOOR: "real data",
    WALKS: "random walks",
}
# Published and measured values of one method share a colour, and stand beside each other in this order.
COLOURS = {
    "single-report": "#0072b2",
    "paper": "#d55e00",
    published.LDPTRACE: "#d55e00",
    "paper-unpadded": "#e69f00",
    "ngram": "#009e73",
    published.NGRAM: "#009e73",
    "ngram-full": "#56b4e9",
    published.UNMODIFIED: "#56b4e9",
    "randsyn": "#cc79a7",
    "combtran": "#999933",
    "noadapt": "#882255",
    CENTRAL: "#7f7f7f",
    FLOOR: "#bbbbbb",
    WALKS: "#444444",
}
UNITS = {
    "seconds": "seconds",
    "devices": "Devices, s per 1,000",
    "prepare": "Preparation, s per 1,000",
    "estimate": "Estimation, s per 1,000",
    "synthesise": "Synthesis, s per 1,000",
    "total": "Total, s per 1,000",
    "reidentification": "re-identification resilience ↑",
    "outlier": "outlier resilience ↑",
}
