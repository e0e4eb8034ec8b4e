"""Requests to a worker as lines of the protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from conformance.backends import protocol
from conformance.cases.case import Case
from conformance.cases.codec import save
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.codec import save_graph
from conformance.cases.program.health import health_case
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.codec import save_sharded
from conformance.cases.types.typed_case import TypedCase
from conformance.reference.operations import TABLE
from conformance.runner.worker.answers import Company, Question, Request
from conformance.runner.worker.wire import case_file

HELLO: Final = msgspec.json.encode(protocol.Hello(operations=tuple(TABLE.values()))) + b"\n"
STOP: Final = msgspec.json.encode(protocol.Stop()) + b"\n"


def run_line(seq: int, case: Request, folder: Path) -> bytes:
    """Return the request to execute ``case``, or for a schedule; a large case is written to ``folder``."""
    if isinstance(case, Question):
        return _question_line(seq, case)
    if isinstance(case, Company):
        return _company_line(seq, case)
    if isinstance(case, TypedCase):
        return msgspec.json.encode(protocol.Type(seq=seq, case=case)) + b"\n"
    if isinstance(case, GraphCase):
        return _graph_line(seq, case, folder)
    if isinstance(case, ShardedCase):
        return _sharded_line(seq, case, folder)
    return _case_line(seq, case, folder)


def _question_line(seq: int, case: Question) -> bytes:
    program, graph = (case.asked, None) if isinstance(case.asked, Case) else (None, case.asked)
    asked: protocol.Plan | protocol.Replan | protocol.Remaining
    if case.after:
        asked = protocol.Remaining(seq=seq, case=program, graph=graph)
    elif case.again:
        asked = protocol.Replan(
            seq=seq, case=program, graph=graph, iteration=case.iteration, switched=case.switched, costs=case.costs
        )
    else:
        asked = protocol.Plan(seq=seq, case=program, graph=graph, planned=case.planned)
    return msgspec.json.encode(asked) + b"\n"


def _company_line(seq: int, case: Company) -> bytes:
    programs = tuple(each for each in case.cases if isinstance(each, Case))
    graphs = tuple(each for each in case.cases if isinstance(each, GraphCase))
    return msgspec.json.encode(protocol.RunTogether(seq=seq, programs=programs, graphs=graphs)) + b"\n"


def _case_line(seq: int, case: Case, folder: Path) -> bytes:
    health = health_case(case) if case.troubled else None
    blocks = (block for operand in case.inputs.values() for block in operand.blocks)
    if protocol.tensor_bytes(blocks) <= protocol.INLINE:
        return msgspec.json.encode(protocol.Run(seq=seq, case=case, health=health)) + b"\n"
    path = case_file(folder, seq)
    save(case, path)
    return msgspec.json.encode(protocol.Run(seq=seq, file=path.name, health=health)) + b"\n"


def _held(case: GraphCase) -> int:
    """Return the bytes of all tensors of a graph case."""
    written = (each for part in case.rounds for each in part.writes.values())
    return protocol.tensor_bytes((*case.buffers.values(), *written))


def _sharded_line(seq: int, case: ShardedCase, folder: Path) -> bytes:
    if _held(case.of) <= protocol.INLINE:
        return msgspec.json.encode(protocol.RunSharded(seq=seq, case=case)) + b"\n"
    path = case_file(folder, seq)
    save_sharded(case, path)
    return msgspec.json.encode(protocol.RunSharded(seq=seq, file=path.name)) + b"\n"


def _graph_line(seq: int, case: GraphCase, folder: Path) -> bytes:
    if _held(case) <= protocol.INLINE:
        return msgspec.json.encode(protocol.RunGraph(seq=seq, case=case)) + b"\n"
    path = case_file(folder, seq)
    save_graph(case, path)
    return msgspec.json.encode(protocol.RunGraph(seq=seq, file=path.name)) + b"\n"
