"""Cases asked of a backend for a certificate: each as it was drawn and in another guise, mixed among the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

from conformance.certificate.case_list import case_digest
from conformance.certificate.disguise import disguised
from conformance.certificate.entries import Guise, guise
from conformance.certificate.guise_file import GuiseFile
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.dialect import Trial
from conformance.runner.records.record import CaseRecord
from conformance.runner.worker.interface import Judgeable

BATCH: Final = 128
"""Cases that are handed over before their other guises are: so far apart, no neighbour tells which is which."""

AHEAD: Final = 4 * BATCH
"""Cases without an answer above which none is drawn: a backend that is slower than the suite does not fill memory."""


class AskedBackend:
    """A backend, and what its cases came to; of the cases themselves none is kept."""

    def __init__(self, name: str, worker: Judgeable, folder: Path | None = None) -> None:
        """Ask nothing yet, and keep answers in ``folder``; raise ``StartError`` where the backend does not start."""
        self._run = BackendRun(name, worker, self._keep)
        self._digests: dict[str, str] = {}
        """Of what has no answer yet."""
        self._folder = folder
        self._offered = 0
        self.claims = worker.ready.claims

    def pairs(
        self, trials: Iterable[Trial], seed: int, told: Callable[[int], None]
    ) -> Iterator[tuple[Guise, Guise | None]]:
        """Yield what each case came to as drawn, and in another guise where it has one, once all are asked."""
        with TemporaryFile(dir=self._folder) as file:
            self._found = GuiseFile(file)
            names = self._asked(trials, seed, told)
            # A refusal counts from the first answer to its operation on, so that nothing is settled before the end.
            for name, hidden in names:
                yield self._found[name], None if hidden is None else self._found[hidden]

    def _asked(
        self, trials: Iterable[Trial], seed: int, told: Callable[[int], None]
    ) -> Sequence[tuple[str, str | None]]:
        """Ask every case as drawn and in another guise; return the names of both."""
        names: list[tuple[str, str | None]] = []
        rest = iter(trials)
        while part := list(islice(rest, BATCH)):
            within = [self._offer(one) for one in part]
            for one, asked in zip(part, within, strict=True):
                other = disguised(one, seed, self.claims) if asked else None
                if other is not None:
                    self._offer(other)
                names.append((one.name, None if other is None else other.name))
                self._run.collect()
            while self._run.dialogues.outstanding > AHEAD:
                self._run.collect(1.0)
            told(len(names))
        while self._run.dialogues.outstanding:
            self._run.collect(1.0)
        return names

    def _offer(self, one: Trial) -> bool:
        """Ask a case that was not asked before; return whether it lies within the claims."""
        outside = self._run.scope.outside(one)
        if one.name in self._digests or one.name in self._found:
            return outside is None
        digest = case_digest(one.case)
        if outside is None:
            self._digests[one.name] = digest
            self._offered += 1
            self._run.offer(one, self._offered)  # with a number of its own, so that nobody keeps the case to find it
        else:
            self._found.put(one.name, Guise(case=digest, outcome="unsupported"))
        return outside is None

    def _keep(self, record: CaseRecord) -> None:
        """Take what a case came to; where it comes a second time, that holds."""
        name = record.case
        digest = self._digests.pop(name, None) or self._found[name].case
        self._found.put(name, guise(digest, record))
