"""A launch as OpenCL C, point by point: a work-item for each point of what is stored, a loop for each reduction."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.index_map import IndexMap, bounds_of, steps
from conformance.backends.opencl.graph.node import Instruction, Launch, Node, Take, sources
from conformance.backends.opencl.graph.reductions import FOLDS, of_nothing
from conformance.backends.opencl.render.elementwise import conversion, literal, operation
from conformance.cases.graph.elementwise import COMPARISONS
from conformance.cases.schedule.kernel_body import Alu, Bitcast, Cast, Constant, Index, Load, Reduce, Store
from conformance.cases.tensor.dtypes import NUMPY, kind

NAME: Final = "KERNEL"
"""What stands for the name of a kernel in its own text, so that equal texts are one kernel."""


LANES: Final = 16
"""Independent accumulators of a fold along a row."""

TURNS: Final = 8
"""Turns of a fold along a row of which one loop has a multiple, or fewer. Where a CPU has AVX2 and no AVX-512, Intel's
compiler (2026.2) makes eight one, and ends the process where some are left and a built-in function is called."""

SHORT: Final = 64
"""Extent of the last axis from which work-items are numbered along it, so that none divides to find it."""


def by_last_axis(launch: Launch) -> bool:
    """Return whether the first number of a work-item is its index along the last axis that is stored."""
    return (
        not launch.generic and launch.outer > 0 and launch.extents[launch.outer - 1] >= SHORT and not along_rows(launch)
    )


def along_rows(launch: Launch) -> bool:
    """Return whether work-items fold rows: elements lie side by side along what is folded, not along what is kept."""
    if launch.outer == len(launch.extents):
        return False
    side_by_side = [
        [axis for axis, step in enumerate(found[0].strides) if abs(step) == 1 and found[0].extents[axis] > 1]
        for _, found in launch.reads
    ]
    folded = any(axis >= launch.outer for axes in side_by_side for axis in axes)
    return folded and not any(launch.outer - 1 in axes for axes in side_by_side)


def by_rows(launch: Launch) -> bool:
    """Return whether a fold serves all points along the last axis that is stored, so that a work-item has a row."""
    folds = [number for number, line in enumerate(launch.instructions) if isinstance(line, Reduce)]
    return bool(folds) and launch.outer > 0 and any(launch.outer - 1 not in Text(launch).depends[n] for n in folds)


def _is_small(launch: Launch) -> bool:
    """Return whether all numbers of points and elements fit into 31 bits, with room for one step more."""
    sizes = [math.prod(launch.extents[: launch.outer]), *launch.extents] + [node.size for node, _ in launch.reads]
    sizes += [math.prod(each.extents) for _, found in launch.reads for each in found[1:]]
    reach = [
        sum(abs(step) * extent for step, extent in zip(each.strides, each.extents, strict=True)) + abs(each.offset)
        for found in (*(found for _, found in launch.reads), *(found for found, _ in launch.stores))
        for each in found
    ]
    return max((*sizes, *reach)) < 2**30


def storages(launch: Launch) -> tuple[Node, ...]:
    """Return the storages that a launch reads, each once, as its kernel takes them."""
    return tuple(dict.fromkeys(node for node, _ in launch.reads))


class Text:
    """The statements of one kernel, scope by scope."""

    def __init__(self, launch: Launch) -> None:
        """Find the dtype of every instruction, and the axes that it changes along."""
        self._launch = launch
        self._lines = launch.instructions
        self._slots = {node: slot for slot, node in enumerate(storages(launch))}
        self.dtypes: list[str] = []
        self.depends: list[frozenset[int]] = []
        for line in self._lines:
            self.dtypes.append(self._dtype(line))
            self.depends.append(self._axes(line))
        self._written: set[int] = set()
        self._index = "int" if _is_small(launch) and not launch.generic else "long"
        self.numbers: list[int] = []

    def kernel(self) -> str:
        """Return the text of the kernel."""
        launch = self._launch
        outer = range(launch.outer)
        arguments = [f"__global const {FORMATS[node.dtype].storage}* r{slot}" for node, slot in self._slots.items()]
        arguments += [f"__global {FORMATS[dtype].storage}* w{slot}" for slot, (_, dtype) in enumerate(launch.stores)]
        arguments += ["__global const long* n", "const int first"] if launch.generic else []
        stores = [number for number, line in enumerate(self._lines) if isinstance(line, Store)]
        wanted = [self._store(number).of for number in stores]
        if by_rows(launch):
            *rows, last = outer
            text = "\n".join(
                (
                    f"  const {self._index} g = get_global_id(0);",
                    f"  if (g >= {self.number(math.prod(launch.extents[:last]))}) return;",
                    *self.unravelled(rows),
                    *self._scope(self._steady(wanted, frozenset(rows)), frozenset(rows), "  "),
                    f"  {self._for(last)} {{",
                    *self._scope(wanted, frozenset(outer), "    "),
                    *("  " + self._stored(number) for number in stores),
                    "  }",
                )
            )
        else:
            body = self._scope(wanted, frozenset(outer), "  ")
            body += [self._stored(number) for number in stores]
            text = "\n".join((*self._indices(), *body))
        return f"__kernel void {NAME}({', '.join(arguments)}) {{\n{text}\n}}\n"

    def number(self, value: int) -> str:
        """Return an extent, a stride or the like as it stands in the text: of a generic kernel, as an argument."""
        if not self._launch.generic:
            return str(value)
        self.numbers.append(value)
        return f"n[first + {len(self.numbers) - 1}]"

    def _constant(self, bits: bytes, dtype: str) -> str:
        """Return a constant of the graph; what more than eight bytes have stands in the text."""
        if not self._launch.generic or len(bits) > 8 or kind(dtype) == "complex":
            return literal(bits, dtype)
        value = self.number(int.from_bytes(bits.ljust(8, b"\0"), "little", signed=True))
        storage = FORMATS[dtype].storage
        return {"float": f"as_float((uint){value})", "double": f"as_double({value})"}.get(
            storage, f"(({storage}){value})"
        )

    def _indices(self) -> list[str]:
        """Return the statements that find the point of a work-item."""
        extents = self._launch.extents[: self._launch.outer]
        found, last = [], len(extents) - 1
        if not extents:
            return ["  if (get_global_id(0) > 0) return;"]
        rest = extents
        if by_last_axis(self._launch):
            found += [
                f"  const {self._index} i{last} = get_global_id(0);",
                f"  if (i{last} >= {self.number(extents[last])}) return;",
            ]
            found.append(f"  const {self._index} g = get_global_id(1);")
            rest = extents[:last]
        else:
            bound = self.number(math.prod(extents))
            found += [f"  const {self._index} g = get_global_id(0);", f"  if (g >= {bound}) return;"]
        return found + self.unravelled(range(len(rest)))

    def unravelled(self, axes: Sequence[int]) -> list[str]:
        """Return the statements that find the indices along some axes from their row-major number ``g``."""
        extents = tuple(self._launch.extents[axis] for axis in axes)
        return [
            f"  const {self._index} i{axis} = {self._unravel('g', step, extent, first=place == 0)};"
            for place, (axis, extent, step) in enumerate(zip(axes, extents, steps(extents), strict=True))
        ]

    def _store(self, number: int) -> Store:
        line = self._lines[number]
        assert isinstance(line, Store)
        return line

    def _stored(self, number: int) -> str:
        line = self._store(number)
        slot = line.access - len(self._launch.reads)
        at, valid = self.place(self._launch.stores[slot][0])
        where = f"if ({valid}) " if valid else ""
        return f"  {where}w{slot}[{at}] = v{line.of};"

    def _scope(self, roots: Sequence[int], axes: frozenset[int], indent: str) -> list[str]:
        """Return the statements that compute ``roots`` where the index along each of ``axes`` is known.

        What a loop needs that is the same in all its rounds stands before it.
        """
        pending: set[int] = set()
        inner: dict[int, set[int]] = {}
        stack = list(roots)
        while stack:
            number = stack.pop()
            if number in self._written or number in pending:
                continue
            pending.add(number)
            line = self._lines[number]
            if not isinstance(line, Reduce):
                stack.extend(sources(line))
                continue
            # What the loop's body needs, as far as it does not change along the loop, is computed out here.
            seen: set[int] = set()
            search = [line.of]
            while search:
                each = search.pop()
                if each in seen or each in self._written:
                    continue
                seen.add(each)
                if self.depends[each] <= axes:
                    stack.append(each)
                else:
                    search.extend(sources(self._lines[each]))
            inner[number] = seen
        found = []
        for number in sorted(pending):
            line = self._lines[number]
            found += (
                self._loop(number, line, axes, indent) if isinstance(line, Reduce) else [self._plain(number, indent)]
            )
            self._written.add(number)
        return found

    def _steady(self, targets: Iterable[int], axes: frozenset[int], but: Iterable[int] = ()) -> list[int]:
        """Return what the targets need that depends on no axis but ``axes``, nothing of it below another."""
        found: list[int] = []
        seen: set[int] = set()
        stack = list(targets)
        while stack:
            number = stack.pop()
            if number in seen or number in self._written or number in but:
                continue
            seen.add(number)
            if self.depends[number] <= axes:
                found.append(number)
            else:
                stack.extend(sources(self._lines[number]))
        return found

    def _plain(self, number: int, indent: str) -> str:
        storage = FORMATS[self.dtypes[number]].storage
        return f"{indent}const {storage} v{number} = {self._expression(number)};"

    def _loop(self, number: int, line: Reduce, axes: frozenset[int], indent: str) -> list[str]:
        dtype = self.dtypes[number]
        storage = FORMATS[dtype].storage
        bits = of_nothing(dtype, FOLDS.get(line.op, line.op)).to_bytes(NUMPY[dtype].itemsize, "little")
        identity = literal(bits, dtype)
        found = [f"{indent}{storage} v{number} = {identity};"]
        *outer, last = line.axes
        deeper = indent
        for axis in outer:
            found.append(f"{deeper}{self._for(axis)} {{")
            deeper += "  "
        before = set(self._written)
        inner = axes | set(line.axes)
        extent = self._launch.extents[last]
        if along_rows(self._launch) and self._lanes_pay(extent) and not self.nests(line):
            found += self._lanes(number, line, inner, deeper, identity)
        else:
            found.append(f"{deeper}{self._for(last)} {{")
            found += self._scope([line.of], inner, deeper + "  ")
            found.append(f"{deeper}  v{number} = {operation(line.op, dtype, (f'v{number}', f'v{line.of}'))};")
            found.append(f"{deeper}}}")
        # What is computed in a loop is not there behind it.
        self._written = before
        return [*found, f"{indent}{'}' * len(outer)}"] if outer else found

    def _lanes_pay(self, extent: int) -> bool:
        return extent >= 2 * LANES and not self._launch.generic

    def _lanes(self, number: int, line: Reduce, inner: frozenset[int], indent: str, identity: str) -> list[str]:
        """Return the loop over an axis with independent accumulators, which a compiler can keep in a vector."""
        dtype, axis, index = self.dtypes[number], line.axes[-1], self._index
        extent = self._launch.extents[axis]
        whole = extent // LANES * LANES
        first = whole if whole < TURNS * LANES else whole // (TURNS * LANES) * TURNS * LANES
        before = set(self._written)
        lane = operation(line.op, dtype, ("lanes[u]", f"v{line.of}"))
        found = [
            f"{indent}{{ {FORMATS[dtype].storage} lanes[{LANES}];",
            f"{indent}for (int u = 0; u < {LANES}; ++u) lanes[u] = {identity};",
        ]
        for begin, end in ((0, first), (first, whole)) if first < whole else ((0, whole),):
            self._written = set(before)
            found += [
                f"{indent}for ({index} base = {begin}; base < {end}; base += {LANES})",
                f"{indent}  for (int u = 0; u < {LANES}; ++u) {{",
                f"{indent}    const {index} i{axis} = base + u;",
                *self._scope([line.of], inner, indent + "    "),
                f"{indent}    lanes[u] = {lane};",
                f"{indent}  }}",
            ]
        own = f"v{number}"
        found.append(
            f"{indent}for (int u = 0; u < {LANES}; ++u) {own} = {operation(line.op, dtype, (own, 'lanes[u]'))}; }}"
        )
        if whole < extent:
            self._written = before
            found += [
                f"{indent}for ({index} i{axis} = {whole}; i{axis} < {extent}; ++i{axis}) {{",
                *self._scope([line.of], inner, indent + "  "),
                f"{indent}  {own} = {operation(line.op, dtype, (own, f'v{line.of}'))};",
                f"{indent}}}",
            ]
        return found

    def _for(self, axis: int) -> str:
        return f"for ({self._index} i{axis} = 0; i{axis} < {self.number(self._launch.extents[axis])}; ++i{axis})"

    def nests(self, line: Reduce) -> bool:
        """Return whether what is folded takes a fold that changes along the loop."""
        axes = set(line.axes)
        return any(isinstance(each, Reduce) and self.depends[number] & axes for number, each in self._below(line))

    def _below(self, line: Reduce) -> Iterator[tuple[int, Instruction]]:
        """Yield what a fold takes, directly or not, each instruction once with its number."""
        stack, seen = [line.of], set[int]()
        while stack:
            number = stack.pop()
            if number not in seen:
                seen.add(number)
                yield number, self._lines[number]
                stack.extend(sources(self._lines[number]))

    def _expression(self, number: int) -> str:
        line = self._lines[number]
        dtype = self.dtypes[number]
        if isinstance(line, Constant):
            return self._constant(bytes.fromhex(line.value.bits), dtype)
        if isinstance(line, Index):
            return f"i{line.axis}"
        if isinstance(line, Alu):
            return operation(line.op, self.dtypes[line.of[-1]], [f"v{each}" for each in line.of])
        if isinstance(line, Cast):
            return conversion(f"v{line.of}", self.dtypes[line.of], dtype)
        if isinstance(line, Bitcast):
            return f"as_{FORMATS[dtype].storage}(v{line.of})"
        if isinstance(line, Load | Take):
            return self._loaded(line, dtype)
        raise TypeError(f"no expression is a {type(line).__name__}")

    def _loaded(self, line: Load | Take, dtype: str) -> str:
        node, index_map = self._launch.reads[line.access]
        at, valid = self.place(index_map)
        if isinstance(line, Take):
            own = FORMATS[self.dtypes[line.index]].order.format(x=f"v{line.index}")
            low = "0" if self.dtypes[line.index].startswith("u") else f"({own} < 0 ? 0 : (long){own})"
            last = self.number(line.extent - 1)
            clamped = f"min({low}, (long){last})" if low != "0" else f"(long)min((ulong){own}, (ulong){last})"
            at = f"{at} + {clamped} * {self.number(line.stride)}"
        element = f"r{self._slots[node]}[{at}]"
        if dtype == "bool":
            element = f"(uchar)({element} != 0)"
        zero = literal(bytes(NUMPY[dtype].itemsize), dtype)
        return f"{valid} ? {element} : {zero}" if valid else element

    def place(self, index_map: IndexMap) -> tuple[str, str]:
        """Return the element that a map leads to, and the condition on which it leads anywhere; empty for always."""
        index = [f"i{axis}" for axis in range(len(index_map[0].extents))]
        valid: list[str] = []
        number = "0"
        for place, each in enumerate(index_map):
            if place:
                strides = steps(each.extents)
                index = [
                    self._unravel(f"({number})", step, extent, first=axis == 0)
                    for axis, (step, extent) in enumerate(zip(strides, each.extents, strict=True))
                ]
            for one, (low, high), extent in zip(index, bounds_of(each), each.extents, strict=True):
                valid += [f"{one} >= {self.number(low)}"] if low > 0 else []
                valid += [f"{one} < {self.number(high)}"] if high < extent else []
            terms = [
                f"{one} * {self.number(stride)}" for one, stride in zip(index, each.strides, strict=True) if stride
            ]
            number = " + ".join((self.number(each.offset), *terms) if each.offset or not terms else terms)
        return number, " && ".join(valid)

    def _unravel(self, number: str, step: int, extent: int, *, first: bool) -> str:
        one = number if step == 1 else f"({number} / {self.number(step)})"
        return one if first else f"({one} % {self.number(extent)})"

    def _dtype(self, line: Instruction) -> str:
        if isinstance(line, Load | Take):
            return self._launch.reads[line.access][0].dtype
        if isinstance(line, Constant):
            return line.value.dtype
        if isinstance(line, Cast | Bitcast):
            return line.dtype
        if isinstance(line, Alu):
            return "bool" if line.op in COMPARISONS else self.dtypes[line.of[-1]]
        return self.dtypes[line.of] if isinstance(line, Reduce | Store) else "int64"

    def _axes(self, line: Instruction) -> frozenset[int]:
        """Return the axes of the kernel along which a value changes."""
        found = frozenset().union(*(self.depends[each] for each in sources(line)))
        if isinstance(line, Index):
            return frozenset({line.axis})
        if isinstance(line, Load | Take):
            first = self._launch.reads[line.access][1][0]
            moving = zip(first.strides, bounds_of(first), first.extents, strict=True)
            return found | {axis for axis, (step, bound, extent) in enumerate(moving) if step or bound != (0, extent)}
        return found - set(line.axes) if isinstance(line, Reduce) else found
