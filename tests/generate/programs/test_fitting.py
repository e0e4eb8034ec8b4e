"""Calls on a block that is there: of an operation whose attributes others have too."""

from __future__ import annotations

from random import Random

import pytest

from conformance.cases.program.program import Axis
from conformance.generate.calls.draft import Draft
from conformance.generate.calls.vocabulary import call_of
from conformance.generate.choices import Draw
from conformance.reference.spmd import ATTRIBUTES
from conformance.runner.draws import Numbers


def test_an_attribute_that_no_other_operation_has_is_left_to_its_own_call(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = Draw(Numbers(Random(0)))
    drawn = Draft(draw, (Axis("i", 3),), ("i",), None, "int32")
    found = call_of(draw, "permute", drawn, (2,))
    assert found is not None
    assert found[1].attrs.keys() == {"pairs"}
    monkeypatch.setitem(ATTRIBUTES, "permute", {**ATTRIBUTES["permute"], "by": int})
    assert call_of(draw, "permute", drawn, (2,)) is None
