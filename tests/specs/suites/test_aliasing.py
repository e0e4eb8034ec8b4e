"""Programs with effects are asked for values where it is known what is right."""

from __future__ import annotations

from conformance.cases.declarations.number_model import number_model
from conformance.judging.compare import same
from conformance.judging.subject import under
from conformance.runner.draws import numbered
from conformance.runner.meaning import meaning
from conformance.specs.suites.aliasing import CLAUSES, SUITE


def test_a_mean_that_is_multiplied_by_the_inverse_of_its_count_is_no_wrong_effect() -> None:
    numbers = number_model({"mean": {"float32": "reciprocal"}})
    drawn = (meaning(numbered(SUITE.domains["reduce_scatter"], 0, number)[0]) for number in range(300))
    subject = next(each for each in (under(one, numbers) for one in drawn if one) if each.unsettled)
    assert not [clause.id for clause in CLAUSES if clause.check is same and clause.when(subject)]
