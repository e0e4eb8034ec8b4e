"""A typed program as patterns write it: inputs, steps and results, several chains side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from conformance.cases.program.program import Axis, Groups
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.specs.domains import choices
from conformance.specs.domains.choices import Draw
from conformance.specs.types.grammar import NAMES
from conformance.specs.types.steps import Shape

MESHES = ((2, 2), (4,), (2, 3), (2, 2, 2), (3,), (4, 2))


class Listing:
    """A program under way.

    Where there are ``levels``, ``unmapped`` are the inputs that none is to map, and ``places`` says of others which of
    their axes the innermost is to be.
    """

    def __init__(
        self,
        draw: Draw,
        *,
        levels: Sequence[Axis] = (),
        checked: bool = True,
        widest: int = 8,
        meshes: Sequence[tuple[int, ...]] = MESHES,
    ) -> None:
        """Draw one of ``meshes`` of at most ``widest`` ranks."""
        self.draw = draw
        self.checked = checked
        sizes = draw(choices.sampled_from([each for each in meshes if math.prod(each) <= widest]))
        self.mesh = tuple(Axis(name=name, size=size) for name, size in zip(NAMES, sizes, strict=False))
        self.levels = tuple(levels)
        self.inputs: dict[str, TypedInput] = {}
        self.steps: list[TypedStep] = []
        self.results: list[str] = []
        self.unmapped: set[str] = set()
        self.places: dict[str, int] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Return the axes of the mesh."""
        return tuple(axis.name for axis in self.mesh)

    def meshwise(self, axes: Sequence[str]) -> tuple[str, ...]:
        """Return axes with those of the mesh in its order; levels stay where they are."""
        named = iter([axis for axis in self.names if axis in axes])
        return tuple(next(named) if axis in self.names else axis for axis in axes)

    def axes(self) -> tuple[str, ...]:
        """Draw axes of the mesh: the last alone, any one, or two in any order."""
        order = tuple(self.draw(choices.permutations(self.names)))
        return self.draw(choices.sampled_from([self.names[-1:], order[:1], order[:2]]))

    def one(self) -> tuple[str, ...]:
        """Draw one axis of the mesh, the last as often as all others together."""
        return (self.draw(choices.sampled_from([self.names[-1], *self.names])),)

    def size(self, axes: Sequence[str]) -> int:
        """Return how many positions there are along axes of the mesh or levels."""
        return math.prod(axis.size for axis in (*self.mesh, *self.levels) if axis.name in axes)

    def halves(self, axes: Sequence[str]) -> Groups | None:
        """Draw groups of two positions each, in any order; none where that does not divide."""
        order = self.draw(choices.permutations(range(size := self.size(axes))))
        return tuple(tuple(order[at : at + 2]) for at in range(0, size, 2)) if size % 2 == 0 else None

    def given(self, shape: Shape, varying: Sequence[str] | None = None) -> str:
        """Return an input that varies along ``varying``, by default along every axis."""
        found = TypedInput(
            dtype="int32", shape=shape, varying=tuple(sorted(self.names if varying is None else varying))
        )
        name = f"x{len(self.inputs)}"
        self.inputs[name] = found
        return name

    def mapped(self, shape: Shape) -> tuple[str, ...]:
        """Return inputs that the innermost level maps: one of which it is the first axis, one of which the next, …."""
        names = tuple(self.given(shape) for _ in range(len(shape) + 1))
        self.places |= {name: place for place, name in enumerate(names)}
        return names

    def constant(self, shape: Shape) -> str:
        """Return an input that no level maps."""
        name = self.given(shape)
        self.unmapped.add(name)
        return name

    def do(
        self,
        op: str,
        /,
        *of: str,
        axes: Sequence[str] = (),
        groups: Groups | None = None,
        start: bool = False,
        **attrs: Any,
    ) -> str:
        """Add a step, which may only start, and return the name of what it gives."""
        step = TypedStep(op=op, inputs=of, output="", axes=tuple(axes), attrs=attrs, groups=groups, start=start)
        return self.add(step)

    def add(self, step: TypedStep) -> str:
        """Add a step under a name of its own, which is returned."""
        name = f"v{len(self.steps)}"
        self.steps.append(replace(step, output=name))
        return name

    def keep(self, *names: str) -> None:
        """Let values be results."""
        self.results += [name for name in names if name not in self.results]

    def program(self, *, automatic: bool = True) -> TypedProgram:
        """Return the program as it is."""
        return TypedProgram(
            mesh=self.mesh,
            inputs=dict(self.inputs),
            steps=tuple(self.steps),
            results=tuple(self.results),
            checked=self.checked,
            automatic=automatic,
        )
