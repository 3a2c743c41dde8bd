"""Messages along the paths of the model: sums over beginnings and endings, and how pairs of features go together.

The weight of a path is a product: its first cell, its first move, every later move given the one before, its
last cell. Sums over all paths with a given number of moves need one vector per position, over the moves of the
grid. Every vector is scaled to sum one; the scales cancel, because all uses are ratios at a fixed number of moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numba
import numpy as np
from numpy.typing import NDArray

from ldptrace.core.parallel import map_chunks
from ldptrace.models.path.network import Network
from ldptrace.protocol.lattice import TURNS

Floats = NDArray[np.float64]
_ROWS = 32


@dataclass(frozen=True, eq=False)
class Weights:
    """Factors of a path's weight; `step[e, k]` is for the k-th of the moves that may follow move `e`."""

    start: Floats
    move: Floats
    step: Floats
    end: Floats


@dataclass(frozen=True, eq=False)
class Messages:
    """Sums over the beginnings and the endings of all paths with up to `most` moves.

    `ahead[k]` is over the beginnings whose k-th move is the given one (k from 1), `behind[j]` over the endings
    with j moves after the given one. `growth[k]` and `decay[j]` are what they were divided by.
    """

    network: Network
    weights: Weights
    ahead: Floats
    behind: Floats
    growth: Floats
    decay: Floats

    @staticmethod
    def along(network: Network, weights: Weights, most: int) -> Messages:
        ahead = np.zeros((most + 1, network.moves))
        behind = np.zeros((most + 1, network.moves))
        growth, decay = np.ones(most + 1), np.ones(most + 1)
        if most:
            ahead[1] = weights.start[network.source] * weights.move
            ahead[1] /= ahead[1].sum()
        behind[0] = weights.end[network.target]
        _along(network.target, network.first, weights.step, ahead, behind, growth, decay)
        return Messages(network, weights, ahead, behind, growth, decay)

    @property
    def most(self) -> int:
        return len(self.ahead) - 1

    @cached_property
    def inverse(self) -> Floats:
        """Entry (k, j): one over the sum of all paths with k + j moves, cut after move k; 0 beyond `most`."""
        sums = self.ahead @ self.behind.T
        return np.divide(1.0, sums, out=np.zeros_like(sums), where=self._inside & (sums > 0))

    @cached_property
    def _inside(self) -> NDArray[np.bool_]:
        k = np.arange(self.most + 1)
        return (k[:, None] >= 1) & (k[:, None] + k <= self.most)

    def spread(self, by_moves: Floats) -> Floats:
        """Entry (k, j): weight of paths with k + j moves over their sum, cut after move k."""
        k = np.arange(self.most + 1)
        return by_moves[np.minimum(k[:, None] + k, self.most)] * self.inverse

    def uses(self, by_moves: Floats) -> Floats:
        """Entry (k, e): what move e counts as the k-th one, all endings summed, paths weighted by their moves."""
        return self.spread(by_moves) @ self.behind

    def finals(self, by_moves: Floats) -> Floats:
        """Entry (k, e): what move e counts as the k-th and last one."""
        return self.spread(by_moves)[:, :1] * self.behind[0]

    @cached_property
    def single(self) -> Floats:
        """Distribution of the cell of paths without moves."""
        weight = self.weights.start * self.weights.end
        return weight / weight.sum()

    @cached_property
    def moves(self) -> Floats:
        """Expected uses of each move, one row per number of moves of the path."""
        expected = np.zeros_like(self.ahead)
        _expected_moves(self.ahead, self.behind, self.inverse, expected)
        return expected

    @cached_property
    def starts(self) -> Floats:
        """Distribution of the first cell, one row per number of moves."""
        return np.vstack([self.single, self.network.by_source(self.first_moves)])

    @cached_property
    def first_moves(self) -> Floats:
        """Distribution of the first move, one row per number of moves from one on."""
        if self.most == 0:
            return np.zeros((0, self.network.moves))
        return self.ahead[1] * self.behind[:-1] * self.inverse[1, :-1, None]

    @cached_property
    def ends(self) -> Floats:
        """Distribution of the last cell, one row per number of moves."""
        table = self.network.by_target(self.ahead * self.behind[0] * self.inverse[:, :1])
        table[0] = self.single
        return table

    @cached_property
    def turns(self) -> Floats:
        """Expected number of turns of each class, one row per number of moves."""
        return np.einsum("tke,e,k->kt", self.turns_ahead, self.behind[0], self.inverse[:, 0])

    @cached_property
    def turns_ahead(self) -> Floats:
        """Entry (t, k, e): `ahead[k, e]` with every beginning counted once per turn of class t."""
        return self._turns_ahead[0]

    @cached_property
    def turning(self) -> Floats:
        """Entry (t, k, e): the part of `ahead[k, e]` that makes its last turn, into e, in class t."""
        return self._turns_ahead[1]

    @cached_property
    def _turns_ahead(self) -> Floats:
        tables = np.zeros((2, TURNS, self.most + 1, self.network.moves))
        network, step = self.network, self.weights.step
        _turns_ahead(network.target, network.first, network.turns, step, self.ahead, self.growth, *tables)
        return tables

    @cached_property
    def turns_behind(self) -> Floats:
        """Entry (t, j, e): `behind[j, e]` with every ending counted once per turn of class t, that at e included."""
        table = np.zeros((TURNS, self.most + 1, self.network.moves))
        network, step = self.network, self.weights.step
        _turns_behind(network.target, network.first, network.turns, step, self.behind, self.decay, table)
        return table

    def returns(self, by_moves: Floats) -> Floats:
        """Expected number of times that each move is taken and unmade at once, paths weighted by their moves."""
        before = self.ahead[1:-1] / self.growth[2:, None]
        after = self.uses(by_moves)[2:, self.network.reverse]
        return (before * after).sum(axis=0) * self._way_back

    def repeats(self, by_moves: Floats) -> Floats:
        """Expected number of times that each move is taken, unmade and taken again at once."""
        before = self.ahead[1:-2] / (self.growth[2:-1] * self.growth[3:])[:, None]
        after = self.uses(by_moves)[3:]
        return (before * after).sum(axis=0) * self._way_back * self._way_back[self.network.reverse]

    @cached_property
    def _way_back(self) -> Floats:
        return self.weights.step[np.arange(self.network.moves), self.network.back]

    def pairs(self, uses: Floats, finals: Floats) -> tuple[Floats, Floats]:
        """How often a first cell or a move goes together with a later or the same move, and with the last cell.

        `uses` and `finals` stack what the methods of these names return, for several weightings q. Entry (q, r, e)
        of the first result is for feature r (cells as first cell, then moves) and move e, entry (q, r, c) of the
        second for last cell c.
        """
        network = self.network
        rows = network.cells + network.moves
        moved = np.zeros((len(uses), rows, network.moves))
        ended = np.zeros((len(finals), rows, network.cells))

        def work(_: int, start: int, stop: int) -> None:
            arguments = (
                network.source,
                network.target,
                network.first,
                self.weights.step,
                self.ahead,
                self.growth,
            )
            _pairs(start, stop, network.cells, *arguments, uses, finals, moved, ended)

        map_chunks(work, rows, _ROWS)
        return moved, ended


