"""What the paper prints: its tables, and the single values that its text tells of its figures.

Transcribed from section 6 of Du et al., "LDPTrace: Locally Differentially Private Trajectory Synthesis", PVLDB
16(8), 2023. Metrics are in the order of `ldptrace.evaluation.METRICS`. `docs/explanation/published-numbers.md` says how
far they can be compared with what is measured here.
"""

from __future__ import annotations

from dataclasses import dataclass

METRICS = (
    "density_error",
    "query_error",
    "hotspot_query_error",
    "kendall_tau",
    "trip_error",
    "length_error",
    "diameter_error",
    "pattern_f1",
    "pattern_error",
)
EPSILONS = (0.5, 1.0, 1.5)
LDPTRACE, NGRAM, UNMODIFIED = "LDPTrace", "NGRAM", "unmodified NGRAM"


@dataclass(frozen=True)
class PaperSet:
    """One data set of the paper: its size, mean number of points, seconds between points, and N (Table 2)."""

    title: str
    trajectories: int
    mean_points: float
    interval: float
    n: int


SETS = {
    "oldenburg": PaperSet("Oldenburg", 500_000, 69.75, 15.6, 6),
    "porto": PaperSet("Porto", 361_591, 34.13, 15.0, 6),
    "hangzhou": PaperSet("Hangzhou", 348_144, 125.02, 5.0, 8),
    "campus": PaperSet("Campus", 1_000_000, 35.98, 25.0, 6),
}

# Table 3: for each set and method one line per metric, at epsilon 0.5, 1.0 and 1.5.
_UTILITY: dict[tuple[str, str], tuple[tuple[float, float, float], ...]] = {
    ("oldenburg", NGRAM): (
        (0.0323, 0.0301, 0.0274),
        (0.3362, 0.3321, 0.3206),
        (0.2972, 0.2972, 0.2972),
        (0.7479, 0.7512, 0.7498),
        (0.1251, 0.1231, 0.1230),
        (0.1142, 0.1134, 0.1112),
        (0.1244, 0.1242, 0.1221),
        (0.33, 0.33, 0.34),
        (0.8033, 0.8004, 0.7982),
    ),
    ("oldenburg", LDPTRACE): (
        (0.0094, 0.0077, 0.0085),
        (0.2691, 0.2595, 0.2522),
        (0.0593, 0.0593, 0.0530),
        (0.8874, 0.8944, 0.8942),
        (0.0697, 0.0683, 0.0672),
        (0.0373, 0.0370, 0.0379),
        (0.0568, 0.0570, 0.0562),
        (0.69, 0.69, 0.69),
        (0.5693, 0.5632, 0.5594),
    ),
    ("porto", NGRAM): (
        (0.3311, 0.3218, 0.3049),
        (0.8171, 0.8102, 0.8055),
        (1.0, 1.0, 1.0),
        (0.5442, 0.5791, 0.5934),
        (0.5122, 0.5043, 0.4979),
        (0.1812, 0.1823, 0.1791),
        (0.2201, 0.2180, 0.2174),
        (0.19, 0.18, 0.19),
        (0.9206, 0.9232, 0.9181),
    ),
    ("porto", LDPTRACE): (
        (0.0090, 0.0081, 0.0069),
        (0.3520, 0.3312, 0.3011),
        (0.0, 0.0, 0.0),
        (0.6672, 0.7114, 0.7581),
        (0.0762, 0.0778, 0.0771),
        (0.0410, 0.0399, 0.0392),
        (0.0354, 0.0340, 0.0331),
        (0.67, 0.63, 0.65),
        (0.6498, 0.6687, 0.6692),
    ),
    ("hangzhou", NGRAM): (
        (0.1930, 0.1847, 0.1831),
        (0.6454, 0.6411, 0.6332),
        (0.1529, 0.1529, 0.1529),
        (0.6164, 0.6242, 0.6623),
        (0.4493, 0.4490, 0.4421),
        (0.02922, 0.02736, 0.02607),
        (0.2013, 0.1989, 0.1972),
        (0.24, 0.26, 0.26),
        (0.8782, 0.8725, 0.8754),
    ),
    ("hangzhou", LDPTRACE): (
        (0.0210, 0.0194, 0.0193),
        (0.2933, 0.2814, 0.2792),
        (0.0131, 0.0131, 0.0131),
        (0.6782, 0.7044, 0.7174),
        (0.0531, 0.0513, 0.0504),
        (0.0036, 0.0037, 0.0032),
        (0.0572, 0.0569, 0.0563),
        (0.80, 0.80, 0.80),
        (0.4593, 0.4552, 0.4554),
    ),
    ("campus", NGRAM): (
        (0.1184, 0.1172, 0.1105),
        (0.7605, 0.7579, 0.7611),
        (0.7001, 0.7001, 0.7001),
        (0.3794, 0.3841, 0.3852),
        (0.3052, 0.3024, 0.2995),
        (0.1102, 0.1041, 0.1045),
        (0.0682, 0.0663, 0.0658),
        (0.32, 0.32, 0.33),
        (0.7992, 0.7912, 0.7789),
    ),
    ("campus", LDPTRACE): (
        (0.0042, 0.0043, 0.0037),
        (0.2014, 0.2011, 0.1980),
        (0.0013, 0.0013, 0.0),
        (0.8603, 0.8574, 0.8667),
        (0.0744, 0.0740, 0.0729),
        (0.0984, 0.0981, 0.0987),
        (0.0591, 0.0589, 0.0587),
        (0.71, 0.71, 0.72),
        (0.5502, 0.5508, 0.5501),
    ),
}

