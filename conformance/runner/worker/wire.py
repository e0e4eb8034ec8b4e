"""Replies of a worker as lines of the protocol: introductions and observations."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final

import msgspec

from conformance.backends import protocol
from conformance.backends.discovery import DeclarationError
from conformance.cases.codec import CaseError
from conformance.cases.observation import Joint, Observation
from conformance.cases.observation_file import ObservationFile, read_observation, restored
from conformance.cases.tensor.stored import sibling_of
from conformance.runner.claims import introduced
from conformance.runner.worker.answers import Request
from conformance.runner.worker.misfits import misfit

_decode: Final = msgspec.json.Decoder(protocol.Reply).decode


LONGEST_INTRODUCTION: Final = 1 << 20
"""Bytes of an introduction, which the log begins with: that of the native backend has 20,000."""


class ProtocolError(ValueError):
    """A reply that breaks the protocol; the stream after it means nothing."""


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
    if len(line) > LONGEST_INTRODUCTION:
        raise DeclarationError(f"it declares itself in {len(line)} bytes; at most {LONGEST_INTRODUCTION} are right")
    return introduced(reply)


def observation(line: bytes, seq: int, case: Request, folder: Path) -> Observation:
    """Return the observation of ``case``, request ``seq``, as ``answered`` does."""
    return answered(line, seq, case, folder)[0]


def answered(line: bytes, seq: int, case: Request, folder: Path) -> tuple[Observation, protocol.Spent]:
    """Return the observation of ``case``, request ``seq``, the oldest unanswered, and what was spent on it.

    Files of both are removed.

    What an answer says of itself is held against the case before any of its tensors is read from a file. Raise
    ``ProtocolError`` when the line is no such reply or the observation does not fit the case.
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
    try:
        path = None if reply.file is None else sibling_of(folder, reply.file)
        found = _told(reply) if path is None else read_observation(path)
        if found is None:
            raise ProtocolError(f"reply {seq} has neither an observation nor a file")
        wrong = misfit(case, found)
        if wrong:
            raise ProtocolError(wrong)
        whole = restored(found, folder) if isinstance(found, ObservationFile) else found
    except CaseError as error:
        raise ProtocolError(f"a reply breaks the protocol: {error}") from None
    if path is not None:
        _remove(path)
    _remove(case_file(folder, seq))
    return whole, reply.spent or protocol.Spent()


def _told(reply: protocol.Done) -> Observation | None:
    """Return what an answer has inline, of a company what each of its cases has."""
    if not reply.together:
        return reply.observation
    return Joint(together=reply.together, seconds=math.fsum(each.seconds for each in reply.together))


def case_file(folder: Path, seq: int) -> Path:
    """Return where a large case is written for a request."""
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
