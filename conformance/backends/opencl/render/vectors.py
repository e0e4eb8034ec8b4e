"""A launch of float32 as OpenCL C on vectors: what lies side by side is computed sixteen elements at a time.

No compiler is trusted to make vectors of loops: a loop with an exponential in it took 25 times as long as the same on
vectors, and work-items side by side 3 times as long as a loop (Intel's on two busy cores, 4 million elements).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from conformance.backends.opencl.graph.node import Launch
from conformance.backends.opencl.render.forms import WIDTH, Form
from conformance.backends.opencl.render.lanes import lanewise
from conformance.backends.opencl.render.point import NAME, storages
from conformance.backends.opencl.render.repeated_folds import again
from conformance.backends.opencl.render.vector_text import VectorText
from conformance.cases.schedule.kernel_body import Load, Reduce, Store

FROM: Final = 2**23
"""Bytes from which what is stored goes past the caches, which then need not fetch what is written over.

With 16 MiB stored, a * b + c took 0.77 of the processor time, softmax 0.88 and layernorm 0.70, and with 9 MiB what it
took otherwise (Intel's, 32 MiB of cache, least of 25 turns on two busy cores).
"""


class Vectors(VectorText):
    """The statements of one kernel that goes over rows, columns or tiles by vectors."""

    def __init__(self, launch: Launch, found: Form) -> None:
        """Write a launch in the form that was found for it."""
        super().__init__(launch)
        self._form = found

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
            at, value = self._place(self._launch.stores[slot][0][0]), self._wide(line.of)
            past = f"PAST({value}, (__global float16*)(w{slot} + {at}));"
            found.append(f"{indent}{past if self._past(slot) else f'vstore16({value}, 0, w{slot} + {at});'}")
        self._along = None
        self._written = before
        return found

    def _past(self, slot: int) -> bool:
        """Return whether what is stored goes past the caches: much, of which each vector begins where it may."""
        (found,), _ = self._launch.stores[slot]
        begun = (found.offset, *found.strides[: self._launch.outer - 1])
        return 4 * math.prod(self._launch.extents[: self._launch.outer]) >= FROM and not any(n % WIDTH for n in begun)

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
