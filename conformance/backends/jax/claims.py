"""What JAX says it supports: its documentation as data, not what it was seen to do.

Read from the docstrings of ``jax.lax`` and ``jax.vmap`` (jax 0.10.2) and, where they are silent, from what its
source (``jax.*``) refuses with a sentence. What is not public is not claimed: ``pargmax`` and ``pargmin``, which it has
and ``jax.lax`` does not export, and positional axes beside names, of which no docstring speaks. All dtypes of the
specification are JAX dtypes once 64-bit types are enabled, and no docstring takes one out, so operations are limited by
dtype only where JAX says on a CPU that it lacks one. Promises known to be broken stay claimed because nothing a user
can read takes them back; what its messages and its source say otherwise is a divergence of the clause.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.backends.base import Claims
from conformance.cases.declarations.guarantees import Guarantee
from conformance.cases.declarations.number_model import Declared
from conformance.cases.program.computing import ALL_WORDS
from conformance.cases.program.computing_words import FLOW as COMPUTING_FLOW
from conformance.cases.program.effect_words import CAPABILITIES
from conformance.cases.tensor.dtypes import DTYPES, NUMPY
from conformance.cases.types.starts import STARTS
from conformance.cases.types.typed_program import COLLECTIVES as COLLECTIVE_STEPS
from conformance.cases.types.typed_program import LOCAL

# shard_map and vmap give every rank a block of one shape and dtype.
ALIKE: Final[dict[str, Sequence[str]]] = {"ranks": ["alike"]}

# "Name of the mapped axis", "the index along the mapped axis": of none there is no word, and where JAX has one it gives
# back the operand of psum, all_gather and psum_scatter alone.
NAMED: Final[dict[str, Sequence[str]]] = {**ALIKE, "axes": ["one", "several", "invalid"]}

# No parameter for groups.
WHOLE_AXES: Final[dict[str, Sequence[str]]] = {**ALIKE, "groups": ["none"]}

COLLECTIVES: Final[Claims] = {
    # psum, pmean, pmax and pmin exist; there is no product. Groups need only cover every index once: sizes may differ
    # ("on TPUs all groups must be the same size").
    "all_reduce": {**ALIKE, "op": ["sum", "mean", "max", "min"], "local_axes": ["empty"]},
    # Groups in any order: the example of the docstring is [[0, 2], [3, 1]]. Unequal sizes are documented as wrong,
    # so they can be written down and must be refused. The same holds for psum_scatter and all_to_all.
    "all_gather": ALIKE,
    # "Like psum, but each device retains only part of the result": sums only, and of whatever psum sums.
    "reduce_scatter": {**ALIKE, "op": ["sum"]},
    # Nothing is said of axes that count from the end, which JAX makes those of all_gather alone.
    "all_to_all": {**NAMED, "split_axis": ["nonnegative"], "concat_axis": ["nonnegative"]},
    "ragged_all_to_all": ALIKE,
    "permute": {**WHOLE_AXES, **NAMED},
    "shuffle": {**WHOLE_AXES, **NAMED},
    # Its docstring names no platform, where psend's, for one, does.
    "broadcast": {**WHOLE_AXES, **NAMED},
    "axis_index": {**WHOLE_AXES, **NAMED},
    "axis_size": WHOLE_AXES,
    # A psum like any other, groups included.
    "reduce_constant": {},
}

# "The semantics here are platform-specific, and for GPU they correspond to NCCL send": other platforms are promised
# nothing, and JAX says "psend is currently only implemented on GPU". precv takes one token.
ON_GPU: Final[Claims] = {"send": WHOLE_AXES, "recv": {**WHOLE_AXES, "operands": ["one"]}}


NOT_ON_CPU: Final = ("broadcast", "ragged_all_to_all")
"""pbroadcast has "no MLIR translation rule for platform cpu", ragged_all_to_all is "UNIMPLEMENTED" there, and upstream
follows it as a wish (jax-ml/jax#34755): no docstring names a platform, but JAX says in so many words what it lacks."""

UNKNOWN_ON_CPU: Final = ("float6_e2m3fn", "float6_e3m2fn")
"""Names of dtypes for which the CPU has no result, not even of ``jit`` of the identity: "Unknown NumPy dtype"."""

UNREDUCED_ON_CPU: Final = ("int2", "uint2")
"""Dtypes that the CPU moves and of which it says "AllReduce for datatype 's2' is not supported"."""

EFFECTFUL: Final[dict[str, Sequence[str]]] = {
    # The guide to Ref: mutable arrays, created with an initial value, read and written in place by "any NumPy indexing
    # expression", frozen in the end; functions of them work under jit, vmap and shard_map. Operand and target may be
    # parts of one, which is passed once and read before it is written. An argument may be donated to a call, which
    # "can make use of donated buffers", for one "to store a result". A call returns futures ("asynchronous dispatch"),
    # and whatever reads a result waits for it: in any order, twice, never.
    "effects": CAPABILITIES,
    "flow": [
        "part", "feedback", "write_seen", "written_through", "old_result", "old_copy", "old_result_alone",
        "survives_free", "assign_overlap", "target_overlap", "crossed", "in_flight", "out_of_order", "done_twice",
        "never_done", "read_before_done", "input_overwritten", "target_overwritten", "input_freed", "started_alone",
        "started_over_nothing", "started_several", "started_none", "started_constant",
        # A function writes what it writes: there are no targets to miscount.
        *COMPUTING_FLOW,
    ],
}  # fmt: skip

COMPUTING: Final[dict[str, Sequence[str]]] = {
    # jax.numpy has them all; max and min of an axis without elements have no value in NumPy's interface.
    "computes": [word for word in ALL_WORDS if word not in ("fold max of nothing", "fold min of nothing")],
    # Of integers of few bits lax says: "Support for narrow-width integers is platform-dependent".
    "computed": [name for name in NUMPY if name not in ("int4", "uint4", "int2", "uint2", *UNKNOWN_ON_CPU)],
}
"""What steps compute between collectives: the same function has both."""


def claims(platform: str, *, checked: bool) -> Claims:
    """Return what is documented for ``shard_map`` on a platform, ``cpu``, ``gpu`` or ``tpu``, type checks on or off.

    The checks of JAX refuse pmax and pmin over no axis, with a sentence that speaks of psum; no docstring speaks of it.
    """
    found = {**COLLECTIVES, **(ON_GPU if platform == "gpu" else {})}
    if platform == "cpu":
        found = {op: {**_on_cpu(op), **limits} for op, limits in found.items() if op not in NOT_ON_CPU}
    if checked:
        found["all_reduce"] = {**found["all_reduce"], "axes": ["one", "several", "invalid"]}
    return {op: {**limits, **EFFECTFUL, **COMPUTING} for op, limits in found.items()}


def _on_cpu(op: str) -> dict[str, Sequence[str]]:
    """Return the dtypes of which the CPU does not say that it lacks them."""
    lacks = UNKNOWN_ON_CPU + (UNREDUCED_ON_CPU if op in ("all_reduce", "reduce_scatter") else ())
    return {"dtype": [name for name in DTYPES if name not in lacks]}


def typed_claims(platform: str, *, checked: bool) -> Claims:
    """Return what is documented of types, transposes and ``vmap``: on a CPU no pbroadcast and no ragged exchange.

    Under ``vmap`` groups are refused ("not supported in vmap collectives"). Where types are checked no collective may
    name a mapped axis: an assertion says that it is no axis of the mesh.
    """
    # "psend is currently only implemented on GPUs".
    nowhere = set() if platform == "gpu" else {"broadcast", "ragged_all_to_all", "send", "recv"}
    steps = sorted((COLLECTIVE_STEPS | set(LOCAL)) - nowhere)
    # "lowering reduce_scatter_start with tiled=False unimplemented".
    starts = [name for name in ("none", *STARTS) if name != "pbroadcast" or platform == "gpu"]
    # pmean asks for the size of its axes, which a positional one has not.
    local = ["none", "sum", "max", "min"]
    limits = {"steps": steps, "checks": ["on" if checked else "off"], "local_axes": local, "starts": starts}
    # "Batching rule for 'psum_start' not implemented", and the like of transposes.
    limits_of_transforms = {**limits, "starts": ["none"]}
    batched = {**limits_of_transforms, "groups": ["none"], "across": ["mesh"] if checked else ["mesh", "level", "both"]}
    # "Differentiation rule for 'pmin' not implemented", and pmax likewise.
    transposed = {**limits_of_transforms, "op": ["sum", "mean"]}
    lowered = {**limits, "steps": sorted(COLLECTIVE_STEPS | set(LOCAL)), "starts": ["none", *STARTS]}
    return {
        "typed_program": limits,
        "lowered_program": lowered,
        "compiled_program": limits,
        "transposed_program": transposed,
        "pushed_program": transposed,
        "batched_program": batched,
    }


def vmap_claims(platform: str) -> Claims:
    """Return what is documented for ``vmap``: its axis name is there "so that parallel collectives can be applied".

    JAX refuses, each with a sentence: groups ("not supported in vmap collectives"), ragged_all_to_all, and over
    several axes all_gather, psum_scatter and pbroadcast. A psend there has no platform to be promised on.
    """
    known = {"dtype": [name for name in DTYPES if platform != "cpu" or name not in UNKNOWN_ON_CPU]}
    found = {
        op: {**known, **limits, **EFFECTFUL, **COMPUTING, "groups": ["none"]}
        for op, limits in COLLECTIVES.items()
        if op != "ragged_all_to_all"
    }
    one_axis = {"axes": ["none", "one", "invalid"]}
    found["broadcast"] = {**found["broadcast"], "axes": ["one", "invalid"]}
    return {**found, **{op: {**found[op], **one_axis} for op in ("all_gather", "reduce_scatter")}}


GUARANTEES: Final[tuple[Guarantee, ...]] = ("ranks_agree",)
"""jax.shard_map: an axis that out_specs do not mention is "a promise that the output values are equal along that mesh
axis", which the checks that are on by default accept of whatever psum returns. Neither JAX nor XLA documents for CPU
that a result is the same the next time, or in which order members are added."""

VMAP_GUARANTEES: Final[tuple[Guarantee, ...]] = ()
"""Nothing is said of the bits of a collective under vmap."""

FLUSHED: Final = {"subnormals": dict.fromkeys(("bfloat16", "float32", "float64"), "flushed")}

SCALED: Final = {"mean": dict.fromkeys(("float16", "float32", "float64"), "reciprocal")}
"""A division by a constant becomes a product with its rounded inverse; narrower formats are divided in float32."""

NUMBERS: Final[Declared] = {
    **FLUSHED,
    **SCALED,
    "accumulate": {"bfloat16": "float32", "float8_e4m3fn": "float16", "float8_e5m2": "float16"},
}
"""What XLA:CPU chooses about numbers, as psum, pmean and psum_scatter showed (jaxlib 0.10.2): no page says so."""

VMAP_NUMBERS: Final[Declared] = {**FLUSHED, **SCALED}
"""Under vmap sums are rounded to the dtype of the terms each time."""
