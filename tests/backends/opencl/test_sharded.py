"""The native engine runs drawn programs on sharded tensors, all of them."""

from __future__ import annotations

import pytest

from conformance.backends.claim_limits import outside, plain_claims
from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.lower import values
from conformance.cases.declarations.terms import terms
from conformance.generate.domains import SHARDED
from conformance.generate.sharded.hazards import hazards
from conformance.judging.sharded.subject import sharded_meaning
from conformance.judging.sharded.verdict import judge_sharded
from conformance.runner.dialects.sharded import clauses, facts
from conformance.runner.draws import numbered
from tests.backends.opencl.conftest import OpenBackend


def test_drawn_programs_pass_and_few_are_outside_its_claims() -> None:
    engine, left_out = OpenCL(), 0
    said = terms(engine.guarantees, engine.follows, engine.number_model)
    for number in range(40):
        case, _ = numbered(SHARDED, 8, number)
        subject = sharded_meaning(case)
        if outside(plain_claims(engine.claims), facts(subject).features):
            left_out += 1
            continue
        verdict = judge_sharded(subject, engine.sharded(case), clauses("sharded", said), said.numbers)
        assert verdict.outcome == "passed", f"{number}: {verdict.detail}"
    engine.close()
    assert left_out <= 2


@pytest.mark.parametrize("forgotten", [False, True])
def test_who_forgets_what_a_meeting_reads_writes_it_too_early(
    opencl: OpenBackend, monkeypatch: pytest.MonkeyPatch, *, forgotten: bool
) -> None:
    before, engine = values._Builder._before, opencl()
    if forgotten:
        monkeypatch.setattr(values._Builder, "_before", lambda self, *of: self._readers.clear() or before(self, *of))
    said = terms(engine.guarantees, engine.follows, engine.number_model)
    verdicts = (
        judge_sharded(sharded_meaning(case), engine.sharded(case), clauses("sharded", said), said.numbers)
        for case in (numbered(hazards(), 3, number)[0] for number in range(40))
    )
    assert all(verdict.outcome == "passed" for verdict in verdicts) is not forgotten
