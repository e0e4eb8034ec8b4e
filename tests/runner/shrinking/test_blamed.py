"""What is to blame where no answer came: nothing particular, unless the smallest case is about it."""

from __future__ import annotations

import pytest

from conformance.judging.clause import Held, Outcome
from conformance.judging.verdict import Verdict
from conformance.runner.backend.failure_equivalence import blamed
from conformance.runner.meaning import NONE, all_binding

CLAUSES = all_binding("broadcast", NONE)
BROKEN: dict[str, Held] = dict.fromkeys(("collective.C1", "collective.C4", "broadcast.C1"), "broken")


@pytest.mark.parametrize(
    ("outcome", "minimal", "clause"),
    [
        ("timeout", False, "broadcast.C1"),
        ("crashed", False, "broadcast.C1"),
        ("protocol_error", False, "broadcast.C1"),
        ("timeout", True, "collective.C4"),
        ("failed", False, "collective.C4"),
    ],
)
def test_a_layout_is_blamed_where_it_makes_a_difference(outcome: Outcome, minimal: bool, clause: str) -> None:
    layout = next(each for each in CLAUSES if each.id == "collective.C4")
    judged = Verdict(outcome=outcome, clauses=BROKEN, blame=layout)
    assert blamed(judged, CLAUSES, minimal=minimal).id == clause


def test_a_refusal_that_hangs_is_blamed_on_refusals_as_such() -> None:
    broken: dict[str, Held] = dict.fromkeys(("collective.C2", "collective.C13", "broadcast.C3"), "broken")
    root = next(each for each in CLAUSES if each.id == "broadcast.C3")
    judged = Verdict(outcome="timeout", clauses=broken, blame=root)
    assert blamed(judged, CLAUSES, minimal=False).id == "collective.C13"
