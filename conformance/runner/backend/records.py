"""The records of one backend: each verdict is written once it is known, and counted; what failed is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.judging.clause import Outcome
from conformance.judging.verdict import Verdict
from conformance.runner.backend.case_record import case_record, failed_of
from conformance.runner.backend.failing_cases import Failed, Failing
from conformance.runner.backend.promises import Promises
from conformance.runner.backend.tally import Tally
from conformance.runner.dialect import Trial
from conformance.runner.records.company import Company
from conformance.runner.records.known import Expected
from conformance.runner.records.record import CaseRecord


class Records:
    """Writes records under the ``name`` of a backend. Of what passed it keeps counts alone."""

    def __init__(
        self,
        name: str,
        write: Callable[[CaseRecord], None],
        promises: Promises,
        drawn: Callable[[int], str | None] = lambda origin: None,
    ) -> None:
        """Hand each record to ``write``; ``promises`` number what each case shows of the claims.

        ``drawn`` says of an origin which draw it was.
        """
        self.name, self.promises = name, promises
        self.tally = Tally()
        self.failing = Failing()
        self._write, self._drawn = write, drawn
        self._replaceable: dict[str, CaseRecord] = {}

    def add(
        self,
        one: Trial,
        judged: Verdict,
        origin: int | None,
        seconds: float = 0.0,
        note: str | None = None,
        *,
        under_claimed: bool = False,
        came_to: Mapping[Outcome, int] | None = None,
        unrepeated: Outcome | None = None,
        expected: Expected | None = None,
        refused: bool = False,
        observation: str | None = None,
        company: Company | None = None,
    ) -> CaseRecord:
        """Write what a case came to, in place of an earlier record of it, and return that."""
        line = case_record(
            self.name,
            one,
            judged,
            seconds,
            note,
            under_claimed=under_claimed,
            came_to=came_to,
            unrepeated=unrepeated,
            expected=expected,
            met=self.promises.met(one.facts.features),
            refused=refused,
            origin=None if origin is None else self._drawn(origin),
            observation=observation,
            company=company,
        )
        self.write(failed_of(one, line, judged, origin))
        return line

    def write(self, found: Failed) -> None:
        """Write a record, in place of an earlier one of the same case, and remember what failed."""
        record = found.record
        earlier = self.failing.kept.get(record.case)
        instead = earlier.record if earlier is not None else self._replaceable.pop(record.case, None)
        self.tally.add(record, instead=instead)
        unexpected = record.expected is None or record.expected.state == "changed"
        if (record.blame is not None and unexpected) or record.unrepeated is not None or earlier is not None:
            self.failing.add(found)
        self._write(record)

    def replaceable(self, record: CaseRecord) -> None:
        """Take note of a record that another one of the same case may replace, although it is no failure."""
        self._replaceable[record.case] = record
