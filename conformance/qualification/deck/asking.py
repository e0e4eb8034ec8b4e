"""How mutants are asked about a case: what the unbroken class answers too is right, and need not be judged."""

from __future__ import annotations

from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec
from conformance.judging.verdict import Verdict
from conformance.qualification.auto.running.answers import told
from conformance.qualification.judged_mutant import fails
from conformance.runner.dialect import Trial
from conformance.runner.worker.answers import Broken, Request
from conformance.runner.worker.in_process import InProcess


def fails_in(one: Trial, backend: Backend, control: Control | None = None) -> bool:
    """Return whether a backend fails a case: a *must* or a *should* is broken.

    With a ``control`` it is judged only where it answers something else than that.
    """
    worker = InProcess(BackendSpec("mutant", ()), backend=backend)
    if one.outside(worker.ready.claims) is not None:
        return False
    if control is not None and control.same(one, worker):
        return False
    return fails(judged(one, worker))


def judged(one: Trial, worker: InProcess, asked: list[tuple[Request, bytes]] | None = None) -> Verdict:
    """Return the verdict on a worker's answers to a case; ``asked`` gets the requests, each with what was told."""
    talk = one.dialect.dialogue(one.subject, worker.ready.terms)
    try:
        ask = next(talk)
        while True:
            answer = worker.ask(ask.request)
            if asked is not None:
                asked.append((ask.request, told(answer)))
            ask = talk.send(answer)
    except StopIteration as ended:
        verdict: Verdict = ended.value
        return verdict


class Control:
    """What an unbroken class answers, kept for the case that is asked about now."""

    def __init__(self, backend: type[Backend]) -> None:
        """Have one of the class for all cases."""
        self._worker = InProcess(BackendSpec(backend.__qualname__, ()), backend=backend())
        self._name, self._told = "", b""
        self._talked, self._talk = "", list[tuple[Request, bytes]]()

    def told(self, one: Trial) -> bytes:
        """Return the digest of the answer to the case itself."""
        if self._name != one.name:
            self._name, self._told = one.name, told(self._worker.ask(one.case))
        return self._told

    def same(self, one: Trial, worker: InProcess) -> bool:
        """Return whether a worker answers as this class does all that a verdict on this class asks."""
        if self._talked != one.name:
            self._talked, self._talk = one.name, []
            judged(one, self._worker, self._talk)
        return all(told(worker.ask(request)) == known for request, known in self._talk)


class WrittenMutant:
    """One mutant, asked with what it remembers of earlier cases, and, where it fails, once more without."""

    def __init__(self, mutant: type[Backend], control: Control) -> None:
        """Have one of the class for all cases, held against the unbroken ``control``."""
        self._mutant, self._control = mutant, control
        self._worker = InProcess(BackendSpec(mutant.__qualname__, ()), backend=mutant())

    def fails(self, one: Trial) -> bool:
        """Return whether it fails a case."""
        ready = self._worker.ready
        if one.outside(ready.claims) is not None:
            return False
        answer = self._worker.ask(one.case)
        if not isinstance(answer.result, Broken) and told(answer) == self._control.told(one):
            return False
        # What it kept of other cases is nothing that another run would see again.
        return fails_in(one, self._mutant())
