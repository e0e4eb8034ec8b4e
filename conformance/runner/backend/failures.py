"""The failing cases of one backend's run: which of them are left to explain, and what each does alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from conformance.judging.verdict import Verdict
from conformance.runner.backend.failing_cases import Failed, Failing
from conformance.runner.backend.records import Records
from conformance.runner.dialect import Trial
from conformance.runner.origins import Origins
from conformance.runner.plan import Draws
from conformance.runner.records.known import Expected
from conformance.runner.records.record import CaseRecord


@dataclass(frozen=True)
class Failures:
    """Failing cases, by id, of ``records``.

    ``covered`` are those that known failures stand for, ``confirmed`` those that failed alike alone in a fresh process,
    and ``dependent`` has what those came to after others that pass alone.
    ``in_company`` are the records, by origin, of cases that fail in company and passed alone, in no fresh process.
    """

    records: Records
    origins: Origins
    covered: dict[str, Expected] = field(default_factory=dict)
    confirmed: set[str] = field(default_factory=set)
    dependent: dict[str, Verdict] = field(default_factory=dict)
    in_company: dict[int, CaseRecord] = field(default_factory=dict)

    @property
    def found(self) -> Failing:
        """Return all failing cases that are kept."""
        return self.records.failing

    def left(self, op: str | None = None) -> Iterator[str]:
        """Yield the ids of the run's cases, of ``op`` or all, that failed and that no known failure covers."""
        for name, failed in list(self.found.kept.items()):
            mine = op is None or failed.record.op == op
            known = failed.origin is not None and failed.verdict.blame is not None
            if mine and known and name not in self.covered:
                yield name

    def trial(self, name: str) -> Trial:
        """Return a failing case of the run, drawn again."""
        origin = self.found.kept[name].origin
        assert origin is not None  # ``left`` names no others
        return self.origins.again(origin)

    def drawn(self, name: str) -> tuple[Draws, int] | None:
        """Return the draws that a failing case of the run is one of, and its number."""
        origin = self.found.kept[name].origin
        return None if origin is None else self.origins.drawn(origin)

    def verdict_of(self, name: str) -> Verdict:
        """Return the verdict on a failing case of the run, or on one that failed until it was run alone."""
        return self.found.kept[name].verdict

    def cover(self, names: Iterable[str], known: Expected) -> None:
        """Take cases for those of a known failure."""
        self.covered.update(dict.fromkeys(names, known))

    def settle_flaky(self, record: CaseRecord, instead: CaseRecord) -> None:
        """Write that a case is flaky ``instead`` of what was said of it; no smaller case is looked for."""
        failed = self.found.kept.get(record.case)
        if failed is None:
            self.records.replaceable(instead)
        self.records.write(Failed(record, Verdict(outcome="flaky", clauses={}), failed.origin if failed else None))
        self.dependent.pop(record.case, None)

    def settle_alone(self, name: str, judged: Verdict) -> None:
        """Record what a case comes to alone in place of what it came to after others in one process."""
        failed = self.found.kept[name]
        self.dependent[name] = once = failed.verdict
        note = f"this is what it does alone in a fresh process; after other cases: {once.outcome}, {once.detail}"
        self.records.add(self.trial(name), judged, failed.origin, note=note, unrepeated=once.outcome)
