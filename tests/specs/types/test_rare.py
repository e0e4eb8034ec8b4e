from __future__ import annotations

from collections import Counter

import pytest

from conformance.cases.types.typed_case import TypedCase
from conformance.cases.types.validate import validate_case
from conformance.reference.transforms.meaning import typed_meaning
from conformance.runner.draws import numbered
from conformance.specs.domains.choices import Choice
from conformance.specs.domains.steering.seldom_draws import EVERY, FIRST, SECOND
from conformance.specs.types.data import batched_cases, lowered_cases, pushed_cases, transposed_cases, typed_cases
from conformance.specs.types.domain import rule_of
from conformance.specs.types.grammar import WAYS
from conformance.specs.types.rare.calls import CALLS
from conformance.specs.types.rare.linear_programs import EITHER, TYPED, UNTYPED
from conformance.specs.types.rare.mapped_programs import ACROSS, LOOPS


def seldom_cases(domain: Choice[TypedCase], count: int) -> list[TypedCase]:
    return [numbered(domain, 0, FIRST + EVERY * turn)[0] for turn in range(count)]


@pytest.mark.parametrize("domain", [transposed_cases(), pushed_cases(), batched_cases()])
def test_programs_of_rare_patterns_mean_something(domain: Choice[TypedCase]) -> None:
    for case in seldom_cases(domain, 15):
        validate_case(case)
        meaning = typed_meaning(case)
        assert meaning.refused is None
        assert meaning.no_rule is None
        assert len(case.program.results) > 1


def test_every_pattern_is_drawn_within_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: Counter[str] = Counter()
    for patterns in ("EITHER", "TYPED", "UNTYPED"):
        counted(monkeypatch, "linear_programs", patterns, drawn)
    for patterns in ("LOOPS", "ACROSS"):
        counted(monkeypatch, "mapped_programs", patterns, drawn)
    seldom_cases(transposed_cases(), 9)
    seldom_cases(batched_cases(), 9)
    assert set(drawn) == {each.__name__ for each in (*EITHER, *TYPED, *UNTYPED, *LOOPS, *ACROSS)}


def counted(monkeypatch: pytest.MonkeyPatch, module: str, name: str, drawn: Counter[str]) -> None:
    where = f"conformance.specs.types.rare.{module}.{name}"
    every = {"EITHER": EITHER, "TYPED": TYPED, "UNTYPED": UNTYPED, "LOOPS": LOOPS, "ACROSS": ACROSS}[name]

    def counting(pattern: object) -> object:
        def call(listing: object) -> None:
            drawn[pattern.__name__] += 1  # type: ignore[attr-defined]
            pattern(listing)  # type: ignore[operator]

        return call

    monkeypatch.setattr(where, tuple(map(counting, every)))


def test_programs_about_states_are_accepted_and_refused_in_turn() -> None:
    refused = [typed_meaning(case).refused is not None for case in seldom_cases(typed_cases(), 20)]
    assert refused == [False, True] * 10


def shares(domain: Choice[TypedCase], count: int) -> list[TypedCase]:
    return [numbered(domain, 0, SECOND + EVERY * turn)[0] for turn in range(count)]


@pytest.mark.parametrize("domain", [transposed_cases(), pushed_cases(), batched_cases(), lowered_cases()])
def test_programs_of_the_table_of_calls_mean_something(domain: Choice[TypedCase]) -> None:
    for case in shares(domain, 12):
        validate_case(case)
        meaning = typed_meaning(case)
        assert meaning.refused is None
        assert meaning.no_rule is None


def test_a_run_has_every_linear_call_over_axes_that_are_turned() -> None:
    linear = {each.op for each in CALLS if each.linear} - {"sum", "permute", "shuffle"}
    turned = {True: set[str](), False: set[str]()}
    for case in shares(transposed_cases(), 9):
        names = case.program.names
        turned[case.program.checked] |= {step.op for step in case.program.steps if step.axes == names[::-1]}
    assert linear <= turned[True]
    assert linear - {"cast"} <= turned[False]


def test_a_run_maps_calls_over_two_levels_in_either_order_and_beside_a_mesh_axis() -> None:
    named = {step.axes for case in shares(batched_cases(), 9) for step in case.program.steps}
    assert {("q",), ("p",), ("p", "q"), ("q", "p")} <= named
    assert any(axes[:1] == ("q",) and axes[1:] and axes[1] != "p" for axes in named)


def test_a_run_maps_calls_in_groups_along_levels_whose_members_are_turned() -> None:
    cases = shares(batched_cases(), 9)
    steps = [step for case in cases for step in case.program.steps if step.groups and {*step.axes} & {"p", "q"}]
    turned = {step.op for step in steps if step.groups and any(list(group) != sorted(group) for group in step.groups)}
    assert {"all_gather", "all_to_all", "ragged_all_to_all", "reduce_scatter"} <= turned


def test_turned_groups_have_every_rank_of_a_level_of_any_size() -> None:
    for seed in range(16):
        validate_case(numbered(batched_cases(), seed, SECOND)[0])


def test_a_run_lowers_an_operand_that_is_started_twice() -> None:
    for case in shares(lowered_cases(), 4):
        started = [step.inputs for step in case.program.steps if step.start]
        assert len(set(started)) < len(started)


def test_a_run_starts_operands_twice_and_ends_in_steps_that_are_barely_refused() -> None:
    cases = shares(typed_cases(), 18)
    assert [typed_meaning(case).refused is not None for case in cases] == [False, True] * 9
    for case in cases[::2]:
        started = [step for step in case.program.steps if step.start]
        assert len({step.inputs for step in started}) < len(started)


@pytest.mark.parametrize("seed", range(3))
def test_every_rule_refuses_some_programs_of_a_run(seed: int) -> None:
    refused = Counter(rule_of(numbered(typed_cases(), seed, number)[0].program) for number in range(400))
    assert min(refused[rule] for rule in WAYS) >= 3
