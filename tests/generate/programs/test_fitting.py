"""Calls on a block that is there: of an operation whose attributes others have too."""

from __future__ import annotations

from random import Random

import pytest

from conformance.cases.program.program import Axis
from conformance.generate.calls.draft import Draft
from conformance.generate.choices import Draw
from conformance.generate.programs.fitting_calls import fitted
from conformance.reference.spmd import ATTRIBUTES
from conformance.runner.draws import Numbers


def test_an_attribute_that_no_other_operation_has_is_left_to_its_own_call(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = Draw(Numbers(Random(0)))
    drawn = Draft(draw, (Axis("i", 3),), ("i",), None, "int32")
    call = fitted(draw, "permute", drawn, (2,))
    assert call is not None
    assert call.attrs.keys() == {"pairs"}
    monkeypatch.setitem(ATTRIBUTES, "permute", {**ATTRIBUTES["permute"], "by": int})
    assert fitted(draw, "permute", drawn, (2,)) is None
