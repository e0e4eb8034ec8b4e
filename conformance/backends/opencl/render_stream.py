"""Streaming kernels as OpenCL C: a fold of runs of elements, one program each, built when it is first needed."""

from __future__ import annotations

from typing import Final

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.prelude import PRELUDE
from conformance.backends.opencl.render import BLOCK, PAST_BYTES, Body, arguments, combines, convert


def render_stream(body: Body) -> str:
    """Return the OpenCL C of one streaming kernel; raise ``ValueError`` for another body."""
    if body.stream is None:
        raise ValueError(f"{body.kernel} streams nothing")
    source, dtype, (loads, stores, past) = body.source, body.accumulator, body.stream
    load, store = FORMATS[source].storage, FORMATS[dtype].storage
    combine = combines(dtype)[body.operation]
    # In the table a load takes three words, slot, offset and stride, and a store too.
    reads = "".join(f"__global const {load}* from{k} = r{k} + part[{11 + 3 * k}] + i; " for k in range(loads))
    writes = "".join(f"__global {store}* to{k} = w{k} + part[{11 + 3 * (loads + k)}] + i; " for k in range(stores))
    later = "".join(
        f"{{ {load} x = from{k}[j]; {store} v = {convert(source, dtype)}; {combine} }} " for k in range(1, loads)
    )
    folded = f"{load} x = from0[j]; {store} a = {convert(source, dtype)}; {later}"
    if past:
        vectors = BLOCK * FORMATS[dtype].itemsize // PAST_BYTES
        stored = "".join(
            f"for (int j = 0; j < {vectors}; ++j) PAST(((ulong4*)block)[j], (__global ulong4*)to{k} + j); "
            for k in range(stores)
        )
    else:
        stored = "".join(f"for (int j = 0; j < {BLOCK}; ++j) to{k}[j] = block[j]; " for k in range(stores))
    single = " ".join(f"to{k}[j] = a;" for k in range(stores))
    return f"""\
{PRELUDE}{_PAST}__kernel void {body.kernel}({arguments(load, store, stores, loads)}) {{
  __global const long* part = table + table[get_global_id(1)];
  long left = part[0] - (long)get_global_id(0) * {BLOCK};
  if (left <= 0) return;
  long i = part[1] + (long)get_global_id(0) * {BLOCK};
  {reads}
  {writes}
  if (left >= {BLOCK}) {{
    {store} block[{BLOCK}] __attribute__((aligned(64)));
    for (int j = 0; j < {BLOCK}; ++j) {{ {folded} block[j] = a; }}
    {stored}
  }}
  else for (int j = 0; j < left; ++j) {{ {folded} {single} }}
}}
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
