"""A case of the dialect ``types``: a typed program and its inputs, to be run, pulled back or mapped over new axes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import ClassVar, Final

import msgspec

from conformance.cases.case import FORMAT
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import Tensor, to_array
from conformance.cases.types.typed_program import TypedProgram

NAME: Final = "types"
"""What a case file says to be of this dialect."""

Blocks = tuple[Tensor, ...]


class Level(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A new axis ``name`` of ``size`` slices that a program is mapped over.

    ``inputs`` says for each input that has the axis which axis of its block that is; the others are the same in every
    slice. Every result has the new axis at ``result``. An axis counts in the block as the levels outside leave it.
    """

    name: str
    size: int
    inputs: dict[str, int]
    result: int = 0


class TypedCase(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A typed program with a block for each rank of every input.

    Without ``cotangents`` the types and values of its results are asked for. With them asked for are the cotangents of
    its inputs, that is its transpose; there is one for each result named, of the type that belongs to it. With
    ``batch``, the outermost level first, asked for are the results of the program mapped over these levels; the shapes
    of the program are then those of a slice, and a step may name levels as it names mesh axes. Where it is ``lowered``
    asked for is what a compiler makes of its steps, and where it is ``compiled`` which collectives are left of them in
    the end. With ``tangents``, one for each input, asked for are those of its results.
    """

    program: TypedProgram
    inputs: dict[str, Blocks]
    cotangents: dict[str, Blocks] = {}
    batch: tuple[Level, ...] = ()
    lowered: bool = False
    tangents: dict[str, Blocks] = {}
    compiled: bool = False

    troubled: ClassVar[bool] = False
    """Nothing befalls a rank."""

    @property
    def answered(self) -> frozenset[str]:
        """Return the names of what is asked for."""
        if self.lowered or self.compiled:
            return frozenset()
        return frozenset(self.program.inputs if self.cotangents else self.program.results)

    @property
    def kind(self) -> str:
        """Return the word for what is asked for, with which the id begins."""
        if self.batch:
            return "batched"
        if self.lowered:
            return "lowered"
        if self.compiled:
            return "compiled"
        if self.tangents:
            return "pushed"
        return "transposed" if self.cotangents else NAME

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
    return f"{case.kind}+{words}/{dtypes}-{case.program.world}/{hashlib.sha256(content).hexdigest()[:12]}"


def arrays(blocks: Mapping[str, Blocks]) -> dict[str, list[Array]]:
    """Return fresh arrays, one a rank, of the blocks of each value."""
    return {name: [to_array(block) for block in each] for name, each in blocks.items()}


def given_shape(case: TypedCase, name: str) -> tuple[int, ...]:
    """Return the shape of a block of an input: that of a slice with the axis of every level put in."""
    shape = case.program.inputs[name].shape
    for level in reversed(case.batch):
        if name in level.inputs:
            at = level.inputs[name]
            shape = (*shape[:at], level.size, *shape[at:])
    return shape
