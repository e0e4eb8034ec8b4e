"""Which algorithm of the source a fold over devices has the bits of: each of them is right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from conformance.cases.graph.graph import Node
from conformance.cases.sharded.rules import rule
from conformance.cases.tensor.dtypes import Array, kind
from conformance.cases.tensor.tensor import to_array
from conformance.judging.sharded.assembly import assembled
from conformance.judging.sharded.clause import Seen, ShardedClause
from conformance.judging.sharded.subject import ShardedSubject
from conformance.reference.sharded.all_reduce import Algorithm, folded
from conformance.reference.sharded.parts import Sharding

FEW = 2
"""Elements of a part along the folded axes, at most: the order in which a device folds more of its own is its own."""


class _By(Sharding):
    """Folds over devices by one algorithm."""

    algorithm: Algorithm = "naive"

    def combined(self, fold: str, parts: Sequence[Array]) -> Array:
        return folded(fold, parts, self.algorithm)


class _Ring(_By):
    algorithm: Algorithm = "ring"


WAYS: dict[Algorithm, type[_By]] = {"naive": _By, "ring": _Ring}


def _telling(subject: ShardedSubject) -> Iterator[tuple[str, dict[Algorithm, Array]]]:
    """Yield by key what each algorithm makes of a fold along a split axis of storage, where that is not the same."""
    nodes = {node.id: node for node in subject.case.of.graph.nodes}
    for key, node in subject.single.items():
        source = nodes[node.of[0]] if node.of else node
        if _ordered(node) and source.op == "buf" and _apart(subject, node, source):
            made = {name: _folded(subject, node, source, way) for name, way in WAYS.items()}
            if not _same(made["naive"], made["ring"]):
                yield key, made


def _ordered(node: Node) -> bool:
    return node.op == "reduce" and node.fold in ("add", "mul") and kind(node.dtype) == "float" and not node.acc


def _apart(subject: ShardedSubject, node: Node, source: Node) -> bool:
    """Return whether a fold is one over devices of few elements each, which is completed."""
    at = subject.placed.at[source.id]
    if node.id in subject.case.moves or node.id in subject.placed.refused or at.masks:
        return False
    how = rule(node, [tuple(int(dim) for dim in source.shape)], [source.dtype], [at], subject.case.mesh)
    axes = node.arg if isinstance(node.arg, tuple) else ()
    value = Sharding(subject.case.mesh).placed(_content(subject, source), at)
    each = (int(np.prod([part.shape[int(str(axis))] for axis in axes])) for part in value.parts)
    return bool(how.folded) and max(each) <= FEW


def _content(subject: ShardedSubject, source: Node) -> Array:
    return to_array(subject.case.of.buffers[str(source.arg)]).reshape([int(dim) for dim in source.shape])


def _folded(subject: ShardedSubject, node: Node, source: Node, way: type[_By]) -> Array:
    sharding = way(subject.case.mesh)
    value = sharding.placed(_content(subject, source), subject.placed.at[source.id])
    with np.errstate(all="ignore"):
        return sharding.gathered(sharding.done(node, [value]))


def _same(one: Array, other: Array) -> bool:
    """Return whether two arrays have the same numbers; every NaN is one, and every zero."""
    return bool(np.all((one == other) | (np.isnan(one) & np.isnan(other))))


def _otherwise(name: Algorithm) -> Callable[[ShardedSubject, Seen], str | None]:
    def check(subject: ShardedSubject, found: Seen) -> str | None:
        for key, made in _telling(subject):
            right = made[name]
            seen = found.observation
            given = assembled(
                right.shape, subject.single[key].dtype, seen.layouts[key], seen.results[key], subject.case.mesh
            )
            if given.whole is None or not _same(given.whole, right):
                return f"{key}: the fold has other bits than {name} would give"
        return None

    return check


def _clause(number: int, name: Algorithm, text: str) -> ShardedClause:
    return ShardedClause(
        f"sharded.C{number}",
        "may",
        text,
        "tinygrad.multi: all_reduce",
        lambda subject: any(True for _ in _telling(subject)),
        _otherwise(name),
        told=lambda _, found: not found.observation.raised,
    )


ALGORITHMS = (
    _clause(
        51,
        "naive",
        "A fold over devices has the bits of the naive algorithm of tinygrad: every device folds what all hold, in "
        "the order of the mesh, from the left.",
    ),
    _clause(
        52,
        "ring",
        "A fold over devices has the bits of the ring of tinygrad: the elements are in chunks, one for each device, "
        "of multiples of 32, 16, 8, 4, 2 or 1, and chunk n is folded from device n on.",
    ),
)
