"""A backend of the profile core in plain NumPy; `conformance certify -b core_backend:Plain` makes a bundle of it."""

import numpy as np

from conformance.backends.base import Backend

DTYPES = ["float32", "float64", "int32", "int64", "bool"]
FOLDS = {"sum": np.add, "max": np.maximum, "min": np.minimum, "product": np.multiply}
LIMITS = {"dtype": DTYPES, "layout": ["contiguous"], "calls": ["legal"], "world": list("12345678"), "ranks": ["alike"]}
FOLDING = {**LIMITS, "op": list(FOLDS), "values": ["plain"]}


class Plain(Backend):
    """Every rank in this process; what is cut or joined is cut or joined by NumPy."""

    name = "plain"
    guarantees = ("run_to_run", "ranks_agree")
    claims = {
        **dict.fromkeys(["broadcast", "all_gather", "all_to_all", "permute", "gather", "scatter", "barrier"], LIMITS),
        **dict.fromkeys(["reduce", "reduce_scatter"], FOLDING),
        "all_reduce": {**FOLDING, "local_axes": []},
    }

    def all_reduce(self, blocks, *, op, groups):
        return each(groups, lambda g: [fold(op, [blocks[r] for r in g])] * len(g))

    def reduce(self, blocks, *, op, root, groups):
        return each(groups, lambda g: [fold(op, [blocks[r] for r in g]) if p == root else None for p in range(len(g))])

    def reduce_scatter(self, blocks, *, op, axis, tiled, groups):
        return each(groups, lambda g: cut(fold(op, [blocks[r] for r in g]), len(g), axis, tiled))

    def broadcast(self, blocks, *, root, groups):
        return each(groups, lambda g: [blocks[g[root]]] * len(g))

    def all_gather(self, blocks, *, axis, tiled, groups):
        return each(groups, lambda g: [join([blocks[r] for r in g], axis, tiled)] * len(g))

    def gather(self, blocks, *, root, axis, tiled, groups):
        return each(
            groups, lambda g: [join([blocks[r] for r in g], axis, tiled) if p == root else None for p in range(len(g))]
        )

    def scatter(self, blocks, *, root, axis, tiled, groups):
        return each(groups, lambda g: cut(blocks[g[root]], len(g), axis, tiled))

    def all_to_all(self, blocks, *, split_axis, concat_axis, tiled, groups):
        pieces = {r: cut(blocks[r], len(g), split_axis, tiled) for g in groups for r in g}
        return each(groups, lambda g: [join([pieces[r][p] for r in g], concat_axis, tiled) for p in range(len(g))])

    def permute(self, blocks, *, pairs, groups):
        to = {destination: source for source, destination in pairs}
        return each(
            groups, lambda g: [blocks[g[to[p]]] if p in to else np.zeros_like(blocks[r]) for p, r in enumerate(g)]
        )

    def barrier(self, *, groups):
        return None


def each(groups, made):
    found = {rank: block for group in groups for rank, block in zip(group, made(group), strict=True)}
    return [None if found[rank] is None else np.array(found[rank]) for rank in sorted(found)]


def fold(op, blocks):
    total = blocks[0]
    for block in blocks[1:]:
        total = FOLDS[op](total, block)
    return total


def cut(block, size, axis, tiled):
    pieces = np.split(block, size, axis)
    return pieces if tiled else [piece.squeeze(axis) for piece in pieces]


def join(blocks, axis, tiled):
    return np.concatenate(blocks, axis) if tiled else np.stack(blocks, axis)
