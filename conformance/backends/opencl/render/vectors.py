"""A launch of float32 as OpenCL C on vectors: what lies side by side is computed sixteen elements at a time.

No compiler is trusted to make vectors of loops: a loop with an exponential in it took 25 times as long as the same on
vectors, and work-items side by side 3 times as long as a loop (Intel's on two busy cores, 4 million elements).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from conformance.backends.opencl.graph.index_map import Affine, bounds_of
from conformance.backends.opencl.graph.node import Launch, sources
from conformance.backends.opencl.graph.reductions import FOLDS, of_nothing
from conformance.backends.opencl.render.alike import again
from conformance.backends.opencl.render.elementwise import literal, operation
from conformance.backends.opencl.render.forms import LEAST, WIDTH, Form
from conformance.backends.opencl.render.lanes import lanewise
from conformance.backends.opencl.render.point import NAME, Text, storages
from conformance.cases.schedule.kernel_body import Alu, Load, Reduce, Store

SUMS: Final = 4
"""Vectors that a long row is folded into, as one alone waits for its last addition.

Rows of 512 in a cache were normalised in 55 us where it took 64 (Intel's on two busy cores, least tenth of 200 runs).
"""

MANY: Final = 4
"""Turns from which a row is long: the statements of a shorter one would be mostly its ends."""

FAR: Final = 2**16
"""Extent from which each of these vectors has a part of the row: four streams of reads wait less for new pages.

A sum of 16 million elements took 1.7 ms where vectors side by side took 2.6; rows of 2,048 that were normalised took
1.7 ms where those took 1.3 (Intel's on two busy cores, least of 200 runs).
"""


class Vectors(Text):
    """The statements of one kernel, on vectors where a loop goes along ``_along``."""

    def __init__(self, launch: Launch, found: Form) -> None:
        """Write a launch in the form that was found for it."""
        super().__init__(launch)
        self._form = found
        self._along: int | None = None
        self._named: dict[int, str] = {}
        self._again: dict[int, int] = {}

    def kernel(self) -> str:
        """Return the text of the kernel."""
        launch = self._launch
        arguments = [f"__global const float* r{slot}" for slot, _ in enumerate(storages(launch))]
        arguments += [f"__global float* w{slot}" for slot, _ in enumerate(launch.stores)]
        self._roots = [number for number, line in enumerate(self._lines) if isinstance(line, Store)]
        text = "\n".join(self._body())
        hint = "__attribute__((vec_type_hint(float16)))"
        return f"__kernel {hint} void {NAME}({', '.join(arguments)}) {{\n{text}\n}}\n"

    def _body(self) -> list[str]:
        found = self._form
        if found.along is None:
            return self._point_body()
        return self._line_body(found.along) if found.across is None else self._tile_body(found.along, found.across)

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
        if not columns:
            folds = [number for number, line in enumerate(self._lines) if isinstance(line, Reduce)]
            self._again = again(launch, along, folds)
            found += [f"  float k{other}[{launch.extents[along]}];" for other in self._again.values()]
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
        self._named |= {other: f"vload16(0, k{other} + i{along})" for other in self._again.values()}
        self._written |= set(self._again.values())
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
            found.append(f"      {own} = {lanewise(line.op, (own, self._wide(line.of)))};")
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
            return lanewise(line.op, [self._wide(each) for each in line.of])
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

    def _place(self, only: Affine) -> str:
        at, _ = self.place((only,))
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
        many = SUMS if extent >= MANY * SUMS * WIDTH else 1
        found = [
            f"{indent}float {own} = {self._identity(number)};",
            f"{indent}{{ float16 {', '.join(f'{wide}_{k} = (float16)({own})' for k in range(many))};",
            *(f"{indent}{self._for(axis)} {{" for axis in line.axes[:-1]),
        ]
        part = whole // (many * WIDTH) * WIDTH
        apart, turn = (part, part) if extent >= FAR else (WIDTH, many * part)
        for start, stop, sums in ((0, turn, many), (many * part, whole, 1)):
            if start < stop:
                step = WIDTH * sums if apart == WIDTH else WIDTH
                found.append(f"{indent}for ({self._index} b = {start}; b < {stop}; b += {step}) {{")
                for k in range(sums):
                    found += self._folded(number, f"{wide}_{k}", f"b + {k * apart}", inner, indent + "  ")
                found.append(f"{indent}}}")
        self._written = set(before)
        if whole < extent:
            found += [
                f"{indent}for ({self._index} i{last} = {whole}; i{last} < {extent}; ++i{last}) {{",
                *self._scope([line.of], inner, indent + "  "),
                f"{indent}  {own} = {operation(line.op, 'float32', (own, f'v{line.of}'))}; }}",
            ]
        self._written = before
        lane = operation(line.op, "float32", (own, "lanes[u]"))
        together = f"{wide}_0"
        for k in range(1, many):
            together = lanewise(line.op, (together, f"{wide}_{k}"))
        return [
            *found,
            f"{indent}{'}' * len(line.axes[:-1])}",
            f"{indent}float lanes[{WIDTH}]; vstore16({together}, 0, lanes);",
            f"{indent}for (int u = 0; u < {WIDTH}; ++u) {own} = {lane}; }}",
        ]

    def _folded(self, number: int, own: str, at: str, inner: frozenset[int], indent: str) -> list[str]:
        """Return the statements that add the vector at ``at``, along the last axis of a fold, to a sum of its own."""
        line, before = self._fold(number), set(self._written)
        last = line.axes[-1]
        self._along = last
        found = [f"{indent}{{ const {self._index} i{last} = {at};", *self._scope([line.of], inner, indent + "  ")]
        value = self._wide(line.of)
        if number in self._again:
            found.append(f"{indent}  vstore16({value}, 0, k{self._again[number]} + i{last});")
        self._along, self._written = None, before
        return [*found, f"{indent}  {own} = {lanewise(line.op, (own, value))}; }}"]

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
