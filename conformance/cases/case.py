"""A case: a program and its input data. A failure is a case, a test vector is a case."""

from __future__ import annotations

import hashlib
from typing import Final

import msgspec

from conformance.cases.program.program import Program
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import Tensor, to_array

FORMAT: Final = 1
"""Version of the case format; part of every id."""


LONG: Final = 1 << 16
"""Hex digits of a block from which the blocks of a case go into its digest one by one."""

_MARK: Final = msgspec.Raw(b"\0")
"""No byte of JSON text."""


class Operand(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One input value: a block and a memory layout for each rank."""

    blocks: tuple[Tensor, ...]
    layouts: tuple[Layout, ...]


class Fault(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What befalls ``rank`` before it comes to step ``before``: it is late by ``delay`` seconds, or dies there."""

    rank: int
    before: int
    delay: float | None = None


class Case(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A program with its inputs, by value name, and what befalls ranks while they run it."""

    program: Program
    inputs: dict[str, Operand]
    faults: tuple[Fault, ...] = ()

    @property
    def divergent(self) -> bool:
        """Return whether some step is not for all ranks, so that ranks run different steps."""
        return any(step.ranks is not None for step in self.program.steps)

    @property
    def troubled(self) -> bool:
        """Return whether ranks run different steps, or something befalls one."""
        return self.divergent or bool(self.faults)

    @property
    def size(self) -> int:
        """Return the bytes of its blocks."""
        return sum(len(block.bits) // 2 for operand in self.inputs.values() for block in operand.blocks)

    @property
    def dying(self) -> frozenset[int]:
        """Return the ranks that die."""
        return frozenset(fault.rank for fault in self.faults if fault.delay is None)

    def blocks(self) -> dict[str, list[Array]]:
        """Return fresh contiguous arrays for every input, one for each rank."""
        return {name: [to_array(block) for block in operand.blocks] for name, operand in self.inputs.items()}


def digest(case: Case) -> str:
    """Return the first 12 hex digits of the SHA-256 of format version, program, inputs and faults."""
    if all(len(block.bits) < LONG for operand in case.inputs.values() for block in operand.blocks):
        return hashlib.sha256(msgspec.json.encode((FORMAT, case), order="deterministic")).hexdigest()[:12]
    # Blocks go past one by one: the whole text of 70 MB of them takes 140 MB more.
    written = msgspec.to_builtins(case, order="deterministic")
    digits: list[str] = []
    for block in (block for operand in written["inputs"].values() for block in operand["blocks"]):
        digits.append(block["bits"])
        block["bits"] = _MARK
    first, *others = msgspec.json.encode((FORMAT, written)).split(b"\0")
    total = hashlib.sha256(first)
    for bits, text in zip(digits, others, strict=True):
        for part in (b'"', bits.encode(), b'"', text):
            total.update(part)
    return total.hexdigest()[:12]


def case_id(case: Case) -> str:
    """Return the id: collectives, dtype and world to read, and the digest to be exact.

    For example ``all_gather/float32-4/0123456789ab``.
    """
    program = case.program
    steps = "+".join(step.op for step in program.collectives) or "nothing"
    dtypes = sorted({block.dtype for operand in case.inputs.values() for block in operand.blocks})
    return f"{steps}/{'+'.join(dtypes) or 'none'}-{program.world}/{digest(case)}"
