"""Cases asked of a backend for a certificate: each as it was drawn and in another guise, mixed among the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from conformance.certificate.case_list import case_digest
from conformance.certificate.disguise import disguised
from conformance.certificate.entries import Guise, guise
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.dialect import Trial
from conformance.runner.records.record import CaseRecord
from conformance.runner.worker.interface import Judgeable

BATCH: Final = 128
"""Cases that are handed over before their other guises are: so far apart, no neighbour tells which is which."""


class Asking:
    """A backend, and what its cases came to, by id."""

    def __init__(self, name: str, worker: Judgeable) -> None:
        """Ask nothing yet; raise ``StartError`` where the backend does not start."""
        self._run = BackendRun(name, worker, self._keep)
        self._digests: dict[str, str] = {}
        self._found: dict[str, Guise] = {}
        self.claims = worker.ready.claims

    def pairs(
        self, trials: Sequence[Trial], seed: int, told: Callable[[int], None]
    ) -> Iterator[tuple[Guise, Guise | None]]:
        """Yield what each case came to as drawn, and in another guise where it has one, once all are asked."""
        hidden: list[str | None] = []
        for start in range(0, len(trials), BATCH):
            part = trials[start : start + BATCH]
            within = [self._offer(one) for one in part]
            for one, asked in zip(part, within, strict=True):
                other = disguised(one, seed, self.claims) if asked else None
                if other is not None:
                    self._offer(other)
                hidden.append(None if other is None else other.name)
                self._run.collect()
            told(start + len(part))
        while self._run.dialogues.outstanding:
            self._run.collect(1.0)
        for one, name in zip(trials, hidden, strict=True):
            yield self._found[one.name], None if name is None else self._found[name]

    def _offer(self, one: Trial) -> bool:
        """Ask a case that was not asked before; return whether it lies within the claims."""
        outside = self._run.scope.outside(one)
        if one.name in self._digests:
            return outside is None
        self._digests[one.name] = case_digest(one.case)
        if outside is None:
            self._run.offer(one)
        else:
            self._found[one.name] = Guise(case=self._digests[one.name], outcome="unsupported")
        return outside is None

    def _keep(self, record: CaseRecord) -> None:
        """Take what a case came to; where it comes a second time, that holds."""
        self._found[record.case] = guise(self._digests[record.case], record)
