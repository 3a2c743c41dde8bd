"""A distribution over few ordered classes from noisy answers: a public profile, bent as far as the answers say.

The logarithm of the distribution is Gaussian around the logarithm of the profile. How strongly and over what width
it may bend, the answers decide: the results of several covariances are averaged by their marginal likelihood times
a belief that falls with their strength. With few users next to nothing is bent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.errors import InputError
from ldptrace.models.observation import REPLICATES

# Steps of Gauss-Newton at most, and what one must still add to the logarithm of the probability for another to follow.
STEPS, GAIN = 60, 1e-6
# Directions in which a covariance bends less than this, as a standard deviation, are omitted: no answer can see them.
STIFF = 1e-3
# No city is closer to a public profile than this, as a standard deviation of logarithms: smaller bends may be the best
# guess, but they say nothing of how far off it is. Chosen on generated cities 1 to 4 (benchmarks/intervals.py).
LEAST = 0.4
# Distributions that are drawn of each bend, and bends that are not worth it.
DRAWN, SLIGHT = 50, 1e-3


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers with their variances; `response` holds the answer of each class in its columns (None: itself)."""

    frequencies: Floats
    variances: Floats
    response: Floats | None = None

    def expected(self, probabilities: Floats) -> Floats:
        """Return the mean answers under a distribution."""
        return probabilities if self.response is None else self.response @ probabilities


@dataclass(frozen=True, eq=False)
class Bend:
    """One way in which the logarithm of a profile may be wrong: a covariance, its strength in words, how much it is
    believed beforehand, as a logarithm, and its standard deviation."""

    covariance: Floats
    words: str
    belief: float = 0.0
    size: float = 0.0


@dataclass(frozen=True, eq=False)
class OrdinalFit:
    """The fitted distribution, the bend that explains the answers best, and its weight among all bends.

    `ratios` stand for other distributions that the answers allow, over the fitted one: a row for each replicate. Only
    their squares mean something: single ones may be below zero.
    """

    probabilities: Floats
    bend: Bend
    weight: float
    ratios: Floats | None = None


def fit_ordinal(profile: Floats, seen: Sequence[Answers], bends: Sequence[Bend]) -> OrdinalFit:
    """Fit the mean over the bends, by their marginal likelihood, of the most probable distribution under each.

    >>> flat = np.full(24, 1 / 24)
    >>> quiet = fit_ordinal(flat, [Answers(np.eye(24)[0], np.full(24, 9.0))], circle(24))
    >>> bool(np.abs(quiet.probabilities - flat).max() < 0.002)
    True
    """
    if not (np.isfinite(profile).all() and (profile > 0).all() and len(bends) > 0):
        raise InputError("a public profile must be positive everywhere, with at least one way to bend it")
    known = [part for part in seen if np.isfinite(part.variances).all()]
    first = profile / profile.sum()
    if not known:
        return OrdinalFit(first, bends[0], 1.0)
    # Not before: a command loads this to know a model by its kind, and that searches for libraries.
    from ldptrace.models.linear import one_thread

    with one_thread():
        fits = [_most_probable(np.log(first), known, bend.covariance) for bend in bends]
    evidence = np.array([value for _, value, _ in fits])
    weights = _shares(evidence + [bend.belief for bend in bends])
    best = int(np.argmax(weights))
    mean: Floats = weights @ np.array([probabilities for probabilities, *_ in fits])
    # A belief chooses the best guess, but it knows nothing: what may be true is what the answers allow.
    wide = np.array([bend.size for bend in bends])
    allowed = np.where(wide >= min(LEAST, wide.max()), evidence, -np.inf)
    ratios = 1 + _changes(fits, _shares(allowed), mean) / mean
    return OrdinalFit(mean, bends[best], float(weights[best]), ratios)


def _shares(evidence: Floats) -> Floats:
    """Return weights that add up to 1 and have these logarithms, up to a constant (softmax)."""
    weights = np.exp(evidence - evidence.max())
    return np.asarray(weights / weights.sum())


def _changes(fits: Sequence[tuple[Floats, float, Floats]], weights: Floats, mean: Floats) -> Floats:
    """Return a change of the mean in each replicate; their squares are those of all distributions that the answers
    allow.

    These are normal in their logarithms around the mode of each bend. A few of them drawn by chance would show their
    spread only roughly.
    """
    rng, apart = np.random.default_rng(0), []
    for (mode, _, root), weight in zip(fits, weights, strict=True):
        if weight > SLIGHT:
            drawn = mode[:, None] * np.exp(root @ rng.standard_normal((root.shape[1], DRAWN)))
            apart.append(np.sqrt(weight / DRAWN) * (drawn / drawn.sum(axis=0) - mean[:, None]))
    every = np.hstack(apart)
    directions, sizes, _ = np.linalg.svd(every, full_matrices=False)
    main = (directions * sizes)[:, :REPLICATES]
    turned = np.linalg.qr(rng.standard_normal((REPLICATES, main.shape[1])))[0]
    changes = np.sqrt(REPLICATES) * turned @ main.T
    # Of a week there are more hours than replicates: each has its own spread all the same.
    return np.asarray(changes * np.sqrt((every**2).sum(axis=1) / (main**2).sum(axis=1)))


