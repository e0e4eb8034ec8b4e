"""Kernel bodies as OpenCL C. Sizes, strides and offsets are arguments, so the kernels are few and known beforehand.

Every kernel takes the storages it writes, the storages it reads and one table of 64-bit integers. Work-item
``(i, p)`` handles element ``first + i`` of part ``p``; the table begins with where each part's record starts:

    count, first, axes, inner axes, loads, stores, operation, mode, scalar, extents..., inner extents...,
    for each load: slot, offset, strides..., inner strides...,
    for each store: slot, offset, strides...

Streaming kernels have no mode; there the word says how many elements, of all stores together, go past the caches.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.reductions import dividend
from conformance.backends.opencl.render.point import NAME
from conformance.backends.opencl.render.prelude import PRELUDE
from conformance.cases.tensor.dtypes import DRAWN, RARE, kind

SLOTS: Final = 8
"""Storages a kernel reads, and writes when it folds, unless a world has more ranks; joins of more take several
launches."""

WIDE: Final = 64
"""Storages of the kernels for folds of more, each built when it is first needed: an argument costs every launch."""

OPERATIONS: Final = ("sum", "product", "max", "min", "and", "or", "xor", "arg_max", "arg_min", "scaled_sum")
"""What two elements are combined by; a launch names one by its number here."""

MODES: Final = ("plain", "scale", "divide", "position")
"""What a fold does besides combining: multiply every element by the scalar first, divide the end result by it, or
store which load the result is. The last two may store another type: a quotient of integers is a double, a position an
int."""

MOVES: Final = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong", 16: "ulong2"}
"""Element width in bytes to the unsigned type that moves it, so that every bit survives."""


BLOCK: Final = 32
"""Elements that an item of a streaming kernel folds one by one; 16 to 256 ran alike on PoCL, 8 slower."""

VECTOR_BLOCK: Final = 128
"""Elements that an item of a streaming kernel folds by vectors. Sums of 4 ranks of 4 MiB took 0.92 and 0.93 of the time
of ``BLOCK`` one by one with 128 and 512, and 0.96 with 32 (float32, PoCL on two cores, interleaved)."""

VECTOR_BYTES: Final = 32
"""What one store past the caches writes, and what it is aligned to; a vector is as long."""

VECTORS: Final = {
    "float32": "float8",
    "float64": "double4",
    "int16": "ushort16",
    "int32": "uint8",
    "int64": "ulong4",
    "uint16": "ushort16",
    "uint32": "uint8",
    "uint64": "ulong4",
}
"""The dtypes whose sums and products are those of a C vector, to the bit, and the vector of ``VECTOR_BYTES``."""

SIGNS: Final = {"sum": "+", "product": "*", "and": "&", "or": "|", "xor": "^"}
"""The operations that C has on vectors."""

MOVED: Final = "ulong4"
"""The vector that moves elements of any dtype."""

SINGLY: Final = f"__kernel __attribute__((vec_type_hint({MOVED})))"
"""How a kernel begins whose work-items are not to become lanes of vectors.

