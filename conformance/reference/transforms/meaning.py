"""What a typed case means: types and values, cotangents of inputs or mapped results, or the rule that refuses it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from conformance.cases.case_error import CaseError
from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.lowered import Lowered
from conformance.cases.types.typed_case import TypedCase, arrays
from conformance.cases.types.typed_program import TypedProgram, TypedStep
from conformance.reference.transforms.batching import batched, over_mesh
from conformance.reference.transforms.no_rule import NoRule
from conformance.reference.transforms.pullback import pullback
from conformance.reference.transforms.pushforward import pushforward
from conformance.reference.transforms.transposed_program import Transposed, transposed_program
from conformance.reference.types.check import check, paired_types, written_out
from conformance.reference.types.ill_typed import IllTyped
from conformance.reference.types.lowering import by_step
from conformance.reference.types.values import evaluate

Blocks = list[Array]


@dataclass(frozen=True)
class TypedMeaning:
    """A case with its ``types`` and ``values`` by name, and with ``back``, what its cotangents come to at the inputs.

    ``pushed`` are the tangents of its values. Where it is mapped over levels ``values`` are the results with the axes
    of the levels.

    Where it is ``refused`` it has none of them, and where a transform has ``no_rule`` for it nothing comes of that.
    """

    case: TypedCase
    types: dict[str, AxisType] = field(default_factory=dict)
    values: dict[str, Blocks] = field(default_factory=dict)
    back: dict[str, Blocks] = field(default_factory=dict)
    pushed: dict[str, Blocks] = field(default_factory=dict)
    refused: IllTyped | None = None
    no_rule: NoRule | None = None

    @cached_property
    def paired(self) -> dict[str, AxisType]:
        """Return the types by which values are paired with cotangents."""
        return paired_types(self.case.program)

    @cached_property
    def written(self) -> TypedProgram:
        """Return the program, which is well typed, with a step for every automatic cast."""
        return written_out(self.case.program)

    @cached_property
    def lowered(self) -> tuple[tuple[TypedStep, Lowered], ...]:
        """Return what each step of the program comes to beside the step, in order."""
        return tuple(by_step(self.case.program))

    @cached_property
    def turned(self) -> Transposed | None:
        """Return the transpose of the program as a program, ``None`` where it is none."""
        return transposed_program(self.case.program, {name: blocks[0].shape for name, blocks in self.values.items()})


def typed_meaning(case: TypedCase) -> TypedMeaning:
    """Return what a well-formed case means; raise ``Rejected`` where an operation refuses its operand's shape.

    Raise ``CaseError`` for cotangents that are none of their results.
    """
    inputs = arrays(case.inputs)
    program = over_mesh(case.program, [level.name for level in case.batch])
    try:
        types = check(program)
    except IllTyped as error:
        return TypedMeaning(case, refused=error)
    try:
        if case.batch:
            return TypedMeaning(case, types, batched(case.program, case.batch, inputs))
        values = evaluate(program, inputs)
    except NoRule as error:
        return TypedMeaning(case, types, no_rule=error)
    meaning = TypedMeaning(case, types, values)
    try:
        if case.tangents:
            return replace(meaning, pushed=pushforward(program, inputs, arrays(case.tangents)))
        return replace(meaning, back=_back(case, inputs, values)) if case.cotangents else meaning
    except NoRule as error:
        return replace(meaning, no_rule=error)


def _back(case: TypedCase, inputs: dict[str, Blocks], values: dict[str, Blocks]) -> dict[str, Blocks]:
    cotangents = arrays(case.cotangents)
    for name, blocks in cotangents.items():
        if (found := _kinds(blocks)) != (wanted := _kinds(values[name])):
            raise CaseError(f"the cotangent of {name!r} has the dtypes and shapes {found}; expected {wanted}")
    return pullback(case.program, inputs, cotangents)


def _kinds(blocks: Blocks) -> list[tuple[str, tuple[int, ...]]]:
    return sorted({(str(block.dtype), block.shape) for block in blocks})
