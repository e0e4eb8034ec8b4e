"""The native engine runs drawn programs on sharded tensors, all of them."""

from __future__ import annotations

from conformance.backends.claim_limits import outside, plain_claims
from conformance.backends.opencl import OpenCL
from conformance.cases.declarations.terms import terms
from conformance.judging.sharded.subject import sharded_meaning
from conformance.judging.sharded.verdict import judge_sharded
from conformance.runner.dialects.sharded import clauses, facts
from conformance.runner.draws import numbered
from conformance.specs.sharded.domain.cases import sharded_cases


def test_drawn_programs_pass_and_few_are_outside_its_claims() -> None:
    engine, left_out = OpenCL(), 0
    said = terms(engine.guarantees, engine.follows, engine.number_model)
    for number in range(40):
        case, _ = numbered(sharded_cases(), 8, number)
        subject = sharded_meaning(case)
        if outside(plain_claims(engine.claims), facts(subject).features):
            left_out += 1
            continue
        verdict = judge_sharded(subject, engine.sharded(case), clauses("sharded", said), said.numbers)
        assert verdict.outcome == "passed", f"{number}: {verdict.detail}"
    engine.close()
    assert left_out <= 2