Those of streams have vectors or loops of their own. With Intel's runtime a maximum over 4 ranks of 4 MiB took 0.75 ms
and 26 ms without, a sum 0.64 ms and 0.97 ms, and rows of 4 KiB of 16 MiB in all were moved in 1.8 ms and 7.7 ms (least
of 40 and 60 runs, on two busy cores). Those of any views look up where each element lies: a sum over 4 ranks of 2**20
elements took 28 ms and 55 ms without, one of 2**10 74 us and 101 us, and 0.08 s to build and 0.17 s (the same, AVX2).
"""


class Stream(NamedTuple):
    """A streaming kernel: how many storages it loads and stores, and what share of its stores go past the caches.

    The share (``nontemporal``) is an argument, so that sizes alone ask for no other kernel.
    """

    loads: int
    stores: int
    nontemporal: float = 0.0


class Body(NamedTuple):
    """What a kernel computes.

    ``slots`` are the storages that it can read, and write when it folds.
    ``operation`` is ``move`` or one of ``OPERATIONS``. ``source`` is the dtype of the loads and ``accumulator`` the
    dtype that is computed in, or for ``move`` both the element width in bytes. ``within`` says that every load has
    axes that are folded away too, and ``stream`` that every load and store is one run of elements. What moves or
    streams is ``joint`` where its parts are those of several ranks: each may write any of ``slots`` storages.
    """

    operation: str
    source: str
    accumulator: str
    within: bool = False
    stream: Stream | None = None
    slots: int = SLOTS
    joint: bool = False

    @property
    def kernel(self) -> str:
        """Return the name of the kernel, one for all operations and modes of a pair of dtypes.

        Both are arguments: what a kernel costs is its first launch, 60 to 250 ms with PoCL, and one
        predictable branch an element is far below that.
        """
        wide = "" if self.slots == SLOTS else f"_{self.slots}"
        joint = f"joint{wide}_" if self.joint else ""
        if self.stream is not None:
            numbers = f"{self.stream.loads}_{self.stream.stores}"
            return f"{joint}stream_{self.operation}_{self.source}_{self.accumulator}_{numbers}"
        if self.operation == "move":
            return f"{joint}move_{self.source}"
        return f"{'within' if self.within else 'fold'}_{self.source}_{self.accumulator}{wide}"

    @property
    def code(self) -> int:
        """Return the number of the operation; any will do where nothing is combined."""
        return OPERATIONS.index(self.operation) if self.operation in OPERATIONS else 0

    @property
    def targets(self) -> int:
        """Return how many storages the kernel takes to write."""
        if self.joint:
            return self.slots
        if self.stream is not None:
            return self.stream.stores
        return 1 if self.operation == "move" else self.slots

    @property
    def sources(self) -> int:
        """Return how many storages the kernel takes to read."""
        return self.slots if self.stream is None or self.joint else self.stream.loads

    @property
    def elements(self) -> int:
        """Return how many elements one work-item handles."""
        if self.stream is None:
            return 1
        return BLOCK if self.vector is None else VECTOR_BLOCK

    @property
    def vector(self) -> str | None:
        """Return the C vector that a streaming kernel moves or computes in, ``None`` where it takes single elements."""
        if self.operation in ("move", "copy"):
            return MOVED
        return VECTORS.get(self.source) if self.operation in SIGNS and self.source == self.accumulator else None


def render() -> str:
    """Return the OpenCL C of every kernel but the streaming ones and those of rare dtypes."""
    moves = (_move(f"move_{width}", element) for width, element in MOVES.items())
    return PRELUDE + "\n".join((*moves, *_folds(("bool", "int32"), *((dtype, dtype) for dtype in DRAWN))))


def render_rare() -> str:
    """Return the OpenCL C of the kernels of rare dtypes."""
    return PRELUDE + "\n".join(_folds(*((dtype, dtype) for dtype in RARE)))


def _folds(*pairs: tuple[str, str]) -> Iterator[str]:
    """Yield the kernels that fold elements of one dtype in another."""
    # A loop inside the loop, even of one round, made plain folds of 64 Ki to 1 Mi floats 1.4 times as slow.
    kinds = (("fold", _ONCE), ("within", _WITHIN))
    yield from (_fold(f"{name}_{'_'.join(pair)}", *pair, loop) for pair in pairs for name, loop in kinds)


def render_one(body: Body) -> str:
    """Return the OpenCL C of the one kernel of a body that streams nothing, whatever storages it takes."""
    return PRELUDE + alone(body).replace(NAME, body.kernel, 1)


@cache
def alone(body: Body) -> str:
    """Return what ``render_one`` has behind the prelude, with ``NAME`` for the kernel's name."""
    if body.operation == "move":
        return _move(NAME, MOVES[int(body.source)], body.targets, body.sources)
    return _fold(NAME, body.source, body.accumulator, _WITHIN if body.within else _ONCE, body.slots)


def chosen(to: str, letter: str, slots: int, slot: str = "access[0]") -> str:
    """Return the statement that lets the pointer ``to`` be the one that ``slot`` numbers, for it is the first now."""
    cases = "".join(f"case {each}: {to} = {letter}{each}; break; " for each in range(1, slots))
    return f"switch ({slot}) {{ {cases}default: break; }}" if cases else ""


_HEAD: Final = """\
  __global const long* part = table + table[get_global_id(1)];
  if ((long)get_global_id(0) >= part[0]) return;
  ulong i = part[1] + get_global_id(0);
  long axes = part[2], inner = part[3], loads = part[4], stores = part[5];
  __global const long* extents = part + 9;
  __global const long* within = extents + axes;
  __global const long* access = within + inner;
"""

_ONCE: Final = ("", "from[0]", "k > 0", "")
_WITHIN: Final = (
    "for (ulong t = 0; t < repeats; ++t) { ",
    "from[place(t, inner, within, access + 2 + axes)]",
    "k > 0 || t > 0",
    " }",
)
"""The loop over what is folded away within a load: its beginning, an element, what is not the first one, its end."""


def arguments(source: str, target: str, targets: int, sources: int = SLOTS) -> str:
    """Return the parameters of a kernel that writes and reads so many storages."""
    writes = "".join(f"__global {target}* w{slot}, " for slot in range(targets))
    reads = "".join(f"__global const {source}* r{slot}, " for slot in range(sources))
    return f"{writes}{reads}__global const long* table"


def _move(name: str, element: str, targets: int = 1, sources: int = SLOTS) -> str:
    return f"""\
{SINGLY} void {name}({arguments(element, element, targets, sources)}) {{
{_HEAD}  {element} x = 0;
  if (loads > 0) {{
    __global const {element}* from = r0;
    {chosen("from", "r", sources)}
    x = from[access[1] + place(i, axes, extents, access + 2)];
    access += axes + 2;
  }}
  __global {element}* to = w0;
  {chosen("to", "w", targets)}
  to[access[1] + place(i, axes, extents, access + 2)] = x;
}}
"""


