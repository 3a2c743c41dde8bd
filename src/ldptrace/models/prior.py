"""What is believed of log-potentials before any report: a sum of Gaussian components, each of unknown size.

A component says which potentials go up and down together. How large each is, is estimated from the noisy answers
themselves (`ldptrace.models.fit`); a component that the data does not speak for shrinks to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.models.linear import Root

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# Blocks of fewer potentials are made one: a loop over them would cost more than the zeros between them.
_LEAST = 64


@dataclass(frozen=True, eq=False)
class PriorComponent:
    """Potentials = basis @ (independent normals of variance `variance`); the basis is a sparse or a dense matrix.

    `variance` is a first guess; with `fixed` it stays. A component that `needs` a question is held at zero where
    nobody was asked it: other answers would bend it to their own ends.
    """

    name: str
    basis: Any
    variance: float = 0.05
    fixed: bool = False
    needs: str | None = None

    @cached_property
    def columns(self) -> Columns:
        return Columns.of(self.basis)


@dataclass(frozen=True, eq=False)
class Columns:
    """A basis without its zeros: columns with a single entry, `sizes` in rows `alone`, and the rows of all others."""

    alone: Ints
    sizes: Floats
    rows: Ints
    matrix: Floats

    @staticmethod
    def of(basis: Any) -> Columns:
        if isinstance(basis, np.ndarray):
            at, column = basis.nonzero()
            entries = basis[at, column]
        else:
            listed = basis.tocoo()
            at, column, entries = listed.row.astype(np.int64), listed.col.astype(np.int64), listed.data
        single = np.bincount(column, minlength=basis.shape[1]) == 1
        lonely = single[column]
        rows, row = np.unique(at[~lonely], return_inverse=True)
        others, number = np.unique(column[~lonely], return_inverse=True)
        matrix = np.zeros((len(rows), len(others)))
        matrix[row.ravel(), number.ravel()] = entries[~lonely]
        return Columns(at[lonely], entries[lonely], rows, matrix)

    def seen_by(self, jacobian: Floats) -> Floats:
        """The Jacobian times the basis, in some order of its columns."""
        return np.hstack([jacobian[:, self.alone] * self.sizes, jacobian[:, self.rows] @ self.matrix])


class Prior:
    """The sum of the components, for any variances v_g of theirs: covariance K = sum of v_g B_g B_g^T."""

    def __init__(self, components: Sequence[PriorComponent]) -> None:
        self.components = tuple(components)

    @property
    def size(self) -> int:
        """How many potentials there are."""
        return int(self.components[0].basis.shape[0])

    @cached_property
    def basis(self) -> Any:
        """All bases side by side, as one sparse matrix."""
        from scipy import sparse

        return sparse.hstack([sparse.csr_array(part.basis) for part in self.components], format="csr")

    @cached_property
    def owner(self) -> Ints:
        """The component of each column of the basis."""
        return np.repeat(np.arange(len(self.components)), [part.basis.shape[1] for part in self.components])

    @cached_property
    def blocks(self) -> tuple[Ints, ...]:
        """Potentials that no component moves together are in different blocks."""
        label, before = np.arange(self.size), None
        patterns = [(part.columns.rows, *part.columns.matrix.nonzero()) for part in self.components]
        while before is None or (label != before).any():
            before = label.copy()
            for rows, row, column in patterns:
                least = np.full(len(column), self.size)
                np.minimum.at(least, column, label[rows[row]])
                np.minimum.at(label, rows[row], least[column])
        sizes = np.bincount(label)[label]
        label[sizes < _LEAST] = -1
        return tuple(np.flatnonzero(label == number) for number in np.unique(label))

    @cached_property
    def _alone(self) -> Floats:
        """What the columns of one entry add to the variance of each potential (row: component), per unit of theirs."""
        return np.array(
            [
                np.bincount(part.columns.alone, part.columns.sizes**2, self.size).astype(np.float64)
                for part in self.components
            ]
        )

    @cached_property
    def _together(self) -> list[list[tuple[int, Any, Floats]]]:
        """For every block what the other columns add to its covariance: component, where, and how much per unit."""
        found: list[list[tuple[int, Any, Floats]]] = []
        for block in self.blocks:
            found.append([])
            for number, part in enumerate(self.components):
                _, at, inside = np.intersect1d(block, part.columns.rows, True, return_indices=True)
                if len(at) == 0:
                    continue
                if at[-1] - at[0] + 1 == len(at):
                    where: Any = (slice(at[0], at[-1] + 1),) * 2
                else:
                    where = np.ix_(at, at)
                rows = part.columns.matrix[inside]
                found[-1].append((number, where, rows @ rows.T))
        return found

    def root(self, variances: Floats) -> PriorRoot:
        """Potentials in units of what is believed of them; every one has a component of its own, so there are such."""
        alone = variances @ self._alone
        roots = []
        for block, shares in zip(self.blocks, self._together, strict=True):
            covariance = np.diag(alone[block])
            for number, where, share in shares:
                covariance[where] += variances[number] * share
            roots.append(Root(covariance))
        return PriorRoot(self.blocks, tuple(roots))


@dataclass(frozen=True, eq=False)
class PriorRoot:
    """L with L L^T the covariance K, block by block: potentials x = L c, where c is standard normal.

    Columns of L, and the entries of c, are in the order of the blocks.
    """

    blocks: tuple[Ints, ...]
    roots: tuple[Root, ...]

    def seen_by(self, jacobian: Floats) -> Floats:
        """The Jacobian times L."""
        parts = zip(self.blocks, self.roots, strict=True)
        return np.hstack([jacobian[:, rows] @ root.lower for rows, root in parts])

    def potentials(self, own: Floats) -> Floats:
        """x = L c."""
        found, at = np.empty(len(own)), 0
        for rows, root in zip(self.blocks, self.roots, strict=True):
            found[rows] = root.lower @ own[at : at + len(rows)]
            at += len(rows)
        return found

    def own(self, potentials: Floats) -> Floats:
        """c = L^-1 x."""
        parts = zip(self.blocks, self.roots, strict=True)
        return np.concatenate([root.inverted @ potentials[rows] for rows, root in parts])

    def pull(self, potentials: Floats) -> Floats:
        """K^-1 x: how strongly each potential is pulled back to zero."""
        found = np.empty(len(potentials))
        for rows, root in zip(self.blocks, self.roots, strict=True):
            found[rows] = root.solve(potentials[rows])
        return found
