"""The transpose of a linear program as a program: the transposes of its steps in reverse order.

It is there where every step has a transpose that is an operation of typed programs: a sum's is a cast, a gather's a
scatter. A mean divides, and the transpose of a broadcast is a sum in one place: neither is written down so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from typing import cast as cast_to

from conformance.cases.program.program import Attr
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.reference.transforms.pairing import cotangent_type
from conformance.reference.types.check import check, written_out

PREFIX: Final = "ct "
"""What the name of the cotangent of a value begins with."""


class Transposed(NamedTuple):
    """A program that has the cotangents of results for inputs; ``results`` names by input what its cotangent is."""

    program: TypedProgram
    results: dict[str, str]


def transposed_program(program: TypedProgram, shapes: Mapping[str, tuple[int, ...]]) -> Transposed | None:
    """Return the transpose of a program. An input that no result depends on has no cotangent among its results.

    ``shapes`` has the shape of every value. It is ``None`` without types, where inputs have several dtypes, and where a
    step has no transpose that is a step.
    """
    dtypes = {given.dtype for given in program.inputs.values()}
    if not program.checked or program.started or not program.results or len(dtypes) != 1:
        return None
    whole = written_out(program)
    types, going = check(whole), _Back()
    (dtype,) = dtypes
    inputs = {}
    for name in program.results:
        given = cotangent_type(types[name])
        varying = tuple(sorted((*given.varying, *given.unreduced)))
        inputs[PREFIX + name] = TypedInput(dtype=dtype, shape=shapes[name], varying=varying)
        going.meet(name, going.cast(PREFIX + name, given))
    for step in reversed(whole.steps):
        if step.output not in going.found or not step.inputs:
            continue
        transposes = STEPS.get(step.op)
        backs = transposes(going, step, types) if transposes and _meets(step) else None
        if backs is None:
            return None
        for name, back in zip(step.inputs, backs, strict=True):
            going.meet(name, back)
    results = {name: going.found[name] for name in program.inputs if name in going.found}
    made = TypedProgram(
        mesh=program.mesh,
        inputs=inputs,
        steps=tuple(going.steps),
        results=tuple(dict.fromkeys(results.values())),
        mapped=program.mapped,
    )
    return Transposed(made, results)


def _meets(step: TypedStep) -> bool:
    return bool(step.axes) or step.op in ("add", "subtract", "negate")


@dataclass
class _Back:
    """The steps that were made, and under which name the cotangent of each value is found."""

    steps: list[TypedStep] = field(default_factory=list)
    found: dict[str, str] = field(default_factory=dict)

    def step(self, operation: str, *inputs: str, like: TypedStep | None = None, **attrs: Attr) -> str:
        """Add a step, along the axes and in the groups of another, and return its output."""
        output = f"{operation} {len(self.steps)}"
        axes, groups = (like.axes, like.groups) if like else ((), None)
        self.steps.append(
            TypedStep(op=operation, inputs=inputs, output=output, axes=axes, groups=groups, attrs=dict(attrs))
        )
        return output

    def cast(self, name: str, given: AxisType) -> str:
        """Return a cotangent of a type, of an input that is varying where that is unreduced."""
        for state, axes in (("unreduced", given.unreduced), ("reduced", given.reduced)):
            if axes:
                like = TypedStep(op="cast", inputs=(), output="", axes=axes)
                name = self.step("cast", name, like=like, to=state)
        return name

    def meet(self, name: str, back: str) -> None:
        """Add a cotangent to what a value has."""
        self.found[name] = self.step("add", self.found[name], back) if name in self.found else back


Types = Mapping[str, AxisType]
Rule = Callable[[_Back, TypedStep, Types], list[str] | None]


def _cast(going: _Back, step: TypedStep, types: Types) -> list[str]:
    given = going.found[step.output]
    state = types[step.inputs[0]].state(step.axes[0])
    if state == "invariant":
        return [going.step("all_reduce", given, like=step, op="sum")]
    return [going.step("cast", given, like=step, to={"varying": "varying", "reduced": "unreduced"}[state])]


def _all_reduce(going: _Back, step: TypedStep, types: Types) -> list[str] | None:
    if step.attrs["op"] != "sum":
        return None
    to = "reduced" if types[step.inputs[0]].state(step.axes[0]) == "unreduced" else "varying"
    return [going.step("cast", going.found[step.output], like=step, to=to)]


def _all_gather(going: _Back, step: TypedStep, types: Types) -> list[str] | None:
    del types
    if step.attrs["to"] == "invariant":
        return None
    return [going.step("reduce_scatter", going.found[step.output], like=step, op="sum", **_place(step))]


def _reduce_scatter(going: _Back, step: TypedStep, types: Types) -> list[str] | None:
    pending = types[step.inputs[0]].state(step.axes[0]) == "unreduced"
    if pending and step.groups is not None:
        return None
    to = "reduced" if pending else "varying"
    return [going.step("all_gather", going.found[step.output], like=step, to=to, **_place(step))]


def _place(step: TypedStep) -> dict[str, Attr]:
    return {name: step.attrs[name] for name in ("axis", "tiled")}


def _all_to_all(going: _Back, step: TypedStep, types: Types) -> list[str]:
    del types
    split, joined = step.attrs["concat_axis"], step.attrs["split_axis"]
    attrs = {"split_axis": split, "concat_axis": joined, "tiled": step.attrs["tiled"]}
    return [going.step("all_to_all", going.found[step.output], like=step, **attrs)]


def _permute(going: _Back, step: TypedStep, types: Types) -> list[str]:
    del types
    return [going.step("permute", going.found[step.output], like=step, pairs=tuple(_turned(step)))]


def _turned(step: TypedStep) -> Iterator[tuple[int, int]]:
    if step.op == "shuffle":
        yield from enumerate(cast_to(tuple[int, ...], step.attrs["sources"]))
        return
    for source, target in cast_to(tuple[tuple[int, int], ...], step.attrs["pairs"]):
        yield target, source


def _add(going: _Back, step: TypedStep, types: Types) -> list[str]:
    del types
    return [going.found[step.output]] * 2


def _subtract(going: _Back, step: TypedStep, types: Types) -> list[str]:
    del types
    given = going.found[step.output]
    return [given, going.step("negate", given)]


def _negate(going: _Back, step: TypedStep, types: Types) -> list[str]:
    del types
    return [going.step("negate", going.found[step.output])]


STEPS: Final[Mapping[str, Rule]] = {
    "add": _add,
    "all_gather": _all_gather,
    "all_reduce": _all_reduce,
    "all_to_all": _all_to_all,
    "cast": _cast,
    "negate": _negate,
    "permute": _permute,
    "reduce_scatter": _reduce_scatter,
    "shuffle": _permute,
    "subtract": _subtract,
}
"""The steps whose transpose is a step, and that step."""
