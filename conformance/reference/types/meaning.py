"""What a typed case means: its types and values, and the cotangents of its inputs, or the rule that refuses it."""

from __future__ import annotations

from dataclasses import dataclass, field

from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_case import TypedCase, arrays
from conformance.reference.transforms.pullback import pullback
from conformance.reference.transforms.transposes import NotLinear
from conformance.reference.types.check import check, paired_types
from conformance.reference.types.ill_typed import IllTyped
from conformance.reference.types.values import evaluate

Blocks = list[Array]


@dataclass(frozen=True)
class TypedMeaning:
    """A case with its ``types`` and ``values`` by name, and with ``back``, what its cotangents come to at the inputs.

    Where it is ``refused`` it has none of them, and where it is ``not_linear`` nothing comes back.
    """

    case: TypedCase
    types: dict[str, AxisType] = field(default_factory=dict)
    values: dict[str, Blocks] = field(default_factory=dict)
    back: dict[str, Blocks] = field(default_factory=dict)
    refused: IllTyped | None = None
    not_linear: NotLinear | None = None

    @property
    def paired(self) -> dict[str, AxisType]:
        """Return the types by which values are paired with cotangents."""
        return paired_types(self.case.program)


def typed_meaning(case: TypedCase) -> TypedMeaning:
    """Return what a well-formed case means; raise ``Rejected`` where an operation refuses its operand's shape."""
    inputs = arrays(case.inputs)
    try:
        types = check(case.program)
    except IllTyped as error:
        return TypedMeaning(case, refused=error)
    values = evaluate(case.program, inputs)
    if not case.cotangents:
        return TypedMeaning(case, types, values)
    try:
        back = pullback(case.program, inputs, arrays(case.cotangents))
    except NotLinear as error:
        return TypedMeaning(case, types, values, not_linear=error)
    return TypedMeaning(case, types, values, back)
