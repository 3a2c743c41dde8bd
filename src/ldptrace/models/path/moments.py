"""How the features of a path go together: second moments, and from them the rows of the Jacobian.

At a fixed number of moves, the derivative of an expected feature by a log-potential is the covariance of the two
features (`docs/explanation/path-model.md`, "Sums over all paths").
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.models.path.messages import Messages


@dataclass(frozen=True, eq=False)
class Moments:
    """Second moments of first cells, last cells, moves and turns when paths are weighted by their number of moves.

    `moved` and `ended` are those of `Messages.pairs` for this weighting, where they were computed; `length` is the
    distribution of the number of cells.
    """

    messages: Messages
    length: Floats
    by_moves: Floats
    moved: Floats | None = None
    ended: Floats | None = None

    @property
    def _cells(self) -> int:
        return self.messages.graph.cells

    @cached_property
    def start_and_end(self) -> Floats:
        """How often each first cell goes with each last cell."""
        assert self.ended is not None
        return self.ended[: self._cells] + np.diag(self.by_moves[0] * self.messages.single)

    @cached_property
    def start_rows(self) -> Floats:
        """Jacobian of the expected first cells."""
        assert self.moved is not None
        starts = np.diag(self.by_moves @ self.messages.starts)
        blocks = [starts, self.start_and_end, self.moved[: self._cells], self._starts_turns]
        return self._centred(blocks, self.messages.starts)

    @cached_property
    def end_rows(self) -> Floats:
        """Jacobian of the expected last cells."""
        assert self.ended is not None
        ends = np.diag(self.by_moves @ self.messages.ends)
        blocks = [self.start_and_end.T, ends, self.ended[self._cells :].T, self._turns_ends.T]
        return self._centred(blocks, self.messages.ends)

    @cached_property
    def move_rows(self) -> Floats:
        """Jacobian of the expected moves."""
        assert self.moved is not None
        assert self.ended is not None
        # Earlier and later, minus once what was counted as both.
        ordered = self.moved[self._cells :]
        both = ordered + ordered.T
        both[np.diag_indices_from(both)] -= self.by_moves @ self.messages.moves
        blocks = [self.moved[: self._cells].T, self.ended[self._cells :], both, self._turns_moves.T]
        return self._centred(blocks, self.messages.moves)

    @cached_property
    def turn_rows(self) -> Floats:
        """Jacobian of the expected turns; needs neither `moved` nor `ended`."""
        later = np.einsum("tke,ske->ts", self.messages.turning, self._turns_after)
        both = later + later.T + np.diag(self.by_moves @ self.messages.turns)
        blocks = [self._starts_turns.T, self._turns_ends, self._turns_moves, both]
        return self._centred(blocks, self.messages.turns)

    def _centred(self, blocks: list[Floats], given_moves: Floats) -> Floats:
        """Second moments to covariances at a fixed number of moves; and the columns of the lengths."""
        weighted = (given_moves * self.by_moves[:, None]).T
        lengths = weighted - np.outer(weighted.sum(axis=1), self.length)
        rows = np.hstack([*blocks, lengths])
        rows[:, : -len(self.length)] -= weighted @ self.messages.features
        return rows

    @cached_property
    def _turns_after(self) -> Floats:
        """Entry (t, k, e): later turns of class t when the k-th move is e, over all endings."""
        return self.messages.spread(self.by_moves) @ self.messages.turns_backward

    @cached_property
    def _starts_turns(self) -> Floats:
        first = self.messages.forward[1:2] * self._turns_after[:, 1:2]
        return self.messages.graph.by_source(first.sum(axis=1)).T

    @cached_property
    def _turns_ends(self) -> Floats:
        ends = self.messages.graph.by_target(self.messages.turns_forward)
        return np.einsum("tkc,kc->tc", ends, self.messages.finals(self.by_moves))

    @cached_property
    def _turns_moves(self) -> Floats:
        """A turn and a move that ends it or comes after it, plus a move and a turn after it."""
        after = np.einsum("tke,ke->te", self.messages.turns_forward, self.messages.uses(self.by_moves))
        return after + np.einsum("ke,tke->te", self.messages.forward, self._turns_after)
