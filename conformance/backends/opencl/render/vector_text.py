"""Values of float32 on vectors of sixteen along an axis, and folds along one."""

from __future__ import annotations

from typing import Final

from conformance.backends.opencl.graph.index_map import Affine, bounds_of
from conformance.backends.opencl.graph.node import Launch
from conformance.backends.opencl.graph.reductions import FOLDS, of_nothing
from conformance.backends.opencl.render.elementwise import literal, operation
from conformance.backends.opencl.render.forms import LEAST, WIDTH
from conformance.backends.opencl.render.lanes import lanewise
from conformance.backends.opencl.render.point import Text
from conformance.cases.schedule.kernel_body import Alu, Load, Reduce

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

EXTREMES: Final = {"max": ">", "min": "<"}
"""Folds of which the processor knows a faster one, but for NaN and for zeros of both signs.

With a polynomial for powers of two beside it a softmax of 2,048 rows took 0.6 of the processor time (the same).
"""

TURNED: Final = ("89abcdef01234567", "4567012389abcdef", "23016745ab89efcd", "1032547698badcfe")
"""Lanes of a vector turned by halves, quarters, eighths and sixteenths: combined with each in turn, all are in all."""


class VectorText(Text):
    """The statements of one kernel, on vectors where a loop goes along ``_along``.

    ``_named`` holds the vectors that statements have another name for, and ``_again`` the arrays that keep what a fold
    computes for each element.
    """

    def __init__(self, launch: Launch) -> None:
        """Start outside of any loop."""
        super().__init__(launch)
        self._along: int | None = None
        self._named: dict[int, str] = {}
        self._again: dict[int, int] = {}

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
        whole, own = extent // WIDTH * WIDTH, f"v{number}"
        found = [f"{indent}float {own} = {self._identity(number)};"]
        if line.op in EXTREMES and extent >= MANY * SUMS * WIDTH:
            found += [f"{indent}{{ int16 unordered = 0;", *self._gathered(number, axes, indent, plain=True)]
            found += [f"{indent}if (any(unordered) || {own} == 0) {{ {own} = {self._identity(number)};"]
            found += [*self._gathered(number, axes, indent, plain=False), f"{indent}}} }}"]
        else:
            found += self._gathered(number, axes, indent, plain=False)
        if whole < extent:
            before, inner = set(self._written), axes | set(line.axes)
            combined = operation(line.op, "float32", (own, f"v{line.of}"))
            found += [
                *(f"{indent}{self._for(axis)}" for axis in line.axes[:-1]),
                f"{indent}for ({self._index} i{last} = {whole}; i{last} < {extent}; ++i{last}) {{",
                *self._scope([line.of], inner, indent + "  "),
                f"{indent}  {own} = {combined}; }}",
            ]
            self._written = before
        return found

    def _gathered(self, number: int, axes: frozenset[int], indent: str, *, plain: bool) -> list[str]:
        """Return the statements that fold all whole vectors along the last axis of a fold to one number.

        A ``plain`` fold takes the greater or the less of two as the processor does, and notes where there is no order.
        """
        line, before = self._fold(number), set(self._written)
        extent, inner = self._launch.extents[line.axes[-1]], axes | set(line.axes)
        whole, own, wide = extent // WIDTH * WIDTH, f"v{number}", f"a{number}"
        many = SUMS if extent >= MANY * SUMS * WIDTH else 1
        found = [
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
                    found += self._folded(number, f"{wide}_{k}", f"b + {k * apart}", inner, indent + "  ", plain=plain)
                found.append(f"{indent}}}")
        self._written = before
        combined = [f"{wide}_0 = {self._combined(line.op, f'{wide}_0', f'{wide}_{k}', plain)};" for k in range(1, many)]
        turned = [f"{wide}_0 = {self._combined(line.op, f'{wide}_0', f'{wide}_0.s{each}', plain)};" for each in TURNED]
        return [
            *found,
            f"{indent}{'}' * len(line.axes[:-1])}",
            f"{indent}{' '.join(combined + turned)}",
            f"{indent}{own} = {wide}_0.s0; }}",
        ]

    def _combined(self, op: str, a: str, b: str, plain: bool) -> str:
        return f"{b} {EXTREMES[op]} {a} ? {b} : {a}" if plain else lanewise(op, (a, b))

    def _folded(self, number: int, own: str, at: str, inner: frozenset[int], indent: str, *, plain: bool) -> list[str]:
        """Return the statements that add the vector at ``at``, along the last axis of a fold, to a sum of its own."""
        line, before = self._fold(number), set(self._written)
        last = line.axes[-1]
        self._along = last
        found = [f"{indent}{{ const {self._index} i{last} = {at};", *self._scope([line.of], inner, indent + "  ")]
        value = self._wide(line.of)
        if number in self._again:
            found.append(f"{indent}  vstore16({value}, 0, k{self._again[number]} + i{last});")
        self._along, self._written = None, before
        if plain:
            found.append(f"{indent}  unordered |= {value} != {value};")
        return [*found, f"{indent}  {own} = {self._combined(line.op, own, value, plain)}; }}"]

    def _lies_along(self, line: Reduce, axis: int) -> bool:
        return all(
            affine.strides[axis] in (0, 1)
            for _, each in self._below(line)
            if isinstance(each, Load)
            for affine in self._launch.reads[each.access][1]
        )
