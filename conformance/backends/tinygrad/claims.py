"""What tinygrad documents, as data: the docstrings of ``Tensor`` and ``dtypes`` (0.14.0), not what it was seen to do.

A sharded tensor is one logical tensor, so every group is a tensor of its own over its own devices: groups are any
partition in any order, and blocks have one dtype and shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.backends.base import Claims

Limits = dict[str, Sequence[str]]

NUMBERS: Final = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32", "float64",
)  # fmt: skip
"""``dtypes.ints`` and ``dtypes.floats``; there are no complex numbers and no integers of 4 bits."""

GROUPS: Final = ("none", "even", "strided", "unsorted", "singletons")

COMMON: Final[Limits] = {
    "dtype": ("bool", *NUMBERS),
    "ranks": ("alike",),
    "axes": ("none", "one", "several"),
}
ANY_GROUPS: Final[Limits] = {**COMMON, "groups": (*GROUPS, "uneven")}
# Each group being a tensor of its own, nobody could see that the shapes of results differ from group to group.
EQUAL_GROUPS: Final[Limits] = {**COMMON, "groups": GROUPS}
# A root is a device by its name, and no device has a negative number.
ROOTED: Final[Limits] = {"root": ("nonnegative",)}

REDUCTIONS: Final = ("sum", "mean", "product", "max", "min", "and", "or")
"""``sum``, ``mean``, ``prod``, ``max``, ``min``, and for truth ``all`` and ``any``; there is no xor."""


def claims(without: Sequence[str] = ()) -> Claims:
    """Return the claims of a device whose compiler knows all dtypes but those ``without``."""
    dtypes = tuple(name for name in ("bool", *NUMBERS) if name not in without)
    return {op: {**limits, "dtype": dtypes} for op, limits in _claims().items()}


def _claims() -> Claims:
    return {
        "all_reduce": {
            **ANY_GROUPS,
            "op": REDUCTIONS,
            # all and any "test" elements and give bool: they are no bitwise reductions of integers.
            "reduction": tuple(
                f"{op} of {kind}"
                for op in REDUCTIONS
                for kind in ("bool", "integer", "float")
                if kind == "bool" or op not in ("and", "or")
            ),
        },
        # "Returns the indices of the maximum value of the tensor along the specified axis."
        "arg_reduce": {**ANY_GROUPS, "op": ("max", "min")},
        "all_gather": EQUAL_GROUPS,
        # "Moves the tensor to the given device."
        "gather": {**EQUAL_GROUPS, **ROOTED},
        # "Shards the tensor across the given devices": a shard keeps the axis it is taken along.
        "scatter": {**EQUAL_GROUPS, **ROOTED, "tiled": ("true",)},
        "broadcast": {**ANY_GROUPS, **ROOTED},
        # Not claimed: what only exists inside, as steps of an all-reduce or of one layout's change into another
        # (reduce_scatter, all_to_all, a reduction to one device), and what is not there at all.
    }