def _misfit(part: Answers, probabilities: Floats) -> Floats:
    return (part.frequencies - part.expected(probabilities)) / np.sqrt(part.variances)


def _most_probable(
    log_profile: Floats, seen: Sequence[Answers], covariance: Floats
) -> tuple[Floats, float, Floats]:
    """Find the mode by Gauss-Newton, its log-evidence by Laplace's approximation, up to a constant of the answers, and
    a root of the covariance of the logarithms around it."""
    values, vectors = np.linalg.eigh(covariance)
    bending = values > STIFF**2
    root = vectors[:, bending] * np.sqrt(values[bending])
    size = root.shape[1]

    def at(z: Floats) -> tuple[Floats, float]:
        logs = log_profile + root @ z
        probabilities = np.exp(logs - logs.max())
        probabilities /= probabilities.sum()
        cost = 0.5 * z @ z + 0.5 * sum(float(np.sum(_misfit(part, probabilities) ** 2)) for part in seen)
        return probabilities, float(cost)

    z = np.zeros(size)
    probabilities, cost = at(z)
    curvature = np.eye(size)
    for _ in range(STEPS):
        slope, curvature = z.copy(), np.eye(size)
        change = probabilities[:, None] * root - np.outer(probabilities, probabilities @ root)
        for part in seen:
            jacobian = (change if part.response is None else part.response @ change) / np.sqrt(
                part.variances
            )[:, None]
            slope -= jacobian.T @ _misfit(part, probabilities)
            curvature += jacobian.T @ jacobian
        step = np.linalg.solve(curvature, slope)
        share = 1.0
        while share > 1e-6:
            moved, lower = at(z - share * step)
            if lower <= cost:
                break
            share /= 2
        else:
            break
        z, probabilities, gain, cost = z - share * step, moved, cost - lower, lower
        if gain < GAIN:
            break
    spread = root @ np.linalg.inv(np.linalg.cholesky(curvature)).T
    return probabilities, -cost - 0.5 * float(np.linalg.slogdet(curvature)[1]), spread


# -- ways to bend ------------------------------------------------------------------------------------------

# Sizes of bends, and how much less each is believed the larger it is.
SIZES = (0.05, 0.15, 0.4, 0.8, 1.4)
DISBELIEF = 4.0


def circle(size: int, log_profile: Floats | None = None) -> list[Bend]:
    """Make smooth bends on a circle, such as the hours; with a profile also sharper and blunter versions of it."""
    apart = 2 * np.pi * np.subtract.outer(np.arange(size), np.arange(size)) / size
    sharp = np.zeros(size) if log_profile is None else log_profile - log_profile.mean()
    bends = []
    sharper = (0.0,) if log_profile is None else (0.0, 0.3, 1.0)
    for spread, sharpness, width in product(SIZES, sharper, (1.5, 2.5, 4.0, 7.0)):
        # The Gaussian of that width in hours, on the circle.
        kernel = np.exp((np.cos(apart) - 1) * (24 / (2 * np.pi * width)) ** 2)
        words = f"bent by {spread:g} over {width:g} hours, sharpened by {sharpness:g}"
        covariance = spread**2 * kernel + sharpness**2 * np.outer(sharp, sharp)
        bends.append(Bend(covariance, words, -DISBELIEF * (spread + sharpness / 2), spread))
    return bends


def line(places: Floats) -> list[Bend]:
    """Make smooth bends of a bell over `places`, in logarithms: moved along, made narrower or wider, and bent."""
    middle = places - places.mean()
    curve = middle**2 - np.mean(middle**2)
    apart = np.subtract.outer(places, places)
    bends = []
    for spread, moved, wider, width in product(
        (0.02, 0.3, 0.8, 2.5), (1.0, 3.0, 6.0), (0.5, 2.0, 6.0), (0.5, 1.0)
    ):
        covariance = spread**2 * np.exp(-0.5 * (apart / width) ** 2)
        covariance += moved**2 * np.outer(middle, middle) + wider**2 * np.outer(curve, curve)
        words = f"moved by {moved:g}, wider by {wider:g}, bent by {spread:g}"
        belief = -DISBELIEF * min(spread, 1.0) - 0.1 * (moved + wider)
        bends.append(Bend(covariance, words, belief, spread))
    return bends
