"""What the domains of programs with effects draw from: a collective, others beside it, and storage to use them on.

All that is drawn here is well formed, and what shrinks stays so: steps are only ever made for names that are there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np
from msgspec.structs import replace as replaced

from conformance.cases.case import Case, Operand
from conformance.cases.program.computing import Block, made_of
from conformance.cases.program.program import Attr, Axis, Program, Step, rank_groups
from conformance.cases.tensor.dtypes import NUMPY, logical
from conformance.cases.tensor.layout import Layout
from conformance.generate import choices
from conformance.generate.calls.call import Call, Shapes
from conformance.generate.calls.decisive_values import Values
from conformance.generate.calls.draft import Draft, draft, groups_of
from conformance.generate.operations import CALLS
from conformance.reference.operations import OPERATIONS

_BOOLEANS: Final = choices.booleans()
_PLACES: Final = choices.steered(
    ["whole", "ordered", "stepped", "whole", "ordered", "turned", "nested", "part"],
    ("view",),
    lambda how: ("none" if how == "whole" else how,),
)
_NOWHERE: Final = choices.steered([False, True], ("axes",), lambda nowhere: ("none" if nowhere else "",))
_SCALAR: Final = choices.steered([False, True], ("rank",), lambda scalar: ("0" if scalar else "",))
ALONE: Final = choices.steered([False] * 7 + [True], ("axes",), lambda alone: ("none" if alone else "",))
"""Whether nobody meets anybody."""


@dataclass
class Script:
    """A program in the making, as one of its calls goes on with it.

    Names are made up; ``shapes`` and ``dtypes`` have those of everything with elements. Scripts of one program share
    all but ``drawn`` and ``call``.
    """

    drawn: Draft
    call: Call
    steps: list[Step] = field(default_factory=list)
    inputs: dict[str, Operand] = field(default_factory=dict)
    shapes: dict[str, Shapes] = field(default_factory=dict)
    dtypes: dict[str, str] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)

    @property
    def beside(self) -> tuple[str, ...]:
        """Return the operands of the call beside its first."""
        return ()

    @property
    def op(self) -> str:
        """Return the operation that the program is drawn for."""
        return self.call.op

    @property
    def result(self) -> Shapes:
        """Return the shapes of the collective's result; those of its operand where it is illegal."""
        return self._made[0]

    @property
    def dtype(self) -> str:
        """Return the dtype of the collective's result."""
        return self._made[1]

    @cached_property
    def _made(self) -> tuple[Shapes, str]:
        return made(self.drawn, self.call) or (self.call.operand, self.drawn.dtype)

    @property
    def same(self) -> bool:
        """Return whether the result has the operand's shapes and dtype, so that it can take its place."""
        return self.result == self.call.operand and self.dtype == self.drawn.dtype

    def other(self, drawn: Draft, call: Call) -> Script:
        """Return the program as another call goes on with it."""
        return Script(drawn, call, self.steps, self.inputs, self.shapes, self.dtypes, self.names)

    def fits(self, name: str) -> bool:
        """Return whether the result fits ``name``."""
        return (self.shapes[name], self.dtypes[name]) == (self.result, self.dtype)

    def input(
        self, shapes: Shapes | None = None, dtype: str | None = None, *, stored: bool = False, values: Values = ""
    ) -> str:
        """Draw an input of the program, of the operand's shapes and dtype by default; ``stored``: for a buffer.

        ``values`` is the pool of its data where that is not what the call, or any, takes.
        """
        shapes = self.call.operand if shapes is None else shapes
        dtype = None if dtype == self.drawn.dtype else dtype
        drawn = self.drawn if dtype is None else replace(self.drawn, dtype=dtype)
        most = max(shapes, key=lambda shape: shape[:1])
        operand = drawn.operand(most, values or (self.call.values if dtype is None else "any"), alike=True)
        if len(set(shapes)) > 1:
            operand = drawn.with_rows(operand, [shape[0] for shape in shapes])
        layouts: tuple[Layout, ...] = tuple(
            "strided" if one == "broadcast" and stored else one for one in operand.layouts
        )
        name = self._name("x", shapes, drawn.dtype)
        self.inputs[name] = replaced(operand, layouts=layouts)
        return name

    def buffer(self, shapes: Shapes | None = None, dtype: str | None = None) -> str:
        """Draw a buffer and the input it begins as a copy of."""
        return self.stored(self.input(shapes, dtype, stored=True))

    def stored(self, source: str) -> str:
        """Return a buffer that begins as a copy of an input."""
        return self._effect("buffer", source, "b", self.shapes[source])

    def place(self, shapes: Shapes | None = None, dtype: str | None = None) -> str:
        """Draw storage: a buffer, or a view of one that has other elements or other axes, or of a view of it."""
        shapes = self.call.operand if shapes is None else shapes
        shape, how = shapes[0], self.drawn.draw(_PLACES)
        if len(set(shapes)) > 1 or how == "whole":
            return self.buffer(shapes, dtype)
        if len(shape) < (2 if how == "ordered" else 1):
            whole, base = tuple(map(range, shape)), self.buffer(shapes, dtype)
            base = self.view(base, whole)
            return self.view(base, whole) if how == "nested" else base
        first, rest = shape[0], tuple(map(range, shape[1:]))
        if how == "ordered":
            base = self.buffer(((shape[1], first, *shape[2:]),) * self.drawn.world, dtype)
            return self.view(base, tuple(map(range, self.shapes[base][0])), (1, 0, *range(2, len(shape))))
        extent = {"stepped": 2 * first + 1, "turned": first, "nested": first + 2, "part": first + 1}[how]
        base = self.buffer(((extent, *shape[1:]),) * self.drawn.world, dtype)
        if how == "nested":
            return self.view(self.view(base, (range(1, extent), *rest)), (range(1, first + 1), *rest))
        rows = {"stepped": range(1, extent, 2), "turned": range(first - 1, -1, -1), "part": range(1, extent)}
        return self.view(base, (rows[how], *rest))

    def view(self, base: str, ranges: tuple[range, ...], order: tuple[int, ...] = ()) -> str:
        """Return a view of the buffer ``base``, whose ranks all have one shape."""
        bounds = ("start", "stop", "step")
        attrs: dict[str, Attr] = {name: tuple(getattr(one, name) for one in ranges) for name in bounds}
        if order:
            attrs["order"] = order
        shape = tuple(len(ranges[axis]) for axis in order or range(len(ranges)))
        return self._effect("view", base, "v", (shape,) * self.drawn.world, attrs)

    def assign(self, target: str, value: str) -> None:
        """Write ``value`` into ``target``."""
        self.steps.append(Step(op="assign", inputs=(target, value), outputs=(), axes=()))

    def copy(self, name: str) -> str:
        """Return a copy of what ``name`` holds."""
        return self._effect("copy", name, "c", self.shapes[name])

    def free(self, name: str) -> None:
        """End a buffer."""
        self.steps.append(Step(op="free", inputs=(name,), outputs=(), axes=()))

    def run(self, *operands: str, into: tuple[str, ...] = (), start: bool = False) -> tuple[str, ...]:
        """Use the collective on operands; return the names of its results, or tickets."""
        names = tuple(self._name("t" if start else "y", self.result, self.dtype) for _ in operands)
        self._collective(self.call.op, operands, names, self.call.attrs, into, start=start)
        return names

    def spread(self, operand: str, into: tuple[str, ...] = (), *, start: bool = False) -> str:
        """Use another collective: the block of the first member goes to every member; return its result or ticket."""
        (name,) = names = (self._name("t" if start else "y", self.shapes[operand], self.dtypes[operand]),)
        self._collective("broadcast", (operand,), names, {"root": 0}, into, start=start)
        return name

    def query(self, op: str, attrs: Mapping[str, Attr]) -> tuple[str, ...]:
        """Use a collective that takes nothing, and return the name of its result if it has one."""
        names = () if op == "barrier" else (self._name("y", ((),) * self.drawn.world, "int32"),)
        self._collective(op, (), names, attrs, (), start=False)
        return names

    def compute(self, does: str, /, *operands: str, **attrs: Attr) -> str:
        """Compute on each rank, and return the name of what comes of it; raise ``CaseError`` where it does not fit."""
        step = Step(op=does, inputs=operands, outputs=("",), axes=(), attrs=attrs)
        held = [
            made_of(does, step, [Block(self.dtypes[name], self.shapes[name][rank]) for name in operands])
            for rank in range(self.drawn.world)
        ]
        name = self._name("z", tuple(each.shape for each in held), held[0].dtype)
        self.steps.append(replaced(step, outputs=(name,)))
        return name

    def base(self, name: str) -> str:
        """Return the buffer that storage lies in; nothing for a value."""
        made = {step.outputs[0]: step for step in self.steps if step.op in ("buffer", "view")}
        while name in made and made[name].op == "view":
            name = made[name].inputs[0]
        return name if name in made else ""

    def done(self, *tickets: str) -> tuple[str, ...]:
        """Wait for tickets together."""
        names = tuple(self._name("y", self.shapes[ticket], self.dtypes[ticket]) for ticket in tickets)
        self.steps.append(Step(op="done", inputs=tickets, outputs=names, axes=()))
        return names

    def case(self, *results: str) -> Case:
        """Return the program that returns ``results`` and all its buffers that are not freed."""
        freed = {step.inputs[0] for step in self.steps if step.op == "free"}
        buffers = [step.outputs[0] for step in self.steps if step.op == "buffer"]
        names = tuple(dict.fromkeys((*results, *(name for name in buffers if name not in freed))))
        program = Program(mesh=self.drawn.mesh, steps=tuple(self.steps), results=names)
        return Case(program=program, inputs=self.inputs)

    def _collective(
        self, op: str, inputs: tuple[str, ...], outputs: tuple[str, ...], attrs: Mapping[str, Attr],
        into: tuple[str, ...], *, start: bool,
    ) -> None:  # fmt: skip
        plain = Step(op=op, inputs=inputs, outputs=outputs, axes=self.drawn.axes, groups=self.drawn.groups)
        self.steps.append(replaced(plain, attrs={**attrs}, into=into, start=start))

    def _effect(self, op: str, of: str, prefix: str, shapes: Shapes, attrs: dict[str, Attr] | None = None) -> str:
        name = self._name(prefix, shapes, self.dtypes[of])
        self.steps.append(Step(op=op, inputs=(of,), outputs=(name,), axes=(), attrs=attrs or {}))
        return name

    def _name(self, prefix: str, shapes: Shapes, dtype: str) -> str:
        name = f"{prefix}{len(self.names) + 1}"
        self.names.append(name)
        self.shapes[name], self.dtypes[name] = shapes, dtype
        return name

    def flip(self) -> bool:
        """Draw yes or no, no being the plain choice."""
        return self.drawn.draw(_BOOLEANS)


