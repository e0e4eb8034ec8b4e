"""The file of a graph case, with a published JSON Schema.

``{"format": 1, "dialect": "graph", "id": ..., "graph": ..., "buffers": ..., "rounds": ...}``
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from conformance.cases.document import check_id, loaded, write
from conformance.cases.graph.case import FORMAT, GraphCase, Round, graph_case_id
from conformance.cases.graph.graph import Graph
from conformance.cases.graph.validate import check_count, validate_graph
from conformance.cases.graph.value_bytes import graph_values
from conformance.cases.graph.work import graph_case_work
from conformance.cases.tensor.footprint import check_total, check_values, footprint
from conformance.cases.tensor.stored import StoredTensor, restore, store
from conformance.cases.work import check_work


class StoredRound(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A round of which large tensors are in a file beside the document."""

    until: Annotated[int, Meta(ge=0)]
    writes: dict[str, StoredTensor] = {}
    values: dict[str, int] = {}
    asked: tuple[str, ...] = ()
    read: tuple[str, ...] = ()


R = TypeVar("R", Round, StoredRound)


class GraphCaseFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A graph, what its buffers hold at first, and its rounds. ``id`` ends in a digest of the rest."""

    format: int
    dialect: Literal["graph"]
    id: Annotated[str, Meta(pattern="^graph_[0-9]+_[0-9]+/.+/[0-9a-f]{12}$")]
    graph: Graph
    buffers: dict[str, StoredTensor]
    rounds: tuple[StoredRound, ...]


class StoredGraph(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A graph case inside the document of another one."""

    graph: Graph
    buffers: dict[str, StoredTensor]
    rounds: tuple[StoredRound, ...]


def save_graph(case: GraphCase, path: Path) -> None:
    """Write a case to ``path``, tensors above ``stored.INLINE`` bytes to a safetensors file beside it.

    The same case gives the same bytes. Raise ``OSError`` when the folder cannot be written.
    """
    whole = stored_graph(case, path)
    document = GraphCaseFile(
        format=FORMAT,
        dialect="graph",
        id=graph_case_id(case),
        graph=whole.graph,
        buffers=whole.buffers,
        rounds=whole.rounds,
    )
    write(msgspec.to_builtins(document, order="deterministic"), path)


def stored_graph(case: GraphCase, path: Path) -> StoredGraph:
    """Return a case for the document ``path``, its large tensors written to a safetensors file beside that."""
    stored = store(_tensors(case), path.with_suffix(".safetensors"))
    return StoredGraph(
        graph=case.graph,
        buffers={name: stored[f"{name}/0"] for name in case.buffers},
        rounds=_rounds(StoredRound, case.rounds, stored),
    )


def load_graph(path: Path) -> GraphCase:
    """Return the case in the file ``path``; raise ``CaseError``, one line, for anything but a sound case file."""
    return loaded(path, GraphCaseFile, FORMAT, _case)


def _tensors(case: GraphCase | StoredGraph | GraphCaseFile) -> dict[str, Any]:
    """Return every tensor, as it is or as it is stored, by its key in the file: the name and the number of the round.

    Rounds are counted from 1; 0 is what a buffer holds at first.
    """
    rounds: Sequence[Round | StoredRound] = case.rounds
    written = {f"{name}/{number}": each for number, part in enumerate(rounds, 1) for name, each in part.writes.items()}
    return {f"{name}/0": each for name, each in case.buffers.items()} | written


def _rounds(kind: type[R], rounds: Sequence[Round | StoredRound], tensors: Mapping[str, Any]) -> tuple[R, ...]:
    """Return the rounds of a case with ``tensors`` for what they write."""
    return tuple(
        kind(
            until=each.until,
            writes={name: tensors[f"{name}/{number}"] for name in each.writes},
            values=each.values,
            asked=each.asked,
            read=each.read,
        )
        for number, each in enumerate(rounds, 1)
    )


def _case(document: GraphCaseFile, folder: Path) -> GraphCase:
    case = restored_graph(document, folder)
    check_count(case.graph)
    check_values(graph_values(case.graph))
    check_work(graph_case_work(case))
    validate_graph(case)
    check_id(document.id, graph_case_id(case))
    return case


def restored_graph(document: StoredGraph | GraphCaseFile, folder: Path) -> GraphCase:
    """Return the case that a document stores, unchecked; raise ``CaseError`` where its tensors are not sound."""
    stored = _tensors(document)
    check_total(sum(footprint(key, each.dtype, each.shape) for key, each in stored.items()))
    tensors = restore(stored, folder)
    return GraphCase(
        graph=document.graph,
        buffers={name: tensors[f"{name}/0"] for name in document.buffers},
        rounds=_rounds(Round, document.rounds, tensors),
    )
