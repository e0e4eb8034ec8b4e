"""Streaming kernels as OpenCL C: folds and moves of runs of elements, one program each, built when first needed."""

from __future__ import annotations

from typing import Final

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.render.kernels import (
    BLOCK,
    MOVED,
    MOVES,
    SIGNS,
    SINGLY,
    VECTOR_BYTES,
    Body,
    arguments,
    chosen,
    combines,
    convert,
)
from conformance.backends.opencl.render.prelude import PAST, PRELUDE


def render_stream(body: Body) -> str:
    """Return the OpenCL C of one streaming kernel; raise ``ValueError`` for another body."""
    if body.stream is None:
        raise ValueError(f"{body.kernel} streams nothing")
    loose = "" if body.vector is None else _LOOSE.format(vector=body.vector)
    return PRELUDE + PAST + loose + (_move(body) if body.operation == "move" else _fold(body))


def _move(body: Body) -> str:
    """Return the kernel that moves rows of runs, each from any of its sources; a block of an item is of one run."""
    element = MOVES[int(body.source)]
    return f"""\
{SINGLY} void {body.kernel}({arguments(element, element, body.targets, body.sources)}) {{
  __global const long* part = table + table[get_global_id(1)];
  long axes = part[2];
  __global const long* extents = part + 9;
  __global const long* access = extents + axes;
  long run = extents[axes - 1], blocks = (run + {body.elements - 1}) / {body.elements};
  long row = (long)get_global_id(0) / blocks, at = (long)get_global_id(0) % blocks * {body.elements};
  long left = part[0] - row * run - at, here = min(left, run - at);
  if (left <= 0) return;
  __global const {element}* from = r0;
  {chosen("from", "r", body.sources)}
  __global const {element}* from0 = from + access[1] + place(row, axes - 1, extents, access + 2) + at;
  access += axes + 2;
  __global {element}* to = w0;
  {chosen("to", "w", body.targets)}
  __global {element}* to0 = to + access[1] + place(row, axes - 1, extents, access + 2) + at;
  if (here >= {body.elements}) {{
    {_by_vector(body, 1, int(body.source))}
  }}
  else for (int j = 0; j < here; ++j) to0[j] = from0[j];
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
    reads = "".join(_begun(body, f"const {load}", "from", "r", k, k) for k in range(loads))
    writes = "".join(_begun(body, store, "to", "w", k, loads + k) for k in range(stores))
    later = "".join(
        f"{{ {load} x = from{k}[j]; {store} v = {convert(source, dtype)}; {combine} }} " for k in range(1, loads)
    )
    folded = f"{load} x = from0[j]; {store} a = {convert(source, dtype)}; {later}"
    single = " ".join(f"to{k}[j] = a;" for k in range(stores))
    width = FORMATS[dtype].itemsize
    return f"""\
{SINGLY} void {body.kernel}({arguments(load, store, body.targets, body.sources)}) {{
{_head(body)}  {reads}
  {writes}
  if (left >= {body.elements}) {{
    {_one_by_one(body, folded, store, width) if body.vector is None else _by_vector(body, loads, width)}
  }}
  else for (int j = 0; j < left; ++j) {{ {folded} {single} }}
}}
"""


def _begun(body: Body, element: str, to: str, letter: str, number: int, access: int) -> str:
    """Return the statements that let a pointer be where the run of an access begins."""
    slots = body.sources if letter == "r" else body.targets
    words = 10 + 3 * access
    if not body.joint:
        return f"__global {element}* {to}{number} = {letter}{number} + part[{words + 1}] + i; "
    first = f"__global {element}* {to}{number} = {letter}0; {chosen(f'{to}{number}', letter, slots, f'part[{words}]')} "
    return f"{first}{to}{number} += part[{words + 1}] + i; "


def _by_vector(body: Body, loads: int, width: int) -> str:
    """Return the statements that fold a block of elements ``width`` bytes wide, a vector at a time."""
    assert body.stream is not None  # the caller asked
    vector, sign = body.vector, SIGNS.get(body.operation)
    first, *others = (f"((__global const loose_{vector}*)(from{k} + j))->v" for k in range(loads))
    combined = " ".join(f"a = a {sign} {other};" for other in others)
    stores = body.stream.stores
    past = [f"PAST(a, (__global {vector}*)(to{k} + j));" for k in range(stores)]
    plain = [f"((__global loose_{vector}*)(to{k} + j))->v = a;" for k in range(stores)]
    loop = f"for (int j = 0; j < {body.elements}; j += {VECTOR_BYTES // width}) {{ {vector} a = {first}; {combined}"
    # A loop for each number: within one loop the compiler would ask again for each vector.
    loops = (f"case {n}: {loop} {' '.join(past[:n] + plain[n:])} }} break;" for n in range(stores + 1))
    return f"{_PAST_STORES}\n    switch (past) {{\n      {_LINE.join(loops)}\n    }}"


def _one_by_one(body: Body, folded: str, element: str, width: int) -> str:
    """Return the statements that fold a block to private memory, and store it from there."""
    assert body.stream is not None  # the caller asked
    vectors = BLOCK * width // VECTOR_BYTES
    stored = (
        f"if (past > {k}) for (int j = 0; j < {vectors}; ++j) PAST((({MOVED}*)block)[j], (__global {MOVED}*)to{k} + j);"
        f"\n    else for (int j = 0; j < {BLOCK}; ++j) to{k}[j] = block[j];"
        for k in range(body.stream.stores)
    )
    return f"""\
{element} block[{BLOCK}] __attribute__((aligned(64)));
    for (int j = 0; j < {BLOCK}; ++j) {{ {folded} block[j] = a; }}
    {_PAST_STORES}
    {_LINE.join(stored)}"""


def _head(body: Body) -> str:
    """Return the statements that find the part, and what is left of its run from the block of this item on."""
    return f"""\
  __global const long* part = table + table[get_global_id(1)];
  long left = part[0] - (long)get_global_id(0) * {body.elements};
  if (left <= 0) return;
  long i = part[1] + (long)get_global_id(0) * {body.elements};
"""


_PAST_STORES: Final = "int past = (int)((part[7] + left - 1) / part[0]);"
"""How many stores of this block go past the caches: where a share is no whole number, one more in the first blocks."""

_LINE: Final = "\n    "

_LOOSE: Final = "typedef struct __attribute__((packed)) {{ {vector} v; }} loose_{vector};\n"
"""A vector that begins at any element."""
