"""Messages of the worker's protocol, changed: answers in a line and by a file, introductions, and requests."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from conformance.backends import protocol
from conformance.backends.discovery import DeclarationError, find, load
from conformance.backends.introduction import introduce
from conformance.backends.worker import RequestError, serve
from conformance.cases.case_error import CaseError
from conformance.cases.declarations.terms import Terms
from conformance.cases.observation import Observation
from conformance.runner.backend.conversation import asked
from conformance.runner.dialect import Trial
from conformance.runner.dialects import dialect_of, trial
from conformance.runner.worker import wire
from conformance.runner.worker.answers import Answer, Broken, Request
from conformance.runner.worker.in_process import InProcess
from conformance.runner.worker.request_lines import HELLO, STOP, run_line
from tests.fuzz.documents import drawn

REFUSALS: Final = (wire.ProtocolError, DeclarationError)

Make = Callable[[Any], bytes]
"""Makes the bytes of a changed message of its tree."""


class Listening:
    """A worker that does what the reference does, and tells what it was asked and answered."""

    def __init__(self) -> None:
        self.inner = InProcess(find("reference"))
        self.said: list[tuple[Request, Observation]] = []

    def ask(self, request: Request) -> Answer:
        answer = self.inner.ask(request)
        assert isinstance(answer.result, Observation)
        self.said.append((request, answer.result))
        return answer

    def sibling(self) -> Listening:
        return self


@cache
def talks(dialect: str) -> tuple[tuple[Trial, tuple[tuple[Request, Observation], ...]], ...]:
    """Return drawn cases of a dialect, each with what is asked about it and the right answers."""
    found = []
    for case in drawn(dialect):
        one = trial(case)
        assert one is not None
        listening = Listening()
        asked(one.dialect.dialogue(one.subject, Terms()), listening)  # type: ignore[arg-type]  # it asks, and no more
        found.append((one, tuple(listening.said)))
    return tuple(found)


class Saying:
    """A worker whose answer to the question of one number is a line of text, and right to all others."""

    def __init__(self, number: int, line: bytes, folder: Path) -> None:
        self.inner = InProcess(find("reference"))
        self.left, self.line, self.folder = number, line, folder

    def ask(self, request: Request) -> Answer:
        self.left -= 1
        if self.left != -1:
            return self.inner.ask(request)
        try:
            return Answer(wire.observation(self.line, 1, request, self.folder))
        except wire.ProtocolError as error:
            return Answer(Broken("protocol_error", str(error)))

    def sibling(self) -> Saying:
        return self


def answer_tree(dialect: str, which: int) -> tuple[Trial, int, Any]:
    """Return a case, the number of a question about it, and the right answer as plain data."""
    one, said = talks(dialect)[which % len(talks(dialect))]
    number = which // len(talks(dialect)) % len(said)
    return one, number, json.loads(msgspec.json.encode(protocol.Done(seq=1, observation=said[number][1])))


def judged(one: Trial, number: int, line: bytes, folder: Path) -> object:
    """Judge a case of which a question is answered by a changed line."""
    worker = Saying(number, line, folder)
    verdict, _ = asked(dialect_of(one.case).dialogue(one.subject, Terms()), worker)  # type: ignore[arg-type]
    msgspec.json.encode(verdict.clauses)
    return verdict


@cache
def introduction() -> Any:
    """Return how the reference introduces itself, as plain data."""
    return json.loads(msgspec.json.encode(introduce(load(find("reference")))))


def requests(dialect: str, which: int, folder: Path) -> Any:
    """Return a request about a drawn case as plain data; where it is large its file is in the folder."""
    _, said = talks(dialect)[which % len(talks(dialect))]
    return json.loads(run_line(1, said[0][0], folder))


def served(line: bytes, folder: Path) -> object:
    """Serve a changed request between an introduction and an end; a worker may refuse it and end."""
    (folder / "requests").write_bytes(HELLO + line + b"\n" + STOP)
    source = os.open(folder / "requests", os.O_RDONLY)
    sink = os.open(folder / "replies", os.O_WRONLY | os.O_CREAT)
    try:
        serve(load(find("reference")), source, sink, folder)
    finally:
        os.close(source)
        os.close(sink)
    for reply in (folder / "replies").read_bytes().splitlines():
        msgspec.json.decode(reply, type=protocol.Reply)
    return None


UNSERVED: Final = (RequestError, CaseError)
