"""Programs with effects are asked for values where it is known what is right."""

from __future__ import annotations

import numpy as np

from conformance.cases.declarations.number_model import number_model
from conformance.cases.observation import Observation
from conformance.cases.tensor.tensor import from_array
from conformance.generate.suites import DOMAINS
from conformance.judging.compare import same
from conformance.judging.subject import under
from conformance.runner.draws import numbered
from conformance.runner.meaning import meaning


def test_a_mean_that_is_multiplied_by_the_inverse_of_its_count_is_no_wrong_effect() -> None:
    numbers = number_model({"mean": {"float32": "reciprocal"}})
    drawn = (meaning(numbered(DOMAINS["aliasing"]["reduce_scatter"], 0, number)[0]) for number in range(300))
    subject = next(each for each in (under(one, numbers) for one in drawn if one) if each.open)
    with np.errstate(invalid="ignore"):
        given = {
            name: tuple(
                None if block is None else from_array(np.where(mask, block + block.dtype.type(1), block))
                for block, mask in zip(blocks, subject.open.get(name, (False,) * len(blocks)), strict=True)
            )
            for name, blocks in subject.expected.items()
        }
    assert same(subject, Observation(results=given)) is None
