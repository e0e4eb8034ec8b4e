"""A case of the dialect ``types``: a typed program, its inputs, and cotangents of results where it is to go back."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import ClassVar, Final

import msgspec

from conformance.cases.case import FORMAT
from conformance.cases.case_error import CaseError
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import Tensor, to_array
from conformance.cases.types.typed_program import TypedProgram, validate

NAME: Final = "types"
"""What a case file says to be of this dialect."""

Blocks = tuple[Tensor, ...]


class TypedCase(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A typed program with a block for each rank of every input.

    Without ``cotangents`` the types and values of its results are asked for. With them asked for are the cotangents of
    its inputs, that is its transpose; there is one for each result named, of the type that belongs to it.
    """

    program: TypedProgram
    inputs: dict[str, Blocks]
    cotangents: dict[str, Blocks] = {}

    troubled: ClassVar[bool] = False
    """Nothing befalls a rank."""

    @property
    def answered(self) -> frozenset[str]:
        """Return the names of what is asked for."""
        return frozenset(self.program.inputs if self.cotangents else self.program.results)

    @property
    def last(self) -> str:
        """Return the operation of the last step that names mesh axes, or ``local`` where none does."""
        named = [step.op for step in self.program.steps if step.axes]
        return named[-1] if named else "local"


def typed_id(case: TypedCase) -> str:
    """Return the id: the operations, dtypes and world to read, and a digest, as ``types+cast/int32-4/0123456789ab``."""
    words = "+".join(dict.fromkeys(step.op for step in case.program.steps)) or "nothing"
    dtypes = "+".join(sorted({given.dtype for given in case.program.inputs.values()})) or "none"
    content = msgspec.json.encode((FORMAT, case), order="deterministic")
    kind = "transposed" if case.cotangents else NAME
    return f"{kind}+{words}/{dtypes}-{case.program.world}/{hashlib.sha256(content).hexdigest()[:12]}"


def arrays(blocks: Mapping[str, Blocks]) -> dict[str, list[Array]]:
    """Return fresh arrays, one a rank, of the blocks of each value."""
    return {name: [to_array(block) for block in each] for name, each in blocks.items()}


def validate_case(case: TypedCase) -> None:
    """Raise ``CaseError`` where a case says nothing definite."""
    program = case.program
    validate(program)
    if set(case.inputs) != set(program.inputs):
        raise CaseError(f"the inputs are {sorted(program.inputs)}, and there are blocks of {sorted(case.inputs)}")
    if missing := set(case.cotangents) - set(program.results):
        raise CaseError(f"{min(missing)!r} has a cotangent and is no result")
    for name, blocks in (*case.inputs.items(), *case.cotangents.items()):
        if len(blocks) != program.world:
            raise CaseError(f"{name!r} has {len(blocks)} blocks for {program.world} ranks")
    for name, given in program.inputs.items():
        if any((block.dtype, block.shape) != (given.dtype, given.shape) for block in case.inputs[name]):
            raise CaseError(f"blocks of {name!r} have the dtype {given.dtype} and the shape {list(given.shape)}")
