"""Names of tinygrad, run on four devices: the processor where clang is there, else interpreters of Python.

Interpreters do not run what is on several devices, and some values are compiled by clang on any device: these rows are
left out where it is not there (``COMPILED``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from conformance.reference.graph.conversion import cast
from conformance.reference.graph.elementwise import FUNCTIONS
from tests.specification.framework_names.rows import WORLD, Rows, says, text

tinygrad_rows = Rows("tinygrad")

A = np.array([[1, -2, 3], [4, 5, -6]], np.int32)
B = np.array([[2, 2, -2], [3, -3, 4]], np.int32)
F = np.array([0.0, 1.0, 4.0], np.float32)
Given = Callable[..., Any]

SHORT = {"float8_e4m3fn": "fp8e4m3", "float8_e5m2": "fp8e5m2"}
"""What tinygrad calls dtypes."""


def tensor(array: Any) -> Any:
    from tinygrad import Tensor

    return Tensor(array)


def call(name: str, aspect: str, theirs: Given, ours: Any, shown: Any = None) -> None:
    """Enter a row: what tinygrad gives, and the array or text that our form gives."""
    expected = says(ours if isinstance(ours, str) else text(np.asarray(ours)))

    def run(_: int) -> Any:
        made = theirs()
        return made.numpy() if hasattr(made, "numpy") else made

    tinygrad_rows(name, aspect, ours=expected, theirs=shown)(run)


def ours(name: str, *given: Any) -> Any:
    """Return what an elementwise operation of graphs gives."""
    with np.errstate(all="ignore"):
        return FUNCTIONS[name](*given)


def counted() -> Any:
    from tinygrad import Tensor

    return Tensor.arange(4)


call("Tensor.reshape", "", lambda: tensor(A).reshape(3, 2), A.reshape(3, 2))
call("Tensor.permute", "", lambda: tensor(A).permute(1, 0), A.transpose(1, 0))
call("Tensor.expand", "", lambda: tensor(A[:1]).expand(4, 3), np.broadcast_to(A[:1], (4, 3)))
call("Tensor.pad", "", lambda: tensor(A).pad(((1, 0), (0, 2))), np.pad(A, ((1, 0), (0, 2))))
call("Tensor.shrink", "", lambda: tensor(A).shrink(((0, 1), (1, 3))), A[0:1, 1:3])
call("Tensor.flip", "", lambda: tensor(A).flip(1), A[:, ::-1])
call("Tensor[::step]", "", lambda: tensor(A)[:, ::-2], A[:, ::-2])
call("Tensor.contiguous", "", lambda: tensor(A).permute(1, 0).contiguous(), A.T)
call("Tensor.detach", "", lambda: 1 * tensor(A).detach(), A)
call("Tensor.cast", "", lambda: tensor(np.array([1.7, -1.7], np.float32)).cast("int32"), np.array([1, -1], np.int32))
for wide, number, saturated in (("float8_e4m3fn", 896.0, 448.0), ("float8_e5m2", 65536.0, 57344.0)):
    call(
        "Tensor.cast",
        f"{wide}, past the greatest number",
        # Read as bits: a conversion back at once is left out, with the rounding.
        lambda wide=wide, number=number: (
            tensor(np.array([number], np.float32)).cast(SHORT[wide]).contiguous().bitcast("uint8")
        ),
        cast(np.array([number], np.float32), wide).view(np.uint8),
        f"uint8 {np.array([saturated], np.float32).astype(wide).view(np.uint8).tolist()}",
    )
call(
    "Tensor.cast",
    "float16, past the greatest number",
    lambda: tensor(np.array([1e6, -1e6], np.float32)).cast("float16"),
    cast(np.array([1e6, -1e6], np.float32), "float16"),
)
call("Tensor.bitcast", "", lambda: tensor(F).bitcast("int32"), F.view(np.int32))
call("Tensor.arange", "", counted, np.arange(4, dtype=np.int32))
call("Tensor.where", "", lambda: (tensor(A) > 0).where(tensor(A), tensor(B)), ours("where", A > 0, A, B))
call("Tensor.maximum", "", lambda: tensor(A).maximum(tensor(B)), ours("max", A, B))
call("Tensor.add", "", lambda: tensor(A) + tensor(B), ours("add", A, B))
call(
    "Tensor.add",
    "of int64 and uint64",
    lambda: tensor(np.array([1], np.int64)) + tensor(np.array([1], np.uint64)),
    "rejected: the graph is malformed",
    "float32 [2.0]",
)
call("Tensor.mul", "", lambda: tensor(A) * tensor(B), ours("mul", A, B))
call("Tensor.sqrt", "", lambda: 1 * tensor(F).sqrt(), np.sqrt(F))
call(
    "Tensor.__floordiv__",
    "",
    lambda: tensor(A) // tensor(B),
    ours("div", A, B),
    f"int32 {np.floor_divide(A, B).tolist()}",
)
call("Tensor.div", 'rounding_mode="trunc"', lambda: tensor(A).div(tensor(B), rounding_mode="trunc"), ours("div", A, B))
call("Tensor.__mod__", "", lambda: tensor(A) % tensor(B), ours("mod", A, B), f"int32 {np.mod(A, B).tolist()}")
call("Tensor.sum", "", lambda: tensor(A).sum(0), A.sum(0, dtype=np.int32))
call("Tensor.sum", "of bools", lambda: (tensor(A) > 0).sum(None), "bool True", "int32 4")
SMALL = np.array([100, 100], np.int8)
call("Tensor.sum", "of int8", lambda: tensor(SMALL).sum(0), "int8 -56", "int32 200")
call("Tensor.max", "", lambda: tensor(A).max(1), A.max(1))
call("Tensor.prod", "", lambda: tensor(B).prod(1), B.prod(1, dtype=np.int32))
call("Tensor.mean", "of integers", lambda: tensor(A).mean(), np.asarray(A.mean()), "float32 0.8333333730697632")


def devices(count: int = WORLD) -> tuple[str, ...]:
    from tinygrad import Device

    return tuple(f"{Device.DEFAULT}:{number}" for number in range(count))


def sharded(rows: int = 8, axis: int | None = 0) -> Any:
    return tensor(np.arange(rows * 2, dtype=np.int32).reshape(rows, 2)).shard(devices(), axis=axis)


WHOLE = np.arange(16, dtype=np.int32).reshape(8, 2)
call("Tensor.shard", "", lambda: sharded() + 1, WHOLE + 1)
call("Tensor.shard", "axis=None", lambda: sharded(axis=None) * 2, WHOLE * 2)
call("Tensor.shard", "parts of unequal sizes", lambda: sharded(5), "int32 of 2, 2, 1 and 0 rows", "raises RuntimeError")
call("Tensor.to", "", lambda: sharded().to(devices()[1]), WHOLE)
call("Tensor.sum", "over a sharded axis", lambda: sharded().sum(0), WHOLE.sum(0, dtype=np.int32))
call(
    "Tensor.shrink", "over several parts", lambda: sharded().shrink(((1, 5), (0, 2))), WHOLE[1:5], "raises RuntimeError"
)
call("Tensor.flip", "of a sharded axis", lambda: sharded().flip(0), WHOLE[::-1], "raises RuntimeError")


def zeros_of_parts() -> Any:
    made = tensor(np.full(4, -0.0, np.float32)).shard(devices(), axis=0).to(devices()[0])
    return np.signbit(made.numpy())


call("Tensor.to", "of negative zeros of parts", zeros_of_parts, "bool [True, True, True, True]")


def zeros_on_all() -> Any:
    from tinygrad import Tensor

    parts = tensor(np.full(4, -0.0, np.float32)).shard(devices(), axis=0)
    return np.signbit(Tensor(parts.uop.copy_to_device(parts.device)).to(devices()[0]).numpy())


call(
    "UOp.copy_to_device",
    "of negative zeros of parts, to several devices",
    zeros_on_all,
    "bool [True, True, True, True]",
    "bool [False, False, False, False]",
)


def across_placements() -> Any:
    x = sharded(axis=None).contiguous().realize()
    return x.assign(sharded().realize()).realize()


call("Tensor.assign", "across placements", across_placements, WHOLE, "raises RuntimeError")


def assigned() -> Any:
    x = tensor(A).contiguous().realize()
    before, late = (x + 0).realize(), x + 1
    x.assign(x + 10)
    x.realize(late)
    return np.stack([before.numpy(), late.numpy(), x.numpy()])


call("Tensor.assign", "", assigned, np.stack([A, A + 1, A + 10]))


def earlier_values(assign: Given) -> Given:
    """Return what gives a value that was computed before an assign and is read after it, and the tensor itself."""

    def run() -> Any:
        x = tensor(np.array([1, 2], np.int32)).contiguous().realize()
        y = x + 10
        assign(x, tensor(np.array([7, 8], np.int32)).realize())
        return np.stack([y.numpy(), x.numpy()])

    return run


call(
    "Tensor.assign",
    "before an earlier value is realized",
    earlier_values(lambda x, new: x.assign(new).realize()),
    np.array([[11, 12], [7, 8]], np.int32),
    "int32 [[17, 18], [7, 8]]",
)


def crossed() -> Any:
    x, y = (tensor(np.array([number], np.int32)).contiguous().realize() for number in (1, 5))
    later = x + 1
    x.assign(y + 1)
    y.assign(later)
    x.realize(y)
    return np.stack([x.numpy(), y.numpy()])


call(
    "Tensor.assign",
    "two tensors, each of a value that was computed from the other",
    crossed,
    np.array([[6], [2]], np.int32),
    "raises RuntimeError",
)
call(
    "Tensor.assign",
    "to a slice that an earlier value reads",
    earlier_values(lambda x, new: x[:1].assign(new[:1])),
    np.array([[11, 12], [7, 2]], np.int32),
    "int32 [[17, 12], [7, 2]]",
)
call(
    "Tensor.assign",
    "to a reshape, not realized",
    earlier_values(lambda x, new: x.reshape(2, 1).assign(new.reshape(2, 1))),
    np.array([[11, 12], [7, 8]], np.int32),
    "int32 [[11, 12], [1, 2]]",
)
call(
    "Tensor.__setitem__",
    "of a tensor with other uses",
    earlier_values(lambda x, new: x.__setitem__(slice(1), new[:1])),
    np.array([[11, 12], [7, 2]], np.int32),
    "raises RuntimeError",
)


def late_read() -> Any:
    x = tensor(np.array([1, 2], np.int32)).contiguous().realize()
    y = x.reshape(1, 2).sum(0)
    x.assign(tensor(np.array([7, 8], np.int32))).realize()
    return y


call("Tensor.assign", "after a sum over one element", late_read, np.array([1, 2], np.int32), "int32 [7, 8]")


def kernels(make: Given) -> int:
    """Return how many kernels realising what is made takes."""
    from tinygrad import Tensor
    from tinygrad.uop.ops import Ops

    linear, _ = Tensor.linear_with_vars(make())
    return sum(item.src[0].op is Ops.SINK for item in linear.src)


def ones() -> Any:
    from tinygrad import Tensor

    return Tensor.ones(4, 4).contiguous()


call("Tensor.realize", "of a sum of two tensors", lambda: kernels(lambda: tensor(A) + tensor(B)), "int 1")
call("Tensor.realize", "of a constant that is made contiguous", lambda: kernels(ones), "int 0", "int 1")
call("Tensor.linear_with_vars", "", lambda: kernels(lambda: (tensor(A) * tensor(B)).sum(0)), "int 1")


def reduced() -> Any:
    from tinygrad import Tensor
    from tinygrad.uop.ops import Ops

    parts = tensor(np.arange(8, dtype=np.int32)).shard(devices(), axis=0)
    return Tensor(parts.uop.src[0].allreduce(Ops.ADD, devices()))


call("UOp.allreduce", "", reduced, np.array([0 + 2 + 4 + 6, 1 + 3 + 5 + 7], np.int32))

COMPILED = {
    name
    for name in tinygrad_rows.rows
    if name in {"Tensor.arange", "Tensor.shard", "Tensor.shard, axis=None", "UOp.allreduce"}
    or name.startswith(("Tensor.to", "UOp.copy_to_device"))
    or name == "Tensor.sum, over a sharded axis"
}
"""Rows that need clang."""

if __name__ == "__main__":
    from tests.specification.framework_names import tinygrad_rows as module

    module.tinygrad_rows.observe(0, Path(sys.argv[1]) / "tinygrad0.json")
