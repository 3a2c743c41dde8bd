"""The prior of the log-potentials: a sum of Gaussian components, each of unknown variance.

A component says which potentials are high or low together. Its variance is estimated from the noisy answers
(`ldptrace.models.fit`); a component that the answers do not support gets a variance near zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.models.linear import SMALL, Root

# Blocks of fewer potentials are made one: a loop over them would cost more than the zeros between them.
_LEAST = 64


@dataclass(frozen=True, eq=False)
class PriorComponent:
    """Potentials = basis @ (independent normals of variance `variance`); the basis is a sparse or a dense matrix.

    `variance` is a first guess, and `spread` says how far it may be off: the standard deviation of its logarithm. With
    `fixed` it stays. A component that `needs` a question is held at zero where nobody was asked it, because it would
    only fit the noise of other answers. With `freedom` single potentials may stand out: the normals of columns with one
    entry are those of Student's law of that many degrees of freedom, whose widths are part of the basis.
    """

    name: str
    basis: Any
    variance: float = 0.05
    spread: float = 4.0
    fixed: bool = False
    needs: str | None = None
    freedom: float | None = None

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
        """Divide a basis, dense or sparse, into columns with one entry and all others."""
        if isinstance(basis, np.ndarray):
            at, column = basis.nonzero()
            entries = basis[at, column]
        else:
            listed = basis.tocoo()
            at, column, entries = listed.row.astype(np.int64), listed.col.astype(np.int64), listed.data
        several = np.bincount(column, minlength=basis.shape[1]) > 1
        shared = several[column]
        together = np.zeros(basis.shape[0], dtype=bool)
        together[at[shared]] = True
        matrix = np.zeros((together.sum(), several.sum()))
        matrix[together.cumsum()[at[shared]] - 1, several.cumsum()[column[shared]] - 1] = entries[shared]
        return Columns(at[~shared], entries[~shared], np.flatnonzero(together), matrix)

    def seen_by(self, jacobian: Floats) -> Floats:
        """Multiply the Jacobian with this root, in some order of its columns."""
        alone, rows = self._spans
        if not len(self.rows):
            return jacobian[:, alone] * self.sizes
        others = jacobian[:, rows] @ self.matrix
        return np.hstack([jacobian[:, alone] * self.sizes, others]) if len(self.alone) else others

    @cached_property
    def _spans(self) -> tuple[slice | Ints, slice | Ints]:
        return _span(self.alone), _span(self.rows)


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

    def views(self, jacobian: Floats) -> list[Floats]:
        """Multiply the Jacobian with the basis of each component, in some order of its columns."""
        return [part.columns.seen_by(jacobian) for part in self.components]

    @cached_property
    def owner(self) -> Ints:
        """The component of each column of the basis."""
        return np.repeat(np.arange(len(self.components)), [part.basis.shape[1] for part in self.components])

    @cached_property
    def blocks(self) -> tuple[Ints, ...]:
        """Potentials that no component moves together are in different blocks; few potentials are one block."""
        label, before = np.arange(self.size), None
        if self.size <= SMALL:
            return (label,)
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
    def _together(self) -> list[tuple[Floats, Ints]]:
        """All other columns of each block (rows: its potentials) side by side, and the component of each."""
        blocks = []
        for block in self.blocks:
            place = np.full(self.size, -1)
            place[block] = np.arange(len(block))
            parts, owners = [np.zeros((len(block), 0))], []
            for number, part in enumerate(self.components):
                at = place[part.columns.rows]
                inside = part.columns.matrix[at >= 0]
                inside = inside[:, inside.any(axis=0)]
                parts.append(np.zeros((len(block), inside.shape[1])))
                parts[-1][at[at >= 0]] = inside
                owners += [number] * inside.shape[1]
            blocks.append((np.hstack(parts), np.array(owners, dtype=np.int64)))
        return blocks

    def widths(self, rng: np.random.Generator) -> Floats:
        """Return how much wider than the bases each potential was drawn: ratios of variances, by the law of Student."""
        widths = np.ones_like(self._alone)
        for row, part in zip(widths, self.components, strict=True):
            if part.freedom is not None:
                row[:] = (part.freedom + 1) / rng.chisquare(part.freedom + 1, self.size)
        return widths

    def root(self, variances: Floats, widths: Floats | None = None) -> PriorRoot:
        """Return roots of the prior covariance, block by block. They exist, as each potential has its own component."""
        alone, sizes = (
            variances @ (self._alone if widths is None else widths * self._alone),
            np.sqrt(variances),
        )
        roots = []
        for block, (columns, owner) in zip(self.blocks, self._together, strict=True):
            scaled = columns * sizes[owner]
            covariance = scaled @ scaled.T
            covariance[np.diag_indices_from(covariance)] += alone[block]
            roots.append(Root(covariance))
        return PriorRoot(self.blocks, tuple(roots))


@dataclass(frozen=True, eq=False)
class PriorRoot:
    """L with L L^T the covariance K, block by block."""

    blocks: tuple[Ints, ...]
    roots: tuple[Root, ...]

    def seen_by(self, jacobian: Floats) -> Floats:
        """Multiply the Jacobian with this root, in some order of its columns."""
        parts = zip(self.blocks, self.roots, strict=True)
        return np.hstack([root.seen_by(jacobian[:, _span(rows)]) for rows, root in parts])

    def spread(self, values: Floats) -> Floats:
        """Multiply K with a number for each potential."""
        return self._by_block(values, lambda root, own: root.lower @ (root.lower.T @ own))

    def drawn(self, chances: Floats) -> Floats:
        """Multiply L with independent numbers: a draw of all potentials in each column."""
        draws = np.empty_like(chances)
        for rows, root in zip(self.blocks, self.roots, strict=True):
            draws[rows] = root.lower @ chances[rows]
        return draws

    def pull(self, potentials: Floats) -> Floats:
        """Return K^-1 x: how strongly each potential is pulled back to zero."""
        return self._by_block(potentials, Root.solve)

    def _by_block(self, values: Floats, product: Callable[[Root, Floats], Floats]) -> Floats:
        products = np.empty(len(values))
        for rows, root in zip(self.blocks, self.roots, strict=True):
            products[rows] = product(root, values[rows])
        return products

    def precision(self) -> Floats:
        """Return K^-1."""
        if len(self.roots) == 1:
            return self.roots[0].inverse()
        size = sum(len(rows) for rows in self.blocks)
        inverse = np.zeros((size, size))
        for rows, root in zip(self.blocks, self.roots, strict=True):
            inverse[np.ix_(rows, rows)] = root.inverse()
        return inverse


def _span(rows: Ints) -> slice | Ints:
    """Return the same rows as a slice where they are neighbours, so that nothing is copied."""
    if len(rows) and (np.diff(rows) == 1).all():
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows
