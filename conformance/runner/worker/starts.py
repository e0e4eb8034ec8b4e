"""The processes of one backend, started one after the other, and when it is no use to start another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from conformance.backends.discovery import BackendSpec, DeclarationError
from conformance.backends.protocol import Ready
from conformance.runner.worker.answers import Broken, Limits, StartError
from conformance.runner.worker.code import Code
from conformance.runner.worker.seconds import WorkerSeconds
from conformance.runner.worker.session import Session


@dataclass(frozen=True)
class EndOfBackend:
    """``why`` a backend is not asked any more, what every case is answered then, and what who waits for it gets."""

    broken: Broken
    error: Exception
    why: str


@dataclass(frozen=True)
class Common:
    """What all processes of a backend in a run have in common: no number names two, and their code is the same.

    What they spend is counted together.
    """

    numbers: Iterator[int]
    code: Code
    seconds: WorkerSeconds = field(default_factory=WorkerSeconds)


class Starts:
    """Counts the starts of a backend: ``limits`` bounds those after breaks, and one that failed may be made again."""

    def __init__(self, spec: BackendSpec, limits: Limits, common: Common | None = None) -> None:
        """Start nothing yet; ``common`` is that of other processes of the backend."""
        self.spec, self.limits = spec, limits
        self.ready: Ready | None = None
        """How it introduced itself when it started first."""
        self.common = common or Common(count(1), Code(spec))
        self._breaks = self._failed = 0

    @property
    def spent(self) -> bool:
        """Return whether another break is one too many."""
        return self._breaks >= self.limits.restarts

    def start(self) -> Session | EndOfBackend:
        """Return a new process, or why there is none."""
        if changed := self.common.code.changed():
            return self.unfit(DeclarationError(f"{changed} changed while it was judged; a backend is judged by one"))
        try:
            return Session(self.spec.command, self.limits, next(self.common.numbers), self.common.seconds)
        except OSError as error:
            return self.ended(f"{self.spec.name} cannot be started: {error}")

    def introduced(self, ready: Ready) -> EndOfBackend | None:
        """Take note of how a process introduced itself; return the end where it did otherwise than the first."""
        self._failed = 0
        self.ready = self.ready or ready
        changed = [
            name
            for name in ("name", "claims", "guarantees", "follows", "number_model", "examples")
            if getattr(ready, name) != getattr(self.ready, name)
        ]
        if not changed:
            return None
        told = f"its {changed[0].replace('_', ' ')} changed when it was started again; a backend is judged by one"
        return self.unfit(DeclarationError(told))

    def broke(self, session: Session, broken: Broken) -> EndOfBackend | None:
        """Count a process that broke; return the end where no other is started."""
        if session.ready is None:
            self._failed += 1
            if self.ready is None or self._failed > 1:
                return self.ended(f"{self.spec.name} did not start: {broken.detail}", broken.stderr_tail)
        if broken.outcome == "not_run":
            return self.ended(broken.detail)
        self._breaks += 1
        if self._breaks <= self.limits.restarts:
            return None
        spent = f"the budget of {self.limits.restarts} restarts is spent"
        return self.ended(f"{spent}; the last: {broken.outcome}, {broken.detail}", broken.stderr_tail)

    def unfit(self, error: DeclarationError) -> EndOfBackend:
        """Return the end of a backend that says of itself what is wrong."""
        named = DeclarationError(f"backend {self.spec.name!r}: {error}")
        return EndOfBackend(Broken("not_run", str(named)), named, str(named))

    def ended(self, detail: str, tail: str = "") -> EndOfBackend:
        """Return the end of a backend; ``tail`` is the last that it wrote on standard error."""
        last = last_words(tail)
        told = f"{detail}{': ' + last if last else ''}"
        return EndOfBackend(Broken("not_run", told, tail), StartError(told), detail)


def last_words(tail: str) -> str:
    """Return the message that a process ended with: of its last traceback all lines, else the last line.

    Where the last line is a rule of dashes, as launchers of MPI write, the message is the first paragraph above it.
    """
    if (lines := tail.strip().splitlines()) and _rule(lines[-1]):
        start = max((at for at, line in enumerate(lines[:-1]) if _rule(line)), default=-1) + 1
        return " ".join("\n".join(lines[start:-1]).strip().partition("\n\n")[0].split())
    lines = [line for line in lines if line.strip()]
    traces = [at for at, line in enumerate(lines) if line.startswith("Traceback (most recent call last)")]
    raised = [at for at in range(traces[-1] + 1, len(lines)) if not lines[at][0].isspace()] if traces else []
    return " ".join(lines[raised[0] :] if raised else lines[-1:])


def _rule(line: str) -> bool:
    return len(line) > 2 and not line.strip("-=*")
