"""The runner's side of the protocol: cases become request lines, reply lines become observations."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from conformance.backends import protocol
from conformance.backends.discovery import DeclarationError
from conformance.cases.case import Case
from conformance.cases.codec import CaseError, save
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.codec import save_graph
from conformance.cases.observation import Observation
from conformance.cases.observation_file import load_observation
from conformance.cases.program.health import health_case
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.codec import save_sharded
from conformance.cases.tensor.stored import sibling_of
from conformance.cases.types.typed_case import TypedCase
from conformance.reference.operations import TABLE
from conformance.runner.claims import introduced
from conformance.runner.worker.answers import Question, Request
from conformance.runner.worker.misfits import misfit

HELLO: Final = msgspec.json.encode(protocol.Hello(operations=tuple(TABLE.values()))) + b"\n"
STOP: Final = msgspec.json.encode(protocol.Stop()) + b"\n"

_decode: Final = msgspec.json.Decoder(protocol.Reply).decode


class ProtocolError(ValueError):
    """A reply that breaks the protocol; the stream after it means nothing."""


def run_line(seq: int, case: Request, folder: Path) -> bytes:
    """Return the request to execute ``case``, or for a schedule; a large case is written to ``folder``."""
    if isinstance(case, Question):
        program, graph = (case.asked, None) if isinstance(case.asked, Case) else (None, case.asked)
        asked = (
            protocol.Remaining(seq=seq, case=program, graph=graph)
            if case.after
            else protocol.Plan(seq=seq, case=program, graph=graph, planned=case.planned)
        )
        return msgspec.json.encode(asked) + b"\n"
    if isinstance(case, TypedCase):
        return msgspec.json.encode(protocol.Type(seq=seq, case=case)) + b"\n"
    if isinstance(case, GraphCase):
        return _graph_line(seq, case, folder)
    if isinstance(case, ShardedCase):
        return _sharded_line(seq, case, folder)
    health = health_case(case) if case.troubled else None
    blocks = (block for operand in case.inputs.values() for block in operand.blocks)
    if protocol.tensor_bytes(blocks) <= protocol.INLINE:
        return msgspec.json.encode(protocol.Run(seq=seq, case=case, health=health)) + b"\n"
    path = _case_file(folder, seq)
    save(case, path)
    return msgspec.json.encode(protocol.Run(seq=seq, file=path.name, health=health)) + b"\n"


def _held(case: GraphCase) -> int:
    """Return the bytes of all tensors of a graph case."""
    written = (each for part in case.rounds for each in part.writes.values())
    return protocol.tensor_bytes((*case.buffers.values(), *written))


def _sharded_line(seq: int, case: ShardedCase, folder: Path) -> bytes:
    if _held(case.of) <= protocol.INLINE:
        return msgspec.json.encode(protocol.RunSharded(seq=seq, case=case)) + b"\n"
    path = _case_file(folder, seq)
    save_sharded(case, path)
    return msgspec.json.encode(protocol.RunSharded(seq=seq, file=path.name)) + b"\n"


def _graph_line(seq: int, case: GraphCase, folder: Path) -> bytes:
    if _held(case) <= protocol.INLINE:
        return msgspec.json.encode(protocol.RunGraph(seq=seq, case=case)) + b"\n"
    path = _case_file(folder, seq)
    save_graph(case, path)
    return msgspec.json.encode(protocol.RunGraph(seq=seq, file=path.name)) + b"\n"


def introduction(line: bytes) -> protocol.Ready:
    """Return the answer to ``Hello``; raise ``ProtocolError`` for anything else or for another version.

    Raise ``DeclarationError`` where what the backend says of itself is wrong.
    """
    reply = _reply(line)
    if isinstance(reply, protocol.Unfit):
        raise DeclarationError(reply.problem)
    if not isinstance(reply, protocol.Ready):
        raise ProtocolError(f"the first reply must be ready, got {shown(line)}")
    if reply.protocol != protocol.VERSION:
        raise ProtocolError(
            f"the backend speaks protocol {reply.protocol}, the runner {protocol.VERSION}; "
            f"docs/worker-protocol.md describes protocol {protocol.VERSION}"
        )
    return introduced(reply)


def observation(line: bytes, seq: int, case: Request, folder: Path) -> Observation:
    """Return the observation of ``case``, request ``seq``, the oldest unanswered; files of both are removed.

    Raise ``ProtocolError`` when the line is no such reply or the observation does not fit the case.
    """
    try:
        reply = _reply(line)
    except DeclarationError as error:
        # Who introduced itself declares nothing more: what it sends is an answer, or none.
        raise ProtocolError(f"a reply breaks the protocol ({error}): {shown(line)}") from None
    if not isinstance(reply, protocol.Done):
        raise ProtocolError("the backend introduced itself twice")
    if reply.seq != seq:
        raise ProtocolError(f"got reply {reply.seq} when reply {seq} was due")
    found = reply.observation if reply.file is None else _from_file(folder, reply.file)
    if found is None:
        raise ProtocolError(f"reply {seq} has neither an observation nor a file")
    wrong = misfit(case, found)
    if wrong:
        raise ProtocolError(wrong)
    _remove(_case_file(folder, seq))
    return found


def _from_file(folder: Path, name: str) -> Observation:
    try:
        path = sibling_of(folder, name)
        found = load_observation(path)
    except CaseError as error:
        raise ProtocolError(f"a reply breaks the protocol: {error}") from None
    _remove(path)
    return found


def _case_file(folder: Path, seq: int) -> Path:
    return folder / f"case-{seq}.json"


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.with_suffix(".safetensors").unlink(missing_ok=True)


def _reply(line: bytes) -> protocol.Reply:
    try:
        reply: protocol.Reply = _decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        if isinstance(error.__cause__, ValueError):  # of ``Ready``, which came whole
            raise DeclarationError(str(error.__cause__)) from None
        if "at `$.claims" in str(error):
            raise DeclarationError(f"claims are lists of words by operation and feature: {error}") from None
        raise ProtocolError(f"a reply breaks the protocol ({error}): {shown(line)}") from None
    return reply


def shown(line: bytes) -> str:
    """Return the start of a line, printable."""
    return line[:80].decode(errors="backslashreplace") + ("..." if len(line) > 80 else "")
