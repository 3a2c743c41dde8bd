"""Bounds on everything a document can ask for, so that a hostile one costs little memory and time."""

from __future__ import annotations

from fractions import Fraction

# Cells per side of the grid.
MAX_N = 256
# Bytes of a plan document.
MAX_DOCUMENT = 1 << 16
MAX_DEPTH = 16
MAX_ROUNDS = 16
# Payload bytes of one report; also the longest that a device computes for.
MAX_PAYLOAD = 1 << 18
# Outputs that a device may have to decide about, over all slots of all questions of all rounds.
MAX_WORK = 1 << 24
# Items in a randomizer's domain, in a user's set, in a subset that PrivSet names.
MAX_DOMAIN = 1 << 20
MAX_CAPACITY = 256
MAX_SUBSET = 1 << 12
# Length caps and numbers of slots.
MAX_COUNT = 1 << 16
# A ratio is written as numerator / 2^k in lowest terms.
RATIO_BITS = 40
MAX_RATIO_NUMERATOR = (1 << 70) - 1
MAX_EPSILON = 20
# Digits of epsilon after the point.
EPSILON_DIGITS = 18
# Characters of a decimal number.
MAX_DECIMAL = 40
# Points of a trajectory that a device looks at.
MAX_POINTS = 1 << 12
# Standing plans: seconds from window to window, first and last start (the year 9999), largest number of a window,
# budget of all answers together.
MIN_EVERY = 60
MAX_EVERY = 366 * 86_400
MAX_START = 253_402_300_799
MAX_WINDOW = (1 << 32) - 1
MAX_LIFETIME = 999
# Shuffled plans: reports in a batch, digits of the share of honest devices, delta of one answer, smallest epsilon of a
# device and of a batch.
MIN_BATCH = 2
MAX_BATCH = 10_000_000
HONEST_DIGITS = 4
MIN_DELTA = Fraction(1, 10**15)
MAX_DELTA = Fraction(1, 10**6)
MIN_LOCAL = 0.01
MIN_CENTRAL = 0.0001