def _fold(name: str, source: str, dtype: str, loop: tuple[str, str, str, str], slots: int = SLOTS) -> str:
    begin, element, later, end = loop
    load, store = FORMATS[source].storage, FORMATS[dtype].storage
    cases = "".join(f"case {OPERATIONS.index(op)}: {code} break; " for op, code in combines(dtype).items())
    unordered = FORMATS[dtype].unordered.format(a=_in("order", dtype, "a"))
    nan = f"if ({unordered}) at = 0x7fffffff;" if unordered else ""
    scale = f"if (mode == 1) a = {_scaled(dtype)}; " if kind(dtype) in ("float", "complex") else ""
    divide = "" if dtype == "bool" else _quotient(dtype)
    return f"""\
{SINGLY} void {name}({arguments(load, store, slots, slots)}) {{
{_HEAD}  long operation = part[6], mode = part[7];
  ulong repeats = 1;
  for (long d = 0; d < inner; ++d) repeats *= (ulong)within[d];
  {store} a = 0;
  int at = 0;
  for (long k = 0; k < loads; ++k, access += axes + inner + 2) {{
    __global const {load}* from = r0;
    {chosen("from", "r", slots)}
    from += access[1] + place(i, axes, extents, access + 2);
    {begin}{load} x = {element};
    {store} v = {convert(source, dtype)};
    if ({later}) switch (operation) {{ {cases}default: break; }}
    else {{ a = v; {scale}}}{end}
  }}
  {nan}
  for (long k = 0; k < stores; ++k, access += axes + 2) {{
    __global {store}* to = w0;
    {chosen("to", "w", slots)}
    long here = access[1] + place(i, axes, extents, access + 2);
    if (mode == 3) ((__global int*)to)[here] = at;
    {divide}
    else to[here] = a;
  }}
}}
"""


def combines(dtype: str) -> dict[str, str]:
    """Return the statements that combine ``a`` with ``v``, both in storage form, for every operation there is."""
    family, form = kind(dtype), FORMATS[dtype]
    found = {op: f"a = {_combine(op, dtype)};" for op in ("sum", "product", "max", "min")}
    if family in ("bool", "integer"):
        for op, sign in (("and", "&"), ("or", "|"), ("xor", "^")):
            found[op] = f"a = ({form.storage})(a {sign} v);"
    else:
        found["scaled_sum"] = f"v = {_scaled(dtype)}; {found['sum']}"
    if family != "complex":
        a, v = _in("order", dtype, "a"), _in("order", dtype, "v")
        # A NaN takes the place of any number and keeps it, for no comparison with it holds.
        nan = f" || {form.unordered.format(a=v)}" if form.unordered else ""
        for op, sign in (("arg_max", ">"), ("arg_min", "<")):
            found[op] = f"if ({v} {sign} {a}{nan}) {{ a = v; at = (int)k; }}"
    return found


def _combine(operation: str, dtype: str) -> str:
    """Return ``a`` and ``v`` combined and rounded; C operators on the widened values."""
    form = FORMATS[dtype]
    if operation in ("sum", "product"):
        a, b = _in("widen", dtype, "a"), _in("widen", dtype, "v")
        return _in("round", dtype, f"({a} + {b})" if operation == "sum" else form.multiply.format(a=a, b=b))
    a, b = _in("order", dtype, "a"), _in("order", dtype, "v")
    # fmax and fmin would drop NaN.
    wins = (form.greater if operation == "max" else form.less).format(a=a, b=b)
    if form.unordered:
        wins = f"{wins} || {form.unordered.format(a=a)}"
    return f"({wins}) ? a : v"


def _scaled(dtype: str) -> str:
    """Return ``v`` multiplied by the scalar of the launch, a real one, and rounded; for floats and their parts."""
    form = FORMATS[dtype]
    scalar = _in("widen", dtype, form.scalar.format(x="part[8]")) + (".x" if kind(dtype) == "complex" else "")
    return _in("round", dtype, f"({_in('widen', dtype, 'v')} * {scalar})")


def _quotient(dtype: str) -> str:
    """Return the branch that stores ``a`` divided by the scalar of the launch."""
    form = FORMATS[dtype]
    if kind(dtype) == "integer":
        quotient = f"(double)({_in('order', dtype, 'a')}) / as_double(part[8])"
        return f"else if (mode == 2) ((__global double*)to)[here] = {quotient};"
    scalar = (
        "as_double(part[8])" if dividend(dtype) == "float64" else _in("widen", dtype, form.scalar.format(x="part[8]"))
    )
    quotient = form.divide.format(real=form.arithmetic, a=_in("widen", dtype, "a"), b=scalar)
    return f"else if (mode == 2) to[here] = {_in('round', dtype, quotient)};"


def convert(source: str, target: str) -> str:
    """Return the value of storage element ``x`` of ``source`` in the storage form of ``target``."""
    if source == target:
        return FORMATS["bool"].order.format(x="x") if source == "bool" else "x"
    return _in("round", target, f"(({FORMATS[target].arithmetic}){_in('widen', source, 'x')})")


def _in(form: str, dtype: str, value: str) -> str:
    """Return one of the C expressions of a format for ``value``."""
    pattern: str = getattr(FORMATS[dtype], form)
    return pattern.format(x=value)
