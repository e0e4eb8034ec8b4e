"""The checks of a harness: each starts a process of its own, and says in one line what it did against the protocol."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import msgspec

from conformance.backends import protocol
from conformance.backends.discovery import DeclarationError
from conformance.cases.case import Case
from conformance.cases.observation import Observation
from conformance.runner.harness.conversation import Conversation, Fault
from conformance.runner.harness.requests import HarnessCases, asked, respelt
from conformance.runner.meaning import meaning
from conformance.runner.worker import wire
from conformance.runner.worker.request_lines import HELLO, STOP, run_line

LIMIT: Final = 20.0
"""Seconds that an answer, a start or an exit may take."""

FLOOD: Final = 2000
"""Requests that are written before an answer is read: megabytes, many times what the pipes hold."""

WAIT: Final = 1.5
"""Seconds in which nobody reads the answers of a flood."""

Outcome = Literal["passed", "failed", "not tried"]


@dataclass(frozen=True)
class CheckResult:
    """What a check came to: ``told`` says what was wrong, or why it was not tried, in one line."""

    check: str
    says: str
    outcome: Outcome
    told: str = ""


@dataclass(frozen=True)
class Tried:
    """The harness that is tried: how it starts, what it is asked, and how it introduced itself."""

    command: tuple[str, ...]
    limit: float
    asked: HarnessCases
    ready: protocol.Ready


class Untried(Exception):
    """Why a check says nothing about this harness."""


def check(command: Sequence[str], limit: float = LIMIT) -> Iterator[CheckResult]:
    """Yield what each check of the harness that ``command`` starts comes to; without an introduction only the first."""
    begun = _begun(tuple(command), limit)
    if isinstance(begun, CheckResult):
        yield begun
        return
    yield CheckResult("hello", _HELLO, "passed")
    for name, (says, one) in CHECKS.items():
        try:
            one(begun)
        except (Fault, wire.ProtocolError) as fault:
            yield CheckResult(name, says, "failed", str(fault))
        except Untried as why:
            yield CheckResult(name, says, "not tried", str(why))
        else:
            yield CheckResult(name, says, "passed")


_HELLO: Final = "The first line answers hello with ready: protocol 1, a name, a description, claims."


def _begun(command: tuple[str, ...], limit: float) -> Tried | CheckResult:
    try:
        with Conversation(command, limit) as talk:
            ready = _greeted(talk)
    except (Fault, wire.ProtocolError, DeclarationError, OSError) as error:
        return CheckResult("hello", _HELLO, "failed", str(error))
    questions = asked(ready.claims)
    if questions is None:
        told = "no plain case lies within its claims: claim an operation with contiguous int32 or float32 blocks"
        return CheckResult("claims", "Something can be asked within the claims.", "not tried", told)
    return Tried(command, limit, questions, ready)


def _greeted(talk: Conversation) -> protocol.Ready:
    talk.say(HELLO)
    (line,) = talk.hear(1, "answer to hello")
    return wire.introduction(line)


def _opened(tried: Tried) -> Conversation:
    talk = Conversation(tried.command, tried.limit)
    try:
        _greeted(talk)
    except BaseException:
        talk.__exit__()
        raise
    return talk


def _answer(talk: Conversation, seq: int, case: Case) -> Observation:
    """Return the answer that is due now, which fits the case and has blocks of the right dtype and shape."""
    (line,) = talk.hear(1, f"answer to request {seq}")
    seen = wire.observation(line, seq, case, talk.folder)
    _sized(case, seen)
    return seen


def _sized(case: Case, seen: Observation) -> None:
    expected = meaning(case).expected if not seen.raised else None
    for name, blocks in (expected or {}).items():
        for rank, (block, found) in enumerate(zip(blocks, seen.results.get(name, ()), strict=False)):
            if block is not None and found is not None and tuple(found.shape) != tuple(block.shape):
                raise Fault(f"{name} on rank {rank} has the shape {list(found.shape)}; {list(block.shape)} is right")


def _asked_alone(tried: Tried) -> None:
    with _opened(tried) as talk:
        for seq, case in enumerate(tried.asked.plain, 1):
            talk.say(run_line(seq, case, talk.folder))
            _answer(talk, seq, case)
        talk.silent()


def _in_order(tried: Tried) -> None:
    cases = tried.asked.plain * (48 // len(tried.asked.plain))
    with _opened(tried) as talk:
        talk.say(b"".join(run_line(seq, case, talk.folder) for seq, case in enumerate(cases, 7)))
        for seq, case in enumerate(cases, 7):
            _answer(talk, seq, case)


def _in_pieces(tried: Tried) -> None:
    case = tried.asked.plain[0]
    with Conversation(tried.command, tried.limit) as talk:
        line = HELLO + run_line(1, case, talk.folder)
        third = len(line) // 3
        for at in range(0, len(line), third):
            talk.say(line[at : at + third])
            time.sleep(0.05)
        wire.introduction(*talk.hear(1, "answer to hello"))
        _answer(talk, 1, case)


def _as_json(tried: Tried) -> None:
    with _opened(tried) as talk:
        for seq, case in enumerate(tried.asked.plain, 1):
            plain = run_line(2 * seq, case, talk.folder)
            talk.say(plain)
            first = _answer(talk, 2 * seq, case)
            talk.say(respelt(run_line(2 * seq + 1, case, talk.folder)))
            second = _answer(talk, 2 * seq + 1, case)
            if first.raised != second.raised or first.results.keys() != second.results.keys():
                raise Fault(
                    "the same request in other words (keys in another order, spaces, escapes) came out otherwise"
                )


def _wide_line(tried: Tried) -> None:
    case = tried.asked.wide
    if case is None:
        raise Untried("no case of 64 KiB lies within its claims")
    with _opened(tried) as talk:
        talk.say(run_line(1, case, talk.folder))
        _answer(talk, 1, case)


def _file(tried: Tried) -> None:
    case = tried.asked.large
    if case is None:
        raise Untried("no case of more than 64 KiB lies within its claims")
    with _opened(tried) as talk:
        talk.say(run_line(1, case, talk.folder))
        seen = _answer(talk, 1, case)
        if seen.raised and all(error is None or error.category == "unsupported" for error in seen.errors):
            raise Fault('it reads no files, and claims such cases; claim "size": ["empty", "one"], or read them')
        talk.say(run_line(2, tried.asked.plain[0], talk.folder))
        _answer(talk, 2, tried.asked.plain[0])


def _refused(tried: Tried) -> None:
    case, wrong = tried.asked.plain[0], tried.asked.illegal
    with _opened(tried) as talk:
        talk.say(run_line(1, wrong, talk.folder), run_line(2, case, talk.folder))
        (line,) = talk.hear(1, "answer to a case over an axis that the mesh has not")
        seen = wire.observation(line, 1, wrong, talk.folder)
        if not seen.raised:
            raise Fault("it answered a case over an axis that the mesh has not with results; errors are right")
        if _answer(talk, 2, case).raised:
            raise Fault("the case after one that was refused was refused too")


def _others(tried: Tried) -> None:
    case = tried.asked.plain[0]
    others = (protocol.Plan(seq=1, case=case), protocol.Remaining(seq=2, case=case))
    with _opened(tried) as talk:
        for other in others:
            talk.say(msgspec.json.encode(other) + b"\n")
            what = type(other).__struct_config__.tag
            (line,) = talk.hear(1, f"answer to the request {what}")
            reply = msgspec.json.decode(line, type=protocol.Done)
            if reply.seq != other.seq or reply.observation is None:
                raise Fault(f"the request {what} was not answered by done with its seq: {wire.shown(line)}")
        talk.say(run_line(3, case, talk.folder))
        _answer(talk, 3, case)


def _flood(tried: Tried) -> None:
    case = tried.asked.plain[0]
    with _opened(tried) as talk:
        talk.say(*(run_line(seq, case, talk.folder) for seq in range(1, FLOOD + 1)))
        time.sleep(WAIT)
        for seq in range(1, FLOOD + 1):
            (line,) = talk.hear(1, f"answer {seq} of {FLOOD}")
            wire.observation(line, seq, case, talk.folder)


def _channel(tried: Tried) -> None:
    with _opened(tried) as talk:
        talk.say(run_line(1, tried.asked.plain[0], talk.folder))
        _answer(talk, 1, tried.asked.plain[0])
        talk.silent()
        if '"done"' in talk.written or '"ready"' in talk.written:
            raise Fault("answers are on standard output too; the descriptor that CONFORMANCE_WRITE names is right")


def _stop(tried: Tried) -> None:
    cases = tried.asked.plain
    with _opened(tried) as talk:
        talk.say(*(run_line(seq, case, talk.folder) for seq, case in enumerate(cases)), STOP)
        for seq, case in enumerate(cases):
            _answer(talk, seq, case)
        talk.end("stop")


def _end_of_file(tried: Tried) -> None:
    with _opened(tried) as talk:
        talk.say(run_line(1, tried.asked.plain[0], talk.folder))
        _answer(talk, 1, tried.asked.plain[0])
        talk.end("the end of the requests")


def _abandoned(tried: Tried) -> None:
    with Conversation(tried.command, tried.limit) as talk:
        talk.end("the end of the requests before hello")


def _again(tried: Tried) -> None:
    with Conversation(tried.command, tried.limit) as talk:
        again = _greeted(talk)
    for name in ("name", "claims", "guarantees", "follows", "number_model"):
        if getattr(again, name) != getattr(tried.ready, name):
            raise Fault(f"its {name.replace('_', ' ')} changed when it was started again")


def _leaves_files(tried: Tried) -> None:
    if tried.asked.large is None:
        raise Untried("no case that travels as a file lies within its claims")
    with _opened(tried) as talk:
        folder = Path(talk.folder)
        line = run_line(1, tried.asked.large, folder)
        before = {path.name for path in folder.iterdir()}
        talk.say(line)
        talk.hear(1, "answer to request 1")
        gone = before - {path.name for path in folder.iterdir()}
        if gone:
            raise Fault(f"it removed {min(gone)}; the runner removes the files of requests")


CHECKS: Final[dict[str, tuple[str, Callable[[Tried], None]]]] = {
    "cases": ("A case is answered by one done with its seq, whose results fit it.", _asked_alone),
    "order": ("Requests that come in one piece are answered in their order.", _in_order),
    "pieces": ("A request that comes in pieces is read whole.", _in_pieces),
    "JSON": ("Requests are read as JSON: keys in any order, spaces, escapes.", _as_json),
    "wide": ("A line of 64 KiB of tensors is read.", _wide_line),
    "files": ("A large case is read from its file.", _file),
    "file names": ("Files of requests are left where they are.", _leaves_files),
    "refusals": ("A case without meaning is refused, and the next one is answered.", _refused),
    "others": ("Requests that it has not are answered by done with an error.", _others),
    "flood": ("Requests are taken while nobody reads the answers, and none is lost.", _flood),
    "channel": ("Answers go to the descriptor of CONFORMANCE_WRITE alone.", _channel),
    "stop": ("After stop it exits with status 0.", _stop),
    "end": ("At the end of the requests it exits with status 0.", _end_of_file),
    "no hello": ("Without a request it exits with status 0.", _abandoned),
    "again": ("Started again, it introduces itself alike.", _again),
}
"""Each check by its name: the sentence that it is about, and what tries it."""
