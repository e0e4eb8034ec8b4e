"""What JAX documents for TPUs, as data."""

from __future__ import annotations

from typing import Final

from conformance.backends.base import Claims
from conformance.backends.jax.claims import COLLECTIVES, typed_claims
from conformance.cases.declarations.number_model import SHORT, Declared

DTYPES: Final = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bfloat16", "float16", "float32",
    "float8_e4m3fn", "float8_e5m2",
]  # fmt: skip
"""What a TPU has and is read here, and 64-bit integers as pairs. float64 is a pair of float32, which says nothing of
its bits; 4-bit integers are packed and complex numbers are pairs, of which the reader of HLO has neither."""

GROUPS: Final = ["none", "even", "strided", "unsorted", "singletons", "invalid"]
""""On TPUs all groups must be the same size"."""

LACKS: Final = ("broadcast",)
"""pbroadcast has no "MLIR translation rule" for TPUs, as JAX says."""


NARROW: Final = {
    # "UNIMPLEMENTED: Supported lowering only of Sum all reduce", which it says of the sum of uint64, too, and likewise
    # of reduce-scatter. It says so of the extremes of int64 as well, whose sums it has.
    "all_reduce": ("uint64",),
    "reduce_scatter": ("uint64",),
    # "XLA encountered an HLO for which this rewriting is not implemented", of ragged-all-to-all.
    "ragged_all_to_all": ("uint64",),
}
"""Dtypes of which the compiler says that it lacks them, by operation."""


NUMBERS: Final[Declared] = {
    # A division by a constant becomes a product with its inverse, which is rounded to the dtype, as HLO shows (libtpu
    # 0.0.42.1): no page says so.
    "mean": dict.fromkeys(("bfloat16", "float16", "float32", "float8_e4m3fn", "float8_e5m2"), "reciprocal"),
    # xla_allow_excess_precision, which is true by default, "Allows xla to increase the output precision of floating
    # point operations" (xla/xla.proto). Without it HLO has a reduce-precision after each operation.
    "intermediates": dict.fromkeys(SHORT, "excess"),
}
"""What XLA chooses about numbers of what is compiled for a TPU."""


def claims(devices: int, *, typed: bool = True) -> Claims:
    """Return what is documented of collectives for worlds that have a device for each rank."""
    worlds = [str(world) for world in range(1, devices + 1)]
    known = {"world": worlds, "groups": GROUPS}
    has = {op: [name for name in DTYPES if name not in NARROW.get(op, ())] for op in COLLECTIVES}
    programs = {op: {"dtype": has[op], **known, **limits} for op, limits in COLLECTIVES.items() if op not in LACKS}
    return {**programs, **(_typed(worlds) if typed else {})}


TYPED: Final = ("typed_program", "compiled_program", "transposed_program", "pushed_program")
"""What typed programs are asked for: StableHLO is lowered for no topology, and nothing is mapped here."""


def _typed(worlds: list[str]) -> Claims:
    """Return what is documented of typed programs, with the dtypes that are read here."""
    found = typed_claims("tpu", checked=True)
    # "Failed to serialize StableHLO to plugin version 1.13.7", which has no words for what is started.
    starts = [name for name in found["typed_program"]["starts"] if name == "none"]
    return {op: {**found[op], "dtype": DTYPES, "world": worlds, "starts": starts} for op in TYPED}
