"""A kernel body becomes OpenCL C. Sizes, strides and offsets are arguments, so the family of kernels is bounded.

Every kernel takes the storages it writes, the storages it reads and one table of 64-bit integers. Work-item
``(i, p)`` handles element ``first + i`` of part ``p``; the table begins with where each part's record starts:

    count, first, axes, loads, stores, operation, extents...,
    for each load and store: slot, offset, strides...
"""

from __future__ import annotations

from typing import Final, NamedTuple

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.prelude import PRELUDE

SLOTS: Final = 8
"""Storages a kernel reads, and writes when it fans out. Longer folds and joins take several launches."""

OPERATIONS: Final = ("sum", "product", "max", "min")
"""What two elements are combined by; a launch names one by its number here."""

MOVES: Final = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong", 16: "ulong2"}
"""Element width in bytes to the unsigned type that moves it, so that every bit survives."""


class Body(NamedTuple):
    """What a kernel computes.

    ``operation`` is ``move``, ``cast`` or one of ``OPERATIONS``. ``source`` and ``target`` are dtypes, or for
    ``move`` both the element width in bytes. ``fan`` is how many storages the kernel writes.
    """

    operation: str
    source: str
    target: str
    fan: int

    @property
    def kernel(self) -> str:
        """Return the name of the kernel, one for all operations of a pair of dtypes.

        The operation is an argument: what a kernel costs is its first launch, 60 to 250 ms with PoCL, and one
        predictable branch an element is far below that.
        """
        if self.operation == "move":
            return f"move_{self.source}"
        return f"fold_{self.source}_{self.target}_{self.fan}"

    @property
    def program(self) -> tuple[str, str]:
        """Return the key of the program that holds it: all moves share one, other kernels one a pair of dtypes."""
        return ("move", "move") if self.operation == "move" else (self.source, self.target)

    @property
    def code(self) -> int:
        """Return the number of the operation; any will do where nothing is combined."""
        return OPERATIONS.index(self.operation) if self.operation in OPERATIONS else 0


def render(program: tuple[str, str]) -> str:
    """Return the OpenCL C of a whole program."""
    if program == ("move", "move"):
        kernels = [_kernel(f"move_{width}", kind, kind, 1, "x", "") for width, kind in MOVES.items()]
        return PRELUDE + "\n".join(kernels)
    source, target = program
    storages = FORMATS[source].storage, FORMATS[target].storage
    cases = "".join(f"case {code}: acc = {_combine(op, target)}; break; " for code, op in enumerate(OPERATIONS))
    combine = f"else {{ {storages[1]} a = acc; switch (part[5]) {{ {cases}}} }}"
    kernels = [
        _kernel(f"fold_{source}_{target}_{fan}", *storages, fan, _convert(source, target), combine)
        for fan in (1, SLOTS)
    ]
    return PRELUDE + "\n".join(kernels)


def _kernel(name: str, source: str, target: str, fan: int, load: str, combine: str) -> str:
    writes = "".join(f"__global {target}* w{slot}, " for slot in range(fan))
    reads = "".join(f"__global const {source}* r{slot}, " for slot in range(SLOTS))
    pick_read = "".join(f"case {slot}: from = r{slot}; break; " for slot in range(1, SLOTS))
    pick_write = "".join(f"case {slot}: to = w{slot}; break; " for slot in range(1, fan))
    return f"""\
__kernel void {name}({writes}{reads}__global const long* table) {{
  __global const long* part = table + table[get_global_id(1)];
  if ((long)get_global_id(0) >= part[0]) return;
  ulong i = part[1] + get_global_id(0);
  long axes = part[2], loads = part[3], stores = part[4];
  __global const long* extents = part + 6;
  __global const long* access = extents + axes;
  {target} acc = 0;
  for (long k = 0; k < loads; ++k, access += axes + 2) {{
    __global const {source}* from = r0;
    switch (access[0]) {{ {pick_read}default: break; }}
    {source} x = from[place(i, axes, extents, access)];
    {target} v = {load};
    if (k == 0) acc = v; {combine}
  }}
  for (long k = 0; k < stores; ++k, access += axes + 2) {{
    __global {target}* to = w0;
    switch (access[0]) {{ {pick_write}default: break; }}
    to[place(i, axes, extents, access)] = acc;
  }}
}}
"""


def _convert(source: str, target: str) -> str:
    """Return the value of storage element ``x`` of ``source`` in the storage form of ``target``."""
    if source == target:
        return FORMATS["bool"].order.format(x="x") if source == "bool" else "x"
    return _in("round", target, f"(({FORMATS[target].arithmetic}){_in('widen', source, 'x')})")


def _combine(operation: str, dtype: str) -> str:
    """Return ``a`` and ``v``, both in storage form, combined and rounded; C operators on the widened values."""
    kind = FORMATS[dtype]
    if operation in ("sum", "product"):
        a, b = _in("widen", dtype, "a"), _in("widen", dtype, "v")
        return _in("round", dtype, f"({a} + {b})" if operation == "sum" else kind.multiply.format(a=a, b=b))
    a, b = _in("order", dtype, "a"), _in("order", dtype, "v")
    # fmax and fmin would drop NaN.
    wins = (kind.greater if operation == "max" else kind.less).format(a=a, b=b)
    if kind.unordered:
        wins = f"{wins} || {kind.unordered.format(a=a)}"
    return f"({wins}) ? a : v"


def _in(form: str, dtype: str, value: str) -> str:
    """Return one of the C expressions of a format for ``value``."""
    pattern: str = getattr(FORMATS[dtype], form)
    return pattern.format(x=value)