# Table 5, epsilon = 1: RandSyn, CombTran, NoAdapt and the whole method, one line of metrics each.
VARIANTS: dict[str, dict[str, tuple[float, ...]]] = {
    "oldenburg": {
        "randsyn": (0.0569, 0.7491, 0.0724, 0.6623, 0.1779, 0.0694, 0.0611, 0.58, 0.4313),
        "combtran": (0.0168, 0.2794, 0.0593, 0.8108, 0.1052, 0.0371, 0.0570, 0.67, 0.5596),
        "noadapt": (0.0081, 0.3754, 0.0013, 0.8866, 0.0971, 0.0713, 0.0932, 0.69, 0.6822),
        "paper": (0.0077, 0.2595, 0.0593, 0.8944, 0.0683, 0.0370, 0.0570, 0.69, 0.5632),
    },
    "porto": {
        "randsyn": (0.2687, 7.4933, 0.2583, 0.2191, 0.4372, 0.1244, 0.1460, 0.39, 0.6658),
        "combtran": (0.0243, 0.6741, 0.0464, 0.5784, 0.0932, 0.0412, 0.0351, 0.59, 0.6730),
        "noadapt": (0.0098, 0.3607, 0.0464, 0.6828, 0.1052, 0.0579, 0.0631, 0.63, 0.7674),
        "paper": (0.0081, 0.3312, 0.0, 0.7114, 0.0778, 0.0399, 0.0340, 0.63, 0.6687),
    },
    "hangzhou": {
        "randsyn": (0.1928, 2.4842, 0.0144, 0.5252, 0.4471, 0.0549, 0.1344, 0.49, 0.3821),
        "combtran": (0.0361, 0.3426, 0.0464, 0.6492, 0.0762, 0.0040, 0.0594, 0.78, 0.4890),
        "noadapt": (0.0322, 0.3641, 0.0131, 0.7062, 0.0593, 0.0041, 0.0921, 0.80, 0.5866),
        "paper": (0.0194, 0.2814, 0.0131, 0.7044, 0.0513, 0.0037, 0.0569, 0.80, 0.4552),
    },
    "campus": {
        "randsyn": (0.0914, 1.5203, 0.3055, 0.5587, 0.2811, 0.0982, 0.0589, 0.64, 0.4109),
        "combtran": (0.0103, 0.3025, 0.0304, 0.8539, 0.0862, 0.0973, 0.0593, 0.71, 0.5780),
        "noadapt": (0.0046, 0.3766, 0.0593, 0.8571, 0.0502, 0.1496, 0.0590, 0.71, 0.6892),
        "paper": (0.0043, 0.2011, 0.0013, 0.8571, 0.0740, 0.0981, 0.0587, 0.71, 0.5508),
    },
}

# Table 6, Campus, epsilon = 1.
CAMPUS: dict[str, tuple[float, ...]] = {
    NGRAM: (0.1172, 0.7579, 0.7001, 0.3841, 0.3024, 0.1041, 0.0663, 0.32, 0.7912),
    UNMODIFIED: (0.0536, 0.4371, 0.8108, 0.6349, 0.2006, 0.1122, 0.0638, 0.55, 0.8215),
    LDPTRACE: (0.0043, 0.2011, 0.0013, 0.8571, 0.0740, 0.0981, 0.0587, 0.71, 0.5508),
}

# Table 4: seconds per 1,000 trajectories. User side: length, moves, beginning and end; curator: preparation,
# estimation, synthesis; total; and NGRAM's total.
SECONDS: dict[str, dict[str, float]] = {
    name: dict(
        zip(
            ("length", "moves", "ends", "prepare", "estimate", "synthesise", "total", NGRAM), row, strict=True
        )
    )
    for name, row in {
        "oldenburg": (0.030, 0.192, 0.104, 0.010, 0.001, 0.219, 0.556, 183.0),
        "porto": (0.028, 0.148, 0.092, 0.015, 0.001, 0.179, 0.463, 132.0),
        "hangzhou": (0.028, 0.302, 0.098, 0.012, 0.002, 0.304, 0.746, 418.0),
        "campus": (0.028, 0.138, 0.083, 0.009, 0.001, 0.189, 0.448, 197.0),
    }.items()
}

# Section 6.8 says of the attacks on Oldenburg, for every kappa from 2 to 10: "more than 88 %" and "all".
RESILIENCE = {"reidentification": 0.88, "outlier": 1.0}


def utility(name: str, method: str, epsilon: float) -> dict[str, float] | None:
    """Return a column of Table 3 by metric, or None where the paper has none.

    >>> utility("oldenburg", LDPTRACE, 1.0)["trip_error"]
    0.0683
    """
    table = _UTILITY.get((name, method))
    if table is None or epsilon not in EPSILONS:
        return None
    column = EPSILONS.index(epsilon)
    return {metric: row[column] for metric, row in zip(METRICS, table, strict=True)}
