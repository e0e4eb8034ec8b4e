"""The case file: ``{"format": 1, "id": ..., "program": ..., "inputs": ...}``, with a published JSON Schema.

``faults`` are there where the case has any.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from conformance.cases.case import FORMAT, Case, Fault, Operand, case_id
from conformance.cases.case_error import CaseError
from conformance.cases.document import check_format, check_id, loaded, write
from conformance.cases.program.program import Program
from conformance.cases.program.validate import validate
from conformance.cases.program.value_bytes import program_values
from conformance.cases.program.work import program_work
from conformance.cases.tensor.footprint import check_total, check_values, footprint
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.stored import StoredTensor, restore, store
from conformance.cases.work import check_work

__all__ = ["CaseError", "CaseFile", "StoredOperand", "load", "save"]


class StoredOperand(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One input value: a block and a memory layout for each rank."""

    blocks: tuple[StoredTensor, ...]
    layouts: tuple[Layout, ...]


class CaseFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A program and its input data, by value name, and its faults. ``id`` ends in a digest of the rest."""

    format: int
    id: Annotated[str, Meta(pattern="^.+/.+/[0-9a-f]{12}$")]
    program: Program
    inputs: dict[str, StoredOperand]
    faults: tuple[Fault, ...] = ()


def save(case: Case, path: Path) -> None:
    """Write ``case`` to ``path``, tensors above ``stored.INLINE`` bytes to a safetensors file beside it.

    The same case gives the same bytes. Raise ``OSError`` when the folder cannot be written.
    """
    write(msgspec.to_builtins(document(case, path), order="deterministic"), path)


def document(case: Case, path: Path) -> CaseFile:
    """Return what the file ``path`` has of ``case``; large tensors are written to a safetensors file beside it."""
    tensors = {f"{name}/{r}": block for name, value in case.inputs.items() for r, block in enumerate(value.blocks)}
    stored = store(tensors, path.with_suffix(".safetensors"))
    inputs = {
        name: StoredOperand(
            blocks=tuple(stored[f"{name}/{rank}"] for rank in range(len(value.blocks))), layouts=value.layouts
        )
        for name, value in case.inputs.items()
    }
    return CaseFile(format=FORMAT, id=case_id(case), program=case.program, inputs=inputs, faults=case.faults)


def load(path: Path) -> Case:
    """Return the case in the file ``path``; raise ``CaseError``, one line, for anything but a sound case file."""
    return loaded(path, CaseFile, FORMAT, restored)


def restored(document: CaseFile, folder: Path) -> Case:
    """Return the case in a document of ``folder``; raise ``CaseError`` for one that is not sound."""
    check_format(document.format, FORMAT)
    blocks = {
        f"{name}/{rank}": block for name, value in document.inputs.items() for rank, block in enumerate(value.blocks)
    }
    check_total(sum(footprint(key, block.dtype, block.shape) for key, block in blocks.items()))
    tensors = restore(blocks, folder)
    inputs = {
        name: Operand(
            blocks=tuple(tensors[f"{name}/{rank}"] for rank in range(len(value.blocks))), layouts=value.layouts
        )
        for name, value in document.inputs.items()
    }
    case = Case(program=document.program, inputs=inputs, faults=document.faults)
    validate(case)
    check_values(program_values(case))
    check_work(program_work(case))
    check_id(document.id, case_id(case))
    return case
