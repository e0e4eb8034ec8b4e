"""The file of a sharded case, with a published JSON Schema.

``{"format": 1, "dialect": "global", "id": ..., "mesh": ..., "devices": ..., "of": ..., "homes": ..., "moves": ...}``
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from conformance.cases.document import check_id, loaded, write
from conformance.cases.graph.codec import StoredGraph, restored_graph, stored_graph
from conformance.cases.graph.value_bytes import graph_values
from conformance.cases.graph.work import graph_case_work
from conformance.cases.sharded.case import FORMAT, ShardedCase, sharded_id
from conformance.cases.sharded.placement import Mesh, Placement
from conformance.cases.sharded.validate import validate_sharded
from conformance.cases.tensor.footprint import check_values
from conformance.cases.work import check_work


class ShardedCaseFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A program, its mesh and its placements. ``id`` ends in a digest of the rest."""

    format: int
    dialect: Literal["global"]
    id: Annotated[str, Meta(pattern="^sharded_[0-9]+_[0-9x]+/.+/[0-9a-f]{12}$")]
    mesh: Mesh
    devices: tuple[int, ...]
    of: StoredGraph
    homes: dict[str, Placement] = {}
    moves: dict[str, Placement] = {}


def save_sharded(case: ShardedCase, path: Path) -> None:
    """Write a case to ``path``, tensors above ``stored.INLINE`` bytes to a safetensors file beside it.

    The same case gives the same bytes. Raise ``OSError`` when the folder cannot be written.
    """
    document = ShardedCaseFile(
        format=FORMAT,
        dialect="global",
        id=sharded_id(case),
        mesh=case.mesh,
        devices=case.devices,
        of=stored_graph(case.of, path),
        homes=case.homes,
        moves=case.moves,
    )
    write(msgspec.to_builtins(document, order="deterministic"), path)


def load_sharded(path: Path) -> ShardedCase:
    """Return the case in the file ``path``; raise ``CaseError``, one line, for anything but a sound case file."""
    return loaded(path, ShardedCaseFile, FORMAT, _case)


def _case(document: ShardedCaseFile, folder: Path) -> ShardedCase:
    case = ShardedCase(
        mesh=document.mesh,
        devices=document.devices,
        of=restored_graph(document.of, folder),
        homes=document.homes,
        moves=document.moves,
    )
    validate_sharded(case)
    check_values(graph_values(case.of.graph, case.world))
    check_work(graph_case_work(case.of, case.world))
    check_id(document.id, sharded_id(case))
    return case