def made(drawn: Draft, call: Call) -> tuple[Shapes, str] | None:
    """Return the shapes and the dtype of a call's result, or ``None`` where it is illegal."""
    blocks = [np.zeros(shape, NUMPY[drawn.dtype]) for shape in call.operand]
    if not drawn.axes and not call.attrs.get("local_axes"):
        return call.operand, drawn.dtype
    try:
        groups = rank_groups(drawn.mesh, drawn.axes, drawn.groups)
        found = OPERATIONS[call.op](blocks, **call.attrs, groups=groups)
    except ValueError:
        return None
    first = next(block for block in found if block is not None)
    return tuple(first.shape if block is None else block.shape for block in found), logical(first.dtype)


def script(
    draw: choices.Draw,
    op: str,
    *,
    alone: bool = False,
    shapes: str = "any",
    dtype: str | None = None,
    once: bool = False,
    few: bool = False,
) -> Script:
    """Draw the beginning of a program on ``op``: mesh, groups, dtype, attributes and the shape of the operand.

    ``alone``: nobody meets anybody, over no axis or in groups of one. ``shapes`` is one of ``calls.SHAPES_OF``, or
    ``any``, ``long`` or ``past``. With ``once`` the call is drawn to be used once, with ``few`` there are two ranks.
    """
    drawn = draft(draw, groups=groups_of(op), mesh=(Axis("i", 2),) if few else None)
    drawn = replace(drawn, once=once, dtype=dtype or drawn.dtype)
    if not alone:
        return Script(*CALLS[op](draw, drawn, shapes))
    known = {axis.name for axis in drawn.mesh}
    nowhere = drawn.positions == 1 or not set(drawn.axes) <= known or draw(_NOWHERE)
    singles = None if nowhere else tuple((position,) for position in range(drawn.positions))
    drawn, call = CALLS[op](draw, replace(drawn, axes=() if nowhere else drawn.axes, groups=singles), shapes)
    if nowhere and not call.attrs.get("local_axes") and draw(_SCALAR):
        # Over no axis nothing is split or joined, and a block without axes is as good as any.
        call = replace(call, operand=((),) * drawn.world)
    return Script(drawn, call)
