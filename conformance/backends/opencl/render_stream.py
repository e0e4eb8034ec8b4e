"""Streaming kernels as OpenCL C: folds and moves of runs of elements, one program each, built when first needed."""

from __future__ import annotations

from typing import Final

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.prelude import PRELUDE
from conformance.backends.opencl.render import BLOCK, MOVES, PAST_BYTES, READS, Body, arguments, combines, convert


def render_stream(body: Body) -> str:
    """Return the OpenCL C of one streaming kernel; raise ``ValueError`` for another body."""
    if body.stream is None:
        raise ValueError(f"{body.kernel} streams nothing")
    return PRELUDE + _PAST + (_move(body) if body.operation == "move" else _fold(body))


def _move(body: Body) -> str:
    """Return the kernel that moves runs, each from any of its sources."""
    element = MOVES[int(body.source)]
    return f"""\
__kernel void {body.kernel}({arguments(element, element, 1)}) {{
{_HEAD}  __global const {element}* from = r0;
  switch (part[10]) {{ {READS}default: break; }}
  from += part[11] + i;
  __global {element}* to0 = w0 + part[14] + i;
  if (left >= {BLOCK}) {{
    {element} block[{BLOCK}] __attribute__((aligned(64)));
    for (int j = 0; j < {BLOCK}; ++j) block[j] = from[j];
    {_stored(body, int(body.source), 1)}
  }}
  else for (int j = 0; j < left; ++j) to0[j] = from[j];
}}
"""


def _fold(body: Body) -> str:
    """Return the kernel that folds one run of each source and stores the result in every target."""
    assert body.stream is not None  # the caller asked
    source, dtype, (loads, stores, _) = body.source, body.accumulator, body.stream
    load, store = FORMATS[source].storage, FORMATS[dtype].storage
    # A copy has one load, so nothing to combine it with.
    combine = combines(dtype).get(body.operation, "")
    # In the table a load takes three words, slot, offset and stride, and a store too.
    reads = "".join(f"__global const {load}* from{k} = r{k} + part[{11 + 3 * k}] + i; " for k in range(loads))
    writes = "".join(f"__global {store}* to{k} = w{k} + part[{11 + 3 * (loads + k)}] + i; " for k in range(stores))
    later = "".join(
        f"{{ {load} x = from{k}[j]; {store} v = {convert(source, dtype)}; {combine} }} " for k in range(1, loads)
    )
    folded = f"{load} x = from0[j]; {store} a = {convert(source, dtype)}; {later}"
    stored = _stored(body, FORMATS[dtype].itemsize, stores)
    single = " ".join(f"to{k}[j] = a;" for k in range(stores))
    return f"""\
__kernel void {body.kernel}({arguments(load, store, stores, loads)}) {{
{_HEAD}  {reads}
  {writes}
  if (left >= {BLOCK}) {{
    {store} block[{BLOCK}] __attribute__((aligned(64)));
    for (int j = 0; j < {BLOCK}; ++j) {{ {folded} block[j] = a; }}
    {stored}
  }}
  else for (int j = 0; j < left; ++j) {{ {folded} {single} }}
}}
"""


def _stored(body: Body, width: int, stores: int) -> str:
    """Return the statements that store a block of elements ``width`` bytes wide."""
    assert body.stream is not None  # the caller asked
    if body.stream.past:
        count, store = BLOCK * width // PAST_BYTES, "PAST(((ulong4*)block)[j], (__global ulong4*)to{k} + j);"
    else:
        count, store = BLOCK, "to{k}[j] = block[j];"
    return " ".join(f"for (int j = 0; j < {count}; ++j) {store.format(k=k)}" for k in range(stores))


_HEAD: Final = f"""\
  __global const long* part = table + table[get_global_id(1)];
  long left = part[0] - (long)get_global_id(0) * {BLOCK};
  if (left <= 0) return;
  long i = part[1] + (long)get_global_id(0) * {BLOCK};
"""

_PAST: Final = """\
#ifdef __has_builtin
#if __has_builtin(__builtin_nontemporal_store)
#define PAST(value, place) __builtin_nontemporal_store(value, place)
#endif
#endif
#ifndef PAST
#define PAST(value, place) *(place) = (value)
#endif
"""
