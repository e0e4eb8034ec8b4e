"""The bits that each algorithm of ``tinygrad.multi`` gives a fold over devices, where they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from conformance.cases.graph.graph import Node
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.rules import rule
from conformance.cases.tensor.dtypes import Array, kind
from conformance.cases.tensor.tensor import to_array
from conformance.reference.sharded.all_reduce import Algorithm, folded
from conformance.reference.sharded.parts import Sharding
from conformance.reference.sharded.placing import Placed, shape_of

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


@dataclass(frozen=True)
class Fold:
    """A fold along a split axis of a buffer."""

    node: Node
    source: Node
    case: ShardedCase
    placed: Placed


def by_algorithm(case: ShardedCase, placed: Placed, single: Mapping[str, Node]) -> dict[str, dict[Algorithm, Array]]:
    """Return by key what each algorithm makes of a fold along a split axis of storage, where that is not the same.

    ``single`` has the node of each value that one step makes of buffers as they began.
    """
    nodes = {node.id: node for node in case.of.graph.nodes}
    found = {}
    for key, node in single.items():
        if _ordered(node) and nodes[node.of[0]].op == "buf":
            fold = Fold(node, nodes[node.of[0]], case, placed)
            if _apart(fold):
                made = {name: _folded(fold, way) for name, way in WAYS.items()}
                if not same_numbers(made["naive"], made["ring"]):
                    found[key] = made
    return found


def same_numbers(one: Array, other: Array) -> bool:
    """Return whether two arrays have the same numbers; every NaN is one, and every zero."""
    return bool(np.all((one == other) | (np.isnan(one) & np.isnan(other))))


def _ordered(node: Node) -> bool:
    return node.op == "reduce" and node.fold in ("add", "mul") and kind(node.dtype) == "float" and not node.acc


def _apart(fold: Fold) -> bool:
    """Return whether a fold is one over devices of few elements each, which is completed."""
    node, source, mesh = fold.node, fold.source, fold.case.mesh
    at = fold.placed.at[source.id]
    if node.id in fold.case.moves or node.id in fold.placed.refused or at.masks:
        return False
    how = rule(node, [shape_of(source)], [source.dtype], [at], mesh)
    axes = node.arg if isinstance(node.arg, tuple) else ()
    value = Sharding(mesh).placed(_content(fold), at)
    each = (int(np.prod([part.shape[int(str(axis))] for axis in axes])) for part in value.parts)
    return bool(how.folded) and max(each) <= FEW


def _content(fold: Fold) -> Array:
    return to_array(fold.case.of.buffers[str(fold.source.arg)]).reshape(shape_of(fold.source))


def _folded(fold: Fold, way: type[_By]) -> Array:
    sharding = way(fold.case.mesh)
    value = sharding.placed(_content(fold), fold.placed.at[fold.source.id])
    with np.errstate(all="ignore"):
        return sharding.gathered(sharding.done(fold.node, [value]))
