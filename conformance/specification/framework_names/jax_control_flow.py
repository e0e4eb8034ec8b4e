"""Names of JAX 0.10.2 for control flow around collectives: branches, loops, and what both are under mapping."""

from __future__ import annotations

from typing import Final

from conformance.specification.framework_names.row import Framework

_JAX = Framework("jax")
_TAKEN: Final = "All ranks take one branch, and the program is that of the branch."
_UNROLLED: Final = "All ranks make as many turns, and the program is the steps of each turn, one after the other."

CONTROL_FLOW: Final = (
    _JAX.equal("lax.cond", "all_reduce", "all_reduce.C1", _TAKEN, aspect="around a collective"),
    _JAX.equal("lax.switch", "all_reduce", "all_reduce.C1", _TAKEN, aspect="around a collective"),
    _JAX.equal("lax.while_loop", "all_reduce, all_reduce", "all_reduce.C1", _UNROLLED, aspect="around a collective"),
    _JAX.equal("lax.fori_loop", "all_reduce, all_reduce", "all_reduce.C1", _UNROLLED, aspect="around a collective"),
    _JAX.equal("lax.scan", "all_reduce, all_reduce", "all_reduce.C1", _UNROLLED, aspect="around a collective"),
    *(
        _JAX.otherwise(
            name,
            "add, add",
            "types.C12 types.C3",
            "Raises TypeError under `check_vma=True`, *carry input and carry output must have equal types*: the carry "
            "of a loop has one type. Cast its initial value: `lax.pcast(x, axes, to='varying')`. Here a program is the "
            "steps of each turn, and each value has a type of its own.",
            aspect="a carry that becomes varying",
        )
        for name in ("lax.while_loop", "lax.fori_loop", "lax.scan")
    ),
    _JAX.silent(
        "lax.cond",
        "Where ranks take different branches, those that call the collective wait for the others: the program hangs or "
        "ends with an error of the runtime. Here every rank that cannot go on raises an error. So with "
        "`lax.switch`, and "
        "with loops of different numbers of turns.",
        "liveness.C5 liveness.C12",
        aspect="with a predicate that differs by rank",
    ),
    _JAX.otherwise(
        "lax.cond",
        "all_reduce",
        "types.C12 types.C3",
        "Raises TypeError under `check_vma=True`: the branches have to have one type. "
        "`lax.pcast(y, axes, to='varying')` casts the invariant result of psum.",
        aspect="branches of which one is a psum",
    ),
    _JAX.equal(
        "vmap(axis_name=)",
        "all_reduce over a level, then where",
        "batches.C2 graph.C10",
        "A cond whose predicate is mapped is a select: both branches are computed, for all slices, and a collective in "
        "a branch has every slice as a member.",
        aspect="cond around a collective",
    ),
    _JAX.equal(
        "vmap(axis_name=)",
        "all_gather(tiled=False) over a level",
        "batches.C4 batches.C1",
        "Every slice has the blocks of all slices, so that the result is alike in all of them: `out_axes=None` gives "
        "it once, where here each result has the axis of the level.",
        aspect="all_gather",
    ),
    _JAX.equal(
        "lax.pmax",
        'transpose of all_reduce(op="max")',
        "transposes.C13",
        "Raises NotImplementedError: no transpose is defined, and raising is right. The maximum of an all_gather has "
        "a derivative.",
        aspect="gradient",
    ),
    _JAX.silent("lax.stop_gradient", "The value of its operand; no gradient goes back.", "graph.C18", ours="detach"),
    _JAX.silent(
        "numpy.max",
        "Derivatives of graphs: outside. Equal maxima share the gradient evenly, and so do both operands of `maximum`.",
        "transposes.C13",
        aspect="gradient",
    ),
    _JAX.equal(
        "NamedSharding",
        "a split along several mesh axes",
        "sharded.C17",
        '`P(("j", "i"))` numbers parts in row-major order of j, then i. The extent has to be a multiple of both sizes.',
        aspect="two mesh axes on one tensor axis",
    ),
)
