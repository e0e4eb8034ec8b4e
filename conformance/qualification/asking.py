"""How changed backends are asked about a case: what the unchanged class answers too need not be judged again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec
from conformance.cases.declarations.terms import Terms
from conformance.judging.verdict import Verdict
from conformance.qualification.auto.running.answers import told
from conformance.runner.dialect import Trial
from conformance.runner.worker.answers import Answer, Request
from conformance.runner.worker.in_process import InProcess

Asking = Callable[[Request], Answer]
"""What asks a backend, in this process or in one of its own."""


def fails(judged: Verdict) -> bool:
    """Return whether a *must* or *should* is broken."""
    return judged.blame is not None and judged.blame.requirement != "may"


@dataclass(frozen=True)
class Answered:
    """What a backend answers to the requests about a case, each as a digest, and the verdict on it."""

    told: tuple[bytes, ...]
    verdict: Verdict

    @property
    def broken(self) -> frozenset[str]:
        """Return the clauses that are broken."""
        return frozenset(name for name, held in self.verdict.clauses.items() if held == "broken")


class Control:
    """An unchanged class; what it answers to a case, and the verdict on that, are found once."""

    def __init__(self, backend: type[Backend]) -> None:
        """Start one for all cases."""
        self.name: Final = backend.__qualname__
        self._worker = InProcess(BackendSpec(self.name, ()), backend=backend())
        self.terms: Final = self._worker.ready.terms
        self._known: dict[str, Answered] = {}

    def answered(self, one: Trial) -> Answered | None:
        """Return what this class answers to a case; ``None`` where it lies outside its claims."""
        if one.outside(self._worker.ready.claims) is not None:
            return None
        if one.name not in self._known:
            self._known[one.name], _ = beside(one, self._worker.ask, self.terms, None)
        return self._known[one.name]


def beside(one: Trial, ask: Asking, terms: Terms, control: Control | None) -> tuple[Answered, bool]:
    """Return what a backend of some terms answers to a case, and whether its ``control`` answers the same.

    Where it does, in the same terms, the verdict is the control's. A backend is asked each request once, and no more
    than the verdict needs.
    """
    known = control.answered(one) if control is not None else None
    shared = known if control is not None and control.terms == terms else None
    answers: list[bytes] = []
    talk = one.dialect.dialogue(one.subject, terms)
    asked = next(talk)
    while True:
        answer = ask(asked.request)
        answers.append(told(answer))
        if shared is not None and tuple(answers) == shared.told:
            talk.close()
            return shared, True
        try:
            asked = talk.send(answer)
        except StopIteration as ended:
            found = Answered(tuple(answers), ended.value)
            return found, known is not None and found.told == known.told


def fails_in(one: Trial, backend: Backend, control: Control | None = None) -> bool:
    """Return whether a backend fails a case: a *must* or a *should* is broken.

    With a ``control`` it fails only by what that does not break itself.
    """
    return _fails_in(one, InProcess(BackendSpec("mutant", ()), backend=backend), control)


def _fails_in(one: Trial, worker: InProcess, control: Control | None) -> bool:
    ready = worker.ready
    if one.outside(ready.claims) is not None:
        return False
    found, same = beside(one, worker.ask, ready.terms, control)
    if same or not fails(found.verdict):
        return False
    known = control.answered(one) if control is not None else None
    return known is None or not found.broken <= known.broken


class WrittenMutant:
    """One mutant, asked with what it remembers of earlier cases, and, where it fails, once more without."""

    def __init__(self, mutant: type[Backend], control: Control) -> None:
        """Have one of the class for all cases, held against the unbroken ``control``."""
        self._mutant, self._control = mutant, control
        self._worker = InProcess(BackendSpec(mutant.__qualname__, ()), backend=mutant())

    def fails(self, one: Trial) -> bool:
        """Return whether it fails a case."""
        # What it kept of other cases is nothing that another run would see again.
        return _fails_in(one, self._worker, self._control) and fails_in(one, self._mutant(), self._control)
