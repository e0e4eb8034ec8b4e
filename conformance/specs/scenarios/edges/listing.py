"""A program in the making of patterns that name their calls and their data, over the members of one place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import numpy as np

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import EFFECTS, Attr, Axis, Groups, Program, Step, rank_groups
from conformance.cases.tensor.dtypes import NUMPY, Array, logical
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array
from conformance.reference.operations import OPERATIONS, TABLE
from conformance.reference.rejection import Rejected
from conformance.reference.situations import world_word
from conformance.specs.domains import choices

Place = tuple[tuple[Axis, ...], tuple[str, ...], Groups | None]
"""A mesh, the axes that are named, and groups of the positions along them."""


def _place(sizes: tuple[int, ...], axes: str, groups: Groups | None = None) -> Place:
    return tuple(Axis(name, size) for name, size in zip("ijk", sizes, strict=False)), tuple(axes), groups


EVEN: Final = (
    _place((4,), "i"),
    _place((2, 2), "j"),
    _place((3,), "i"),
    _place((4,), "i", ((0, 2), (1, 3))),
    _place((5,), "i"),
    _place((2, 3), "ji"),
    _place((6,), "i", ((5, 1, 3), (2, 0, 4))),
    _place((2,), "i"),
    _place((2, 4), "j"),
    _place((8,), "i"),
    _place((8,), "i", ((2, 3, 0, 1), (7, 6, 5, 4))),
    _place((2, 2), "i"),
    _place((3, 2), "i"),
    _place((2, 2, 2), "ik"),
)
"""Places of groups of one size: of two to eight members, next to each other, apart, and in another order."""

UNEVEN: Final = (
    _place((5,), "i", ((0, 1), (2, 3, 4))),
    _place((8,), "i", ((0,), (1, 2, 3), (4, 5, 6, 7))),
    _place((6,), "i", ((3,), (5, 1, 0, 2, 4))),
    _place((2, 3), "j", ((2,), (1, 0))),
)
"""Places of groups of several sizes."""

_LAYOUT: Final[choices.Choice[Layout]] = choices.steered(
    ("contiguous", "strided", "transposed", "flipped", "offset"), ("layout",), lambda layout: (layout,)
)


MOST: Final = 1024
"""Elements of a block that is made of what another call made, at most."""

_ranks: Final = cache(rank_groups)


def world_of(place: Place) -> str:
    """Return the word for the number of ranks of a place."""
    return world_word(int(np.prod([axis.size for axis in place[0]])))


@dataclass
class Edge:
    """A program in the making, at a place, of which an operation, a dtype and a layout are settled.

    ``turn`` is how many such programs the domain drew before it: a pattern may go on where the one before it ended.
    """

    draw: choices.Draw
    op: str
    place: Place
    dtype: str
    turn: int = 0
    steps: list[Step] = field(default_factory=list)
    inputs: dict[str, Operand] = field(default_factory=dict)
    results: list[str] = field(default_factory=list)
    shapes: dict[str, list[tuple[int, ...]]] = field(default_factory=dict)
    dtypes: dict[str, str] = field(default_factory=dict)
    layout: Layout = "contiguous"

    def __post_init__(self) -> None:
        """Settle the layout of the inputs."""
        self.layout = self.draw(_LAYOUT)

    @property
    def mesh(self) -> tuple[Axis, ...]:
        """Return the mesh."""
        return self.place[0]

    @property
    def world(self) -> int:
        """Return the number of ranks."""
        return int(np.prod([axis.size for axis in self.mesh]))

    @property
    def groups(self) -> Groups:
        """Return the groups as ranks."""
        return _ranks(*self.place)

    @property
    def size(self) -> int:
        """Return the number of members of the smallest group."""
        return min(map(len, self.groups))

    @property
    def most(self) -> int:
        """Return the number of members of the greatest group."""
        return max(map(len, self.groups))

    def input(self, blocks: Iterable[Any], dtype: str | None = None, layout: Layout | None = None) -> str:
        """Add an input with a block for each rank."""
        held = NUMPY[dtype or self.dtype]
        arrays: list[Array] = [np.ascontiguousarray(block, held).reshape(np.shape(block)) for block in blocks]
        name = self._name("x", [array.shape for array in arrays], dtype or self.dtype)
        tensors = tuple(from_array(array) for array in arrays)
        self.inputs[name] = Operand(blocks=tensors, layouts=(layout or self.layout,) * self.world)
        return name

    def call(
        self, *of: str, by: str = "", place: Place | None = None, into: tuple[str, ...] = (), start: bool = False,
        **attrs: Attr,
    ) -> tuple[str, ...]:  # fmt: skip
        """Add a collective on operands, that of the program by default; return the names of its results or tickets."""
        _, axes, groups = place or self.place
        op = by or self.op
        names = tuple(self._made(op, name, place or self.place, attrs, start=start) for name in of)
        self.steps.append(
            Step(op=op, inputs=of, outputs=names, axes=axes, groups=groups, attrs=attrs, into=into, start=start)
        )
        return names

    def one(self, of: str, **how: Any) -> str:
        """Add a collective on one operand; return the name of its result or ticket."""
        return self.call(of, **how)[0]

    def give(self, *names: str) -> None:
        """Return values from the program."""
        self.results += [name for name in names if name not in self.results]

    def buffer(self, source: str) -> str:
        """Add a buffer that begins as a copy of an input."""
        return self._effect("buffer", source, "b", self.shapes[source])

    def target(self, of: str, attrs: Mapping[str, Attr]) -> str:
        """Add a buffer that the result of the operation on a value fits, with contents of its own."""
        shapes, dtype = self.result(of, attrs)
        blocks = ((np.arange(int(np.prod(shape))).reshape(shape) + rank) % 3 % 2 for rank, shape in enumerate(shapes))
        return self.buffer(self.input(blocks, dtype))

    def result(self, of: str, attrs: Mapping[str, Attr]) -> tuple[list[tuple[int, ...]], str]:
        """Return the shapes and the dtype of what the operation gives."""
        return self._result(self.op, of, self.place, attrs)

    def view(self, base: str, *ranges: range, order: tuple[int, ...] = ()) -> str:
        """Add a view of storage: the ranges of its first axes, all of the others."""
        shape = self.shapes[base][0]
        every = (*ranges, *map(range, shape[len(ranges) :]))
        attrs: dict[str, Attr] = {
            word: tuple(getattr(one, word) for one in every) for word in ("start", "stop", "step")
        }
        if order:
            attrs["order"] = order
        seen = tuple(len(every[axis]) for axis in order or range(len(every)))
        return self._effect("view", base, "v", [seen] * self.world, attrs)

    def assign(self, target: str, value: str) -> None:
        """Write a value into storage."""
        self.steps.append(Step(op="assign", inputs=(target, value), outputs=(), axes=()))

    def copy(self, name: str) -> str:
        """Copy what a name holds now; the copy is a result."""
        self.give(made := self._effect("copy", name, "c", self.shapes[name]))
        return made

    def free(self, name: str) -> None:
        """End a buffer."""
        self.steps.append(Step(op="free", inputs=(name,), outputs=(), axes=()))

    def done(self, *tickets: str) -> None:
        """Wait for tickets together; what comes of them are results."""
        names = tuple(self._name("y", self.shapes[one], self.dtypes[one]) for one in tickets)
        self.steps.append(Step(op="done", inputs=tickets, outputs=names, axes=()))
        self.give(*names)

    def case(self) -> Case:
        """Return the program, with all its results and buffers; shrinking leaves results out, and what made them."""
        freed = {step.inputs[0] for step in self.steps if step.op == "free"}
        buffers = [step.outputs[0] for step in self.steps if step.op == "buffer" and step.outputs[0] not in freed]
        # Both are wanted, so that only Hypothesis, which heeds no wants, leaves a result out.
        results = tuple(name for name in self.results if self.draw.source.below(2, (1,))) or tuple(self.results[-1:])
        steps, inputs = self.steps, self.inputs
        if not any(step.op in EFFECTS or step.into or step.start for step in steps):
            steps, inputs = _needed(steps, inputs, results)
        names = tuple(dict.fromkeys((*results, *buffers)))
        return Case(program=Program(mesh=self.mesh, steps=tuple(steps), results=names), inputs=dict(inputs))

    def can(self, of: str, by: str, place: Place, attrs: Mapping[str, Attr]) -> bool:
        """Return whether every rank has the value, and whether an operation takes it and gives little more."""
        made = next((step for step in self.steps if of in step.outputs), None)
        if self.dtypes[of] != self.dtype or (made is not None and TABLE[made.op].writers != "all"):
            return False
        try:
            shapes, _ = self._result(by, of, place, attrs)
        except (Rejected, ValueError):
            return False
        return max(int(np.prod(shape)) for shape in shapes) <= MOST

    def _made(self, op: str, of: str, place: Place, attrs: Mapping[str, Attr], *, start: bool) -> str:
        """Name the result of an operation."""
        return self._name("t" if start else "y", *self._result(op, of, place, attrs))

    def _result(self, op: str, of: str, place: Place, attrs: Mapping[str, Attr]) -> tuple[list[tuple[int, ...]], str]:
        """Return the shapes and the dtype of what an operation gives, which is done on zeros."""
        zeros = [np.zeros(shape, NUMPY[self.dtypes[of]]) for shape in self.shapes[of]]
        found = OPERATIONS[op](zeros, **attrs, groups=_ranks(*place))
        first = next(block for block in found if block is not None)
        return [first.shape if block is None else block.shape for block in found], logical(first.dtype)

    def _effect(
        self, op: str, of: str, prefix: str, shapes: list[tuple[int, ...]], attrs: dict[str, Attr] | None = None
    ) -> str:
        name = self._name(prefix, shapes, self.dtypes[of])
        self.steps.append(Step(op=op, inputs=(of,), outputs=(name,), axes=(), attrs=attrs or {}))
        return name

    def _name(self, prefix: str, shapes: list[tuple[int, ...]], dtype: str) -> str:
        name = f"{prefix}{len(self.shapes) + 1}"
        self.shapes[name], self.dtypes[name] = shapes, dtype
        return name


def _needed(
    steps: list[Step], inputs: dict[str, Operand], results: tuple[str, ...]
) -> tuple[list[Step], dict[str, Operand]]:
    """Return the last step, the steps that results need, and their inputs."""
    needed, kept = set(results), []
    for step in reversed(steps):
        if needed.intersection(step.outputs) or step is steps[-1]:
            needed |= set(step.inputs)
            kept.append(step)
    return kept[::-1], {name: operand for name, operand in inputs.items() if name in needed}


def sorts(op: str) -> tuple[Place, ...]:
    """Return the places of an operation."""
    return (*EVEN, *UNEVEN) if TABLE[op].groups == "any" else EVEN


Pattern = Callable[[Edge], None]
"""What lists a few calls and returns some of their results."""
