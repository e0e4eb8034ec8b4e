"""Schedules that violate a clause, judged: each breaks the clause it was made for, and no other."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from conformance.qualification.kill import Mutant
from conformance.qualification.violations import Violation
from conformance.specs.schedules import PAIRS, judge, judge_two


def judged_violations(violated: Sequence[Violation]) -> Iterator[Mutant]:
    """Yield a row for every violation; it is killed when the clause it was made for is broken and no other."""
    relations = {clause.id: clause.relation for clause in PAIRS}
    for each in violated:
        began, made = time.perf_counter(), each.make()
        found = (
            judge_two(made[0], made[1], relations[each.breaks], *made[2:]) if isinstance(made, tuple) else judge(made)
        )
        broken = {one.clause for one in found if one.finding == "broken"}
        yield Mutant(
            name=each.name,
            breaks=each.breaks,
            killed=broken == {each.breaks},
            exact=broken == {each.breaks},
            clause=next(iter(sorted(broken)), None),
            clauses=tuple(sorted(broken)),
            cases=1,
            seconds=round(time.perf_counter() - began, 4),
            doc=each.doc,
            corpus=each.corpus,
        )
