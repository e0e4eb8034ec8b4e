"""The runner's side of the protocol: cases become request lines, reply lines become observations."""

from __future__ import annotations

from typing import Final

import msgspec

from conformance.backends import protocol
from conformance.cases.case import Case
from conformance.cases.observation import Observation
from conformance.runner.answers import misfit

HELLO: Final = msgspec.json.encode(protocol.Hello()) + b"\n"
STOP: Final = msgspec.json.encode(protocol.Stop()) + b"\n"

_decode: Final = msgspec.json.Decoder(protocol.Reply).decode


class ProtocolError(ValueError):
    """A reply that breaks the protocol; the stream after it means nothing."""


def run_line(seq: int, case: Case) -> bytes:
    """Return the request to execute ``case``."""
    return msgspec.json.encode(protocol.Run(seq=seq, case=case)) + b"\n"


def introduction(line: bytes) -> protocol.Ready:
    """Return the answer to ``Hello``; raise ``ProtocolError`` for anything else or for another version."""
    reply = _reply(line)
    if not isinstance(reply, protocol.Ready):
        raise ProtocolError(f"the first reply must be ready, got {shown(line)}")
    if reply.protocol != protocol.VERSION:
        raise ProtocolError(f"the backend speaks protocol {reply.protocol}, the runner {protocol.VERSION}")
    return reply


def observation(line: bytes, seq: int, case: Case) -> Observation:
    """Return the observation of ``case``, request ``seq``, the oldest unanswered.

    Raise ``ProtocolError`` when the line is no such reply or the observation does not fit the case.
    """
    reply = _reply(line)
    if not isinstance(reply, protocol.Done):
        raise ProtocolError("the backend introduced itself twice")
    if reply.seq != seq:
        raise ProtocolError(f"got reply {reply.seq} when reply {seq} was due")
    wrong = misfit(case, reply.observation)
    if wrong:
        raise ProtocolError(wrong)
    return reply.observation


def _reply(line: bytes) -> protocol.Reply:
    try:
        reply: protocol.Reply = _decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ProtocolError(f"a reply breaks the protocol ({error}): {shown(line)}") from None
    return reply


def shown(line: bytes) -> str:
    """Return the start of a line, printable."""
    return line[:80].decode(errors="backslashreplace") + ("..." if len(line) > 80 else "")
