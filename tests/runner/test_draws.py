"""Cases drawn, and made smaller by Hypothesis."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis.errors import HypothesisWarning

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.deal import ROUND, dealt
from conformance.generate.suites import DOMAINS
from conformance.runner.dialects import trial
from conformance.runner.draws import numbered
from conformance.runner.hypothesis_shrinker import as_bytes, shrink, strategy


def number(case: str) -> str:
    return case[:7]


def test_a_long_case_is_made_smaller_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    long = choices.integers(0, 10**6).map(lambda n: f"{n:07d}" * 50_000)
    drawn = [numbered(long, 0, at)[0] for at in range(20)]
    start = drawn.index(max(drawn))
    smallest = shrink(long, 0, start, lambda case: number(case) >= "0000100", 50, number)
    assert number(smallest) == "0000100"
    assert not [one for one in recwarn.list if issubclass(one.category, HypothesisWarning)]


def test_hypothesis_reads_back_what_random_numbers_made() -> None:
    domain = DOMAINS["async"]["reduce_scatter"]
    seen: list[Case] = []
    for at in range(22):

        @given(strategy(domain, dealt(0, at) if at else None))
        def read(case: Case) -> None:
            seen.append(case)

        case, numbers = numbered(domain, 0, at)
        read.hypothesis.fuzz_one_input(as_bytes(numbers))  # type: ignore[attr-defined]
        assert seen[-1] == case


def test_draws_of_different_domains_have_different_numbers() -> None:
    one, other = (DOMAINS["collectives"][op] for op in ("barrier", "axis_index"))
    meshes = [[numbered(domain, 0, at)[0].program.mesh for at in range(20)] for domain in (one, other)]
    assert meshes[0] != meshes[1]
    assert numbered(one, 0, 0)[0].program.mesh == numbered(other, 0, 0)[0].program.mesh


@pytest.mark.parametrize("suite", sorted(DOMAINS))
def test_each_draw_is_recorded_under_the_operation_it_is_drawn_for(suite: str) -> None:
    for op, domain in DOMAINS[suite].items():
        for at in range(ROUND):
            one = trial(numbered(domain, 3, at)[0], suite)
            assert one is None or one.facts.op == op


_ELSEWHERE = """
from conformance.cases.case import case_id
from conformance.generate.suites import DOMAINS
from conformance.runner.hypothesis_shrinker import shrink
print(shrink(DOMAINS["collectives"]["broadcast"], 1, 3, lambda case: True, 30, case_id).program.steps[0].op)
"""


def test_shrinking_leaves_nothing_in_the_folder_that_the_user_is_in(tmp_path: Path) -> None:
    told = {name: text for name, text in os.environ.items() if name != "HYPOTHESIS_STORAGE_DIRECTORY"}
    command = [sys.executable, "-c", _ELSEWHERE]
    done = subprocess.run(command, cwd=tmp_path, env=told, capture_output=True, text=True, check=True)
    assert (done.stdout, list(tmp_path.iterdir())) == ("broadcast\n", [])
