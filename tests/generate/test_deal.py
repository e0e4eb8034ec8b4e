"""The deal: what is amiss with quotas, factors, motifs and dialects is named."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from conformance.generate.deal import QUOTAS, ROUND, dealt, spread
from conformance.generate.graphs.motifs import MOTIFS
from conformance.generate.table import Table
from conformance.qualification.standing_motifs import fallen_motifs
from conformance.runner.dialects import dialect_of


def test_every_round_has_its_quotas_and_each_kind_is_counted_on() -> None:
    draws = [dealt(0, number) for number in range(3 * ROUND)]
    assert all(Counter(draw.kind for draw in draws)[kind] == 3 * quota for kind, quota in QUOTAS.items())
    assert [draw.nth for draw in draws if draw.kind == "row"] == list(range(3 * QUOTAS["row"]))


@pytest.mark.parametrize(
    ("quotas", "said"),
    [
        ({**QUOTAS, "grown": 11}, f"of a round do not add up to its {ROUND} draws"),
        ({**QUOTAS, "grown": 13, "row": -1}, f"of a round do not add up to its {ROUND} draws"),
        ({**QUOTAS, "pattern": 0}, "'pattern' is amiss"),
        ({kind: quota for kind, quota in QUOTAS.items() if kind != "motif"}, "'motif' is amiss"),
    ],
)
def test_quotas_that_do_not_add_up_or_are_of_other_kinds_are_named(quotas: Any, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        spread(quotas, ROUND)


def test_a_factor_without_levels_is_named_with_its_table() -> None:
    with pytest.raises(ValueError, match="the factor 'dtype' of the table of small has no levels; it needs one"):
        Table("small", {"op": ("sum",), "dtype": ()}, str)


def test_a_motif_whose_bug_is_gone_is_named() -> None:
    unknown, other = replace(MOTIFS[0], mutant="NoSuchMutant"), replace(MOTIFS[1], mutant="NansAreOne")
    assert fallen_motifs([unknown, other]) == (
        "the motif 'long fold' stands for NoSuchMutant, which is no mutant of graphs: drop it",
        "the motif 'bound anew' no longer kills NansAreOne in 6 draws: its bug is gone",
    )


def test_every_motif_kills_the_mutant_that_it_stands_for() -> None:
    assert fallen_motifs() == ()


def test_a_case_of_no_dialect_is_named() -> None:
    with pytest.raises(TypeError, match="str is a case of no dialect; the dialects are spmd, "):
        dialect_of("a case")