@numba.njit(cache=True, nogil=True)
def _along(target, first, step, ahead, behind, growth, decay):  # type: ignore[no-untyped-def]
    most, moves = ahead.shape[0] - 1, ahead.shape[1]
    for k in range(2, most + 1):
        for e in range(moves):
            begin = first[target[e]]
            for s in range(begin, first[target[e] + 1]):
                ahead[k, s] += ahead[k - 1, e] * step[e, s - begin]
        growth[k] = ahead[k].sum()
        ahead[k] /= growth[k]
    for j in range(1, most + 1):
        for e in range(moves):
            begin = first[target[e]]
            for s in range(begin, first[target[e] + 1]):
                behind[j, e] += step[e, s - begin] * behind[j - 1, s]
        decay[j] = behind[j].sum()
        behind[j] /= decay[j]


@numba.njit(cache=True, nogil=True)
def _expected_moves(ahead, behind, inverse, expected):  # type: ignore[no-untyped-def]
    most, moves = ahead.shape[0] - 1, ahead.shape[1]
    for total in range(1, most + 1):
        for k in range(1, total + 1):
            scale = inverse[k, total - k]
            for e in range(moves):
                expected[total, e] += ahead[k, e] * behind[total - k, e] * scale


@numba.njit(cache=True, nogil=True)
def _turns_ahead(target, first, turns, step, ahead, growth, table, last):  # type: ignore[no-untyped-def]
    classes, positions, moves = table.shape
    for k in range(2, positions):
        for e in range(moves):
            begin = first[target[e]]
            for s in range(begin, first[target[e] + 1]):
                weight = step[e, s - begin] / growth[k]
                for t in range(classes):
                    table[t, k, s] += table[t, k - 1, e] * weight
                last[turns[e, s - begin], k, s] += ahead[k - 1, e] * weight
        table[:, k] += last[:, k]


@numba.njit(cache=True, nogil=True)
def _turns_behind(target, first, turns, step, behind, decay, table):  # type: ignore[no-untyped-def]
    classes, positions, moves = table.shape
    for j in range(1, positions):
        for e in range(moves):
            begin = first[target[e]]
            for s in range(begin, first[target[e] + 1]):
                weight = step[e, s - begin] / decay[j]
                for t in range(classes):
                    table[t, j, e] += table[t, j - 1, s] * weight
                table[turns[e, s - begin], j, e] += behind[j - 1, s] * weight


@numba.njit(cache=True, nogil=True)
def _pairs(  # type: ignore[no-untyped-def]
    start, stop, cells, source, target, first, step, ahead, growth, uses, finals, moved, ended
):
    positions, moves = ahead.shape
    rows = stop - start
    # Beginnings up to the k-th move, counted as often as they have feature r: entry (e, r), rows side by side so
    # that the inner loops run over neighbours in memory.
    here, there = np.zeros((moves, rows)), np.zeros((moves, rows))
    together = np.zeros((uses.shape[0], moves, rows))
    last = np.zeros((finals.shape[0], moves, rows))
    for k in range(1, positions):
        if k == 1:
            for r in range(start, min(stop, cells)):
                for e in range(first[r], first[r + 1]):
                    here[e, r - start] = ahead[1, e]
        else:
            there[:] = 0.0
            for e in range(moves):
                begin = first[target[e]]
                for s in range(begin, first[target[e] + 1]):
                    weight = step[e, s - begin] / growth[k]
                    for r in range(rows):
                        there[s, r] += here[e, r] * weight
            here, there = there, here
        for r in range(max(start, cells), stop):
            here[r - cells, r - start] += ahead[k, r - cells]
        for q in range(uses.shape[0]):
            for e in range(moves):
                for r in range(rows):
                    together[q, e, r] += here[e, r] * uses[q, k, e]
        for q in range(finals.shape[0]):
            for e in range(moves):
                for r in range(rows):
                    last[q, e, r] += here[e, r] * finals[q, k, e]
    for r in range(rows):
        for e in range(moves):
            for q in range(uses.shape[0]):
                moved[q, start + r, e] = together[q, e, r]
            for q in range(finals.shape[0]):
                ended[q, start + r, target[e]] += last[q, e, r]
