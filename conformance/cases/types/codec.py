"""The file of a typed case: ``{"format": 1, "dialect": "types", "id": ..., "program": ..., "inputs": ...}``."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from conformance.cases.case import FORMAT
from conformance.cases.document import check_id, loaded, write
from conformance.cases.tensor.footprint import check_total, check_values, footprint
from conformance.cases.tensor.stored import StoredTensor, restore, store
from conformance.cases.types.typed_case import NAME, Level, TypedCase, typed_id
from conformance.cases.types.typed_program import TypedProgram
from conformance.cases.types.validate import validate_case
from conformance.cases.types.value_bytes import typed_values
from conformance.cases.types.work import typed_work
from conformance.cases.work import check_work

T = TypeVar("T")

Stored = dict[str, tuple[StoredTensor, ...]]


class TypedCaseFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A typed program, its inputs, its cotangents and its levels. ``id`` ends in a digest of the rest."""

    format: int
    dialect: str
    id: Annotated[str, Meta(pattern="^(types|transposed|batched|lowered|pushed|compiled)[+].+/.+/[0-9a-f]{12}$")]
    program: TypedProgram
    inputs: Stored
    cotangents: Stored = {}
    batch: tuple[Level, ...] = ()
    lowered: bool = False
    tangents: Stored = {}
    compiled: bool = False


def save_typed(case: TypedCase, path: Path) -> None:
    """Write ``case`` to ``path``, large tensors to a file beside it; raise ``OSError`` when that cannot be."""
    sibling = path.with_suffix(".safetensors")
    stored = store(_blocks_of(case), sibling)
    whole = TypedCaseFile(
        format=FORMAT,
        dialect=NAME,
        id=typed_id(case),
        program=case.program,
        inputs=_nested(stored, case.inputs, "input"),
        cotangents=_nested(stored, case.cotangents, "cotangent"),
        batch=case.batch,
        lowered=case.lowered,
        tangents=_nested(stored, case.tangents, "tangent"),
        compiled=case.compiled,
    )
    write(msgspec.to_builtins(whole, order="deterministic"), path)


def load_typed(path: Path) -> TypedCase:
    """Return the case in the file ``path``; raise ``CaseError``, one line, for anything but a sound file of one."""
    return loaded(path, TypedCaseFile, FORMAT, _restored)


def _restored(whole: TypedCaseFile, folder: Path) -> TypedCase:
    stored = _blocks_of(whole)
    check_total(sum(footprint(key, each.dtype, each.shape) for key, each in stored.items()))
    tensors = restore(stored, folder)
    case = TypedCase(
        program=whole.program,
        inputs=_nested(tensors, whole.inputs, "input"),
        cotangents=_nested(tensors, whole.cotangents, "cotangent"),
        batch=whole.batch,
        lowered=whole.lowered,
        tangents=_nested(tensors, whole.tangents, "tangent"),
        compiled=whole.compiled,
    )
    validate_case(case)
    check_values(typed_values(case))
    check_work(typed_work(case))
    check_id(whole.id, typed_id(case))
    return case


def _blocks_of(case: Any) -> dict[str, Any]:
    """Return the blocks of a case, or those that its file has, with a name for each."""
    kinds = {"input": case.inputs, "cotangent": case.cotangents, "tangent": case.tangents}
    return {key: block for kind, values in kinds.items() for key, block in _flat(values, kind).items()}


def _flat(values: Mapping[str, tuple[T, ...]], kind: str) -> dict[str, T]:
    return {f"{kind}/{name}/{rank}": block for name, each in values.items() for rank, block in enumerate(each)}


def _nested(flat: Mapping[str, T], like: Mapping[str, Sized], kind: str) -> dict[str, tuple[T, ...]]:
    return {name: tuple(flat[f"{kind}/{name}/{rank}"] for rank in range(len(each))) for name, each in like.items()}
