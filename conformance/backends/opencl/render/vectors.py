"""A launch of float32 as OpenCL C on vectors: what lies side by side is computed sixteen elements at a time.

No compiler is trusted to make vectors of loops: a loop with an exponential in it took 25 times as long as the same on
vectors, and work-items side by side 3 times as long as a loop (Intel's on two busy cores, 4 million elements).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from conformance.backends.opencl.graph.index_map import bounds_of
from conformance.backends.opencl.graph.node import Launch, sources
from conformance.backends.opencl.graph.reductions import FOLDS, of_nothing
from conformance.backends.opencl.render.elementwise import literal, operation
from conformance.backends.opencl.render.point import NAME, Text, storages
from conformance.cases.schedule.kernel_body import Alu, Constant, Load, Reduce, Store

WIDTH: Final = 16
"""Elements of a vector: 64 bytes of float32."""

LEAST: Final = 2 * WIDTH
"""Extent from which an axis is gone along by vectors."""

RUN: Final = 2**14
"""Elements of a work-item that folds nothing."""

COLUMNS: Final = 512
"""Columns that a work-item folds at most: as many accumulators stay in the nearest cache."""

POINTS: Final = 2**12
"""Elements that a work-group should have at least."""

INFIX: Final = {"add": "+", "sub": "-", "mul": "*"}
CALLS: Final = {"abs": "fabs", "neg": "-", "trunc": "trunc", "sqrt": "root16", "exp2": "power16"}
PAIRS: Final = {"max": "most16", "min": "least16", "div": "quotient16"}
"""Operations on vectors: signs, and functions of OpenCL or of the prelude."""


class Form(NamedTuple):
    """How a launch is gone over.

    ``along`` is the axis of the vectors of what is stored, ``None`` where a work-item stores one point. A work-item
    has ``block`` elements along it. Of the folds, those of ``columns`` keep an accumulator for each of them, and the
    others are folded at once for all. ``tiles`` are the loads that lie side by side along ``across`` instead.
    """

    along: int | None
    block: int
    columns: tuple[int, ...] = ()
    across: int | None = None
    tiles: tuple[int, ...] = ()


def form(launch: Launch) -> Form | None:
    """Return how a launch is gone over by vectors, or ``None`` where it is not."""
    return _Plan(launch).form() if launch.wide and launch.outer else None


def geometry(launch: Launch, found: Form) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of work-items and of those of a group, along each axis."""
    extents = launch.extents[: launch.outer]
    if found.along is None:
        folded = math.prod(launch.extents[launch.outer :])
        local = max(1, min(64, POINTS // folded))
        return (-(-math.prod(extents) // local) * local,), (local,)
    length, rows = extents[-1], math.prod(extents[:-1])
    if found.across is not None:
        rows = rows // extents[found.across] * -(-extents[found.across] // WIDTH)
    local = 1 if found.columns else max(1, min(64, POINTS // length, rows))
    return (-(-length // found.block), -(-rows // local) * local), (1, local)


class _Plan:
    """What of a launch depends on what, to find its form."""

    def __init__(self, launch: Launch) -> None:
        self._launch, self._lines = launch, launch.instructions
        self._text = Text(launch)

    def form(self) -> Form | None:
        launch = self._launch
        folds = [number for number, line in enumerate(self._lines) if isinstance(line, Reduce)]
        maps = [found for _, found in launch.reads] + [found for found, _ in launch.stores]
        fitting = all(self._fits(number) for number in range(len(self._lines)))
        if not fitting or any(len(found) > 1 for found in maps) or any(self._nests(self._lines[n]) for n in folds):
            return None
        last = launch.outer - 1
        columns = tuple(number for number in folds if last in self._text.depends[number])
        rows = [number for number in folds if number not in columns]
        if self._goes_along(last, [n for n in range(len(self._lines)) if n not in self._within(rows)]):
            length = launch.extents[last]
            if not columns:
                return Form(last, length if rows else RUN)
            quarter = -(-length // 4 // WIDTH) * WIDTH
            return Form(last, max(WIDTH, min(COLUMNS, quarter)), columns)
        if folds and not rows and all(self._row(number) for number in folds):
            return Form(None, 1)
        return None if folds else self._tiled(last)

    def _fits(self, number: int) -> bool:
        line = self._lines[number]
        if isinstance(line, Alu):
            known = line.op in INFIX or line.op in CALLS or line.op in PAIRS or line.op == "recip"
        elif isinstance(line, Reduce):
            known = line.op in INFIX or line.op in PAIRS
        else:
            known = isinstance(line, Load | Constant | Store)
        return known and self._text.dtypes[number] == "float32"

    def _nests(self, line: object) -> bool:
        return isinstance(line, Reduce) and self._text.nests(line)

    def _within(self, folds: Iterable[int]) -> set[int]:
        """Return what only folds need."""
        inside: set[int] = set()
        for number in folds:
            inside |= self._below(sources(self._lines[number])) | {number}
        outside: set[int] = set()
        stack = [number for number, line in enumerate(self._lines) if isinstance(line, Store)]
        while stack:
            number = stack.pop()
            if number not in outside:
                outside.add(number)
                line = self._lines[number]
                stack.extend(() if number in folds else sources(line))
        return inside - outside

    def _below(self, numbers: Iterable[int]) -> set[int]:
        found: set[int] = set()
        stack = list(numbers)
        while stack:
            number = stack.pop()
            if number not in found:
                found.add(number)
                stack.extend(sources(self._lines[number]))
        return found

    def _goes_along(self, axis: int, numbers: Iterable[int]) -> bool:
        """Return whether every load and store steps by one or none along an axis that is long enough."""
        return self._launch.extents[axis] >= LEAST and all(self._step(number, axis) in (0, 1) for number in numbers)

    def _step(self, number: int, axis: int) -> int:
        line = self._lines[number]
        if isinstance(line, Store):
            (found,), _ = self._launch.stores[line.access - len(self._launch.reads)]
            # What is stored has a place for each point.
            return 1 if found.strides[axis] == 1 and found.mask is None else 2
        if isinstance(line, Load):
            (found,) = self._launch.reads[line.access][1]
            return found.strides[axis]
        return 0

    def _row(self, number: int) -> bool:
        """Return whether a fold goes along its last axis by vectors, over no more than it folds itself."""
        line = self._lines[number]
        assert isinstance(line, Reduce)
        return self._goes_along(line.axes[-1], self._below([line.of]))

    def _tiled(self, last: int) -> Form | None:
        """Return the form of a launch whose loads lie side by side along one axis or another."""
        extents = self._launch.extents
        loads = [
            n for n, line in enumerate(self._lines) if isinstance(line, Load) and self._step(n, last) not in (0, 1)
        ]
        others = [n for n in range(len(self._lines)) if n not in loads]
        if not loads or extents[last] < LEAST or not self._goes_along(last, others):
            return None
        for axis in range(last):
            if extents[axis] >= LEAST and all(self._step(n, axis) == 1 and self._unmasked(n) for n in loads):
                return Form(last, RUN, (), axis, tuple(loads))
        return None

    def _unmasked(self, number: int) -> bool:
        line = self._lines[number]
        return isinstance(line, Load) and self._launch.reads[line.access][1][0].mask is None


class Vectors(Text):
    """The statements of one kernel, on vectors where a loop goes along ``_along``."""

    def __init__(self, launch: Launch, found: Form) -> None:
        """Write a launch in the form that was found for it."""
        super().__init__(launch)
        self._form = found
        self._along: int | None = None
        self._named: dict[int, str] = {}

    def kernel(self) -> str:
        """Return the text of the kernel."""
        launch, found = self._launch, self._form
        arguments = [f"__global const float* r{slot}" for slot, _ in enumerate(storages(launch))]
        arguments += [f"__global float* w{slot}" for slot, _ in enumerate(launch.stores)]
        self._roots = [number for number, line in enumerate(self._lines) if isinstance(line, Store)]
        if found.along is None:
            body = self._point_body()
        elif found.across is not None:
            body = self._tile_body(found.along, found.across)
        else:
            body = self._line_body(found.along)
        text = "\n".join(body)
        hint = "__attribute__((vec_type_hint(float16)))"
        return f"__kernel {hint} void {NAME}({', '.join(arguments)}) {{\n{text}\n}}\n"

    def _point_body(self) -> list[str]:
        extents = self._launch.extents[: self._launch.outer]
        found = [
            f"  const {self._index} g = get_global_id(0);",
            f"  if (g >= {math.prod(extents)}) return;",
            *self.unravelled(range(len(extents))),
        ]
        found += self._scope(self._wanted(), frozenset(range(len(extents))), "  ")
        return found + [self._stored(number) for number in self._roots]

    def _wanted(self) -> list[int]:
        return [self._store(number).of for number in self._roots]

    def _heading(self, along: int, rows: Sequence[int], count: int) -> list[str]:
        """Return the statements that find a work-item's row and its elements of it."""
        length = self._launch.extents[along]
        whole = length // WIDTH * WIDTH
        return [
            f"  const {self._index} g = get_global_id(1);",
            f"  if (g >= {count}) return;",
            *self.unravelled(rows),
            f"  const {self._index} from = (int)get_global_id(0) * {self._form.block};",
            f"  const {self._index} to = min(from + {self._form.block}, ({self._index}){whole});",
        ]

    def _line_body(self, along: int) -> list[str]:
        launch, columns = self._launch, self._form.columns
        rows = tuple(range(along))
        axes, every = frozenset(rows), frozenset((*rows, along))
        found = self._heading(along, rows, math.prod(launch.extents[:along]))
        targets = [*(self._fold(number).of for number in columns), *self._wanted()]
        found += self._scope(self._steady(targets, axes, columns), axes, "  ")
        start = set(self._written)
        if columns:
            found += self._column_body(along, axes)
            loop = (
                f"  for (int k = 0; from + k * {WIDTH} < to; ++k) {{ const {self._index} i{along} = from + k * {WIDTH};"
            )
        else:
            loop = f"  for ({self._index} i{along} = from; i{along} < to; i{along} += {WIDTH}) {{"
        found += [loop, *self._stretch(along, every, "    "), "  }"]
        self._written, self._named = start, {}
        return found + self._rest(along, every, "  ")

    def _rest(self, along: int, every: frozenset[int], indent: str) -> list[str]:
        """Return what is left of a row whose extent is no whole number of vectors, for the last work-item of it."""
        length = self._launch.extents[along]
        whole = length // WIDTH * WIDTH
        if whole == length:
            return []
        before = set(self._written)
        found = [
            f"{indent}if (from + {self._form.block} >= {length})",
            f"{indent}for ({self._index} i{along} = {whole}; i{along} < {length}; ++i{along}) {{",
            *self._scope(self._wanted(), every, indent + "  "),
            *(indent + self._stored(number) for number in self._roots),
            f"{indent}}}",
        ]
        self._written = before
        return found

    def _stretch(self, along: int, every: frozenset[int], indent: str) -> list[str]:
        """Return the statements of one vector along an axis, stores included."""
        before = set(self._written)
        self._along = along
        found = self._scope(self._wanted(), every, indent)
        for number in self._roots:
            line = self._store(number)
            slot = line.access - len(self._launch.reads)
            at = self._place(self._launch.stores[slot][0][0])
            found.append(f"{indent}vstore16({self._wide(line.of)}, 0, w{slot} + {at});")
        self._along = None
        self._written = before
        return found

    def _column_body(self, along: int, axes: frozenset[int]) -> list[str]:
        """Return the folds that have an accumulator for each element of a work-item."""
        count = self._form.block // WIDTH
        steps = f"for (int k = 0; from + k * {WIDTH} < to; ++k) {{"
        found: list[str] = []
        for number in self._form.columns:
            line = self._fold(number)
            found += [
                f"  float16 a{number}[{count}];",
                f"  for (int k = 0; k < {count}; ++k) a{number}[k] = (float16)({self._identity(number)});",
            ]
            found += [f"  {self._for(axis)} {{" for axis in line.axes]
            before = set(self._written)
            inner = axes | set(line.axes)
            found += self._scope(self._steady([line.of], inner, self._form.columns), inner, "    ")
            found.append(f"    {steps} const {self._index} i{along} = from + k * {WIDTH};")
            self._along = along
            found += self._scope([line.of], inner | {along}, "      ")
            own = f"a{number}[k]"
            found.append(f"      {own} = {_vector(line.op, (own, self._wide(line.of)))};")
            self._along = None
            found.append("    }" + "}" * len(line.axes))
            self._written = before | {number}
            self._named[number] = own
        return found

    def _tile_body(self, along: int, across: int) -> list[str]:
        """Return the statements that go over tiles, of which some loads are turned."""
        launch = self._launch
        rows = tuple(axis for axis in range(along) if axis != across)
        count, length = launch.extents[across], launch.extents[along]
        blocks = -(-count // WIDTH)
        found = [
            f"  const {self._index} n = get_global_id(1);",
            f"  if (n >= {math.prod(launch.extents[axis] for axis in rows) * blocks}) return;",
            f"  const {self._index} g = n / {blocks}, first = n % {blocks} * {WIDTH};",
            *self.unravelled(rows),
            f"  const {self._index} from = (int)get_global_id(0) * {self._form.block};",
            f"  const {self._index} to = min(from + {self._form.block}, ({self._index}){length // WIDTH * WIDTH});",
            f"  const int height = min({WIDTH}, (int)({count} - first));",
        ]
        every = frozenset((*rows, across, along))
        found += [f"  if (height == {WIDTH})", f"  for ({self._index} left = from; left < to; left += {WIDTH}) {{"]
        for number in self._form.tiles:
            found += self._tile(number, along, across)
        found += [
            f"    for (int u = 0; u < {WIDTH}; ++u) {{ const {self._index} i{across} = first + u, i{along} = left;",
        ]
        self._named = {number: f"t{number}[u]" for number in self._form.tiles}
        self._written |= set(self._form.tiles)
        found += [*self._stretch(along, every, "      "), "    }", "  }"]
        self._named, self._written = {}, set()
        # What is left at the edges is done point by point.
        edge = f"height == {WIDTH} ? to : from"
        found += [
            f"  for ({self._index} i{across} = first; i{across} < first + height; ++i{across})",
            f"  for ({self._index} i{along} = {edge}; i{along} < min(from + {self._form.block}, "
            f"({self._index}){length}); ++i{along}) {{",
            *self._scope(self._wanted(), every, "    "),
            *("  " + self._stored(number) for number in self._roots),
            "  }",
        ]
        return found

    def _tile(self, number: int, along: int, across: int) -> list[str]:
        line = self._lines[number]
        assert isinstance(line, Load)
        node, (only,) = self._launch.reads[line.access]
        slot = self._slots[node]
        at = self._place(only)
        return [
            f"    float16 t{number}[{WIDTH}];",
            f"    for (int u = 0; u < {WIDTH}; ++u) {{ const {self._index} i{across} = first, i{along} = left + u;",
            f"      t{number}[u] = vload16(0, r{slot} + {at}); }}",
            f"    turn16(t{number});",
        ]

    def _fold(self, number: int) -> Reduce:
        line = self._lines[number]
        assert isinstance(line, Reduce)
        return line

    def _identity(self, number: int) -> str:
        line = self._fold(number)
        return literal(of_nothing("float32", FOLDS.get(line.op, line.op)).to_bytes(4, "little"), "float32")

    def _plain(self, number: int, indent: str) -> str:
        if self._along is None or self._along not in self.depends[number]:
            return super()._plain(number, indent)
        return f"{indent}const float16 x{number} = {self._vector_of(number)};"

    def _wide(self, number: int) -> str:
        """Return a value as a vector."""
        if number in self._named:
            return self._named[number]
        return f"x{number}" if self._along in self.depends[number] else f"(float16)(v{number})"

    def _vector_of(self, number: int) -> str:
        line = self._lines[number]
        if isinstance(line, Alu):
            return _vector(line.op, [self._wide(each) for each in line.of])
        assert isinstance(line, Load)  # nothing else changes along an axis
        node, (only,) = self._launch.reads[line.access]
        slot, at = self._slots[node], self._place(only)
        conditions, along = [], ""
        for axis, ((low, high), extent) in enumerate(zip(bounds_of(only), only.extents, strict=True)):
            if axis == self._along:
                if (low, high) != (0, extent):
                    conditions += [f"i{axis} >= {low}", f"i{axis} + {WIDTH} <= {high}"]
                    along = f"part16(r{slot}, {at}, i{axis}, {low}, {high})"
            else:
                conditions += [f"i{axis} >= {low}"] * (low > 0) + [f"i{axis} < {high}"] * (high < extent)
        if only.strides[self._along or 0] == 0:
            loaded = f"(float16)(r{slot}[{at}])"
            along = along and f"spread16(r{slot}[{at}], {along.split(',', 2)[2]}"
        else:
            loaded = f"vload16(0, r{slot} + {at})"
        if not conditions:
            return loaded
        uniform = [each for each in conditions if not each.startswith(f"i{self._along} ")]
        outside = "(float16)(0)"
        if along:
            outside = f"({' && '.join(uniform)} ? {along} : {outside})" if uniform else along
        return f"({' && '.join(conditions)}) ? {loaded} : {outside}"

    def _place(self, only: object) -> str:
        at, _ = self.place((only,))  # type: ignore[arg-type]
        return f"({at})"

    def _loop(self, number: int, line: Reduce, axes: frozenset[int], indent: str) -> list[str]:
        """Return a fold along its last axis by vectors, where what it folds lies so."""
        last = line.axes[-1]
        extent = self._launch.extents[last]
        if self._along is not None or extent < LEAST or not self._lies_along(line, last):
            return super()._loop(number, line, axes, indent)
        before, inner = set(self._written), axes | set(line.axes)
        whole = extent // WIDTH * WIDTH
        own, wide = f"v{number}", f"a{number}"
        found = [
            f"{indent}float {own} = {self._identity(number)};",
            f"{indent}{{ float16 {wide} = (float16)({own});",
            *(f"{indent}{self._for(axis)} {{" for axis in line.axes[:-1]),
            f"{indent}for ({self._index} i{last} = 0; i{last} < {whole}; i{last} += {WIDTH}) {{",
        ]
        self._along = last
        found += self._scope([line.of], inner, indent + "  ")
        found.append(f"{indent}  {wide} = {_vector(line.op, (wide, self._wide(line.of)))}; }}")
        self._along = None
        self._written = set(before)
        if whole < extent:
            found += [
                f"{indent}for ({self._index} i{last} = {whole}; i{last} < {extent}; ++i{last}) {{",
                *self._scope([line.of], inner, indent + "  "),
                f"{indent}  {own} = {operation(line.op, 'float32', (own, f'v{line.of}'))}; }}",
            ]
        self._written = before
        lane = operation(line.op, "float32", (own, "lanes[u]"))
        return [
            *found,
            f"{indent}{'}' * len(line.axes[:-1])}",
            f"{indent}float lanes[{WIDTH}]; vstore16({wide}, 0, lanes);",
            f"{indent}for (int u = 0; u < {WIDTH}; ++u) {own} = {lane}; }}",
        ]

    def _lies_along(self, line: Reduce, axis: int) -> bool:
        seen: set[int] = set()
        stack = [line.of]
        while stack:
            number = stack.pop()
            if number in seen:
                continue
            seen.add(number)
            each = self._lines[number]
            if isinstance(each, Load):
                (only,) = self._launch.reads[each.access][1]
                if only.strides[axis] not in (0, 1):
                    return False
            stack.extend(sources(each))
        return True


def _vector(op: str, of: Sequence[str]) -> str:
    """Return an operation on vectors."""
    if op in INFIX:
        return f"({of[0]} {INFIX[op]} {of[1]})"
    if op in PAIRS:
        return f"{PAIRS[op]}({of[0]}, {of[1]})"
    return f"quotient16((float16)(1), {of[0]})" if op == "recip" else f"{CALLS[op]}({of[0]})"


FUNCTIONS: Final = """\
#ifdef EXACT_DIVISION
static float16 root16(float16 x) { return sqrt(x); }
static float16 quotient16(float16 a, float16 b) { return a / b; }
#else
static float16 root16(float16 x) { return convert_float16(sqrt(convert_double16(x))); }
static float16 quotient16(float16 a, float16 b) { return convert_float16(convert_double16(a) / convert_double16(b)); }
#endif
static float16 power16(float16 x) {
  int16 whole = convert_int16_rte(clamp(x, -300.0f, 300.0f)), low = whole >> 1;
  float16 exact = as_float16((low + 127) << 23) * as_float16((whole - low + 127) << 23);
  return select(exp2(x), exact, (x == rint(x)) & (fabs(x) < 300.0f));
}
static float16 most16(float16 a, float16 b) {
  return select(b, a, (a > b) | ((a == b) & (as_int16(a) >= 0)) | (a != a));
}
static float16 least16(float16 a, float16 b) {
  return select(b, a, (a < b) | ((a == b) & (as_int16(a) < 0)) | (a != a));
}
static float16 part16(__global const float* r, long at, long i, long low, long high) {
  float lanes[16];
  for (int u = 0; u < 16; ++u) lanes[u] = i + u >= low && i + u < high ? r[at + u] : 0.0f;
  return vload16(0, lanes);
}
static float16 spread16(float x, long i, long low, long high) {
  float lanes[16];
  for (int u = 0; u < 16; ++u) lanes[u] = i + u >= low && i + u < high ? x : 0.0f;
  return vload16(0, lanes);
}
static float16 low16(float16 a, float16 b) {
  return (float16)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3, a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7);
}
static float16 high16(float16 a, float16 b) {
  return (float16)(a.s8, b.s8, a.s9, b.s9, a.sa, b.sa, a.sb, b.sb, a.sc, b.sc, a.sd, b.sd, a.se, b.se, a.sf, b.sf);
}
static void mix16(float16* from, float16* to) {
  for (int i = 0; i < 8; ++i) { to[2 * i] = low16(from[i], from[i + 8]); to[2 * i + 1] = high16(from[i], from[i + 8]); }
}
static void turn16(float16* t) {
  float16 s[16];
  mix16(t, s); mix16(s, t); mix16(t, s); mix16(s, t);
}
"""
"""What kernels on vectors need besides: each function gives in every lane what its scalar counterpart gives.

``turn16`` exchanges rows and columns of sixteen vectors: taking turns of the upper and the lower half four times does.
"""
