"""What somebody might have answered instead: altered answers, other declarations, near misses, other schedules."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from conformance.backends.protocol import Ready
from conformance.backends.reference import Reference
from conformance.cases.case import Case, Operand
from conformance.cases.declarations.terms import SYSTEMS
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.observation import Observation, RankError
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.schedule.schedule import accesses
from conformance.cases.tensor.tensor import Tensor
from conformance.cases.types.lowered import Lowered
from conformance.qualification.frozen.altered import ALTERATIONS, altered
from conformance.qualification.frozen.asked import answers, backend
from conformance.qualification.frozen.declared import declared
from conformance.qualification.frozen.followed import followed
from conformance.qualification.frozen.more import FRESH, more
from conformance.qualification.frozen.near import near_misses
from conformance.qualification.frozen.neighbours import neighbours, other_schedules
from conformance.qualification.frozen.observation import FrozenObservation, Given
from conformance.qualification.frozen.other_inputs import of_other_inputs
from conformance.qualification.frozen.recorded import FILE, recorded
from conformance.qualification.frozen.scheduled import _of_violations
from conformance.qualification.frozen.structure import otherwise
from conformance.qualification.frozen.told_otherwise import answering, exchanged_facts
from conformance.qualification.frozen.untold import CHANGES
from conformance.qualification.frozen.verdicts import changed_judge
from conformance.qualification.mutant_module import MutantError
from conformance.qualification.violations.split_sums import long_sum
from conformance.runner.dialects import trial
from conformance.vectors.stored import written

ONE, NAN = Tensor(dtype="float32", shape=(1,), bits="0000803f"), Tensor(dtype="float32", shape=(1,), bits="0000c07f")
SEEN = Observation(results={"y": (ONE, NAN)})
RAISED = Observation(errors=(RankError(kind="ValueError", message="the shape", category="invalid_argument"),) * 2)


def summed() -> FrozenObservation:
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": "sum"})
    bits = ("cdcccc3d", "cdcc4c3e", "9a99993e")  # 0.1, 0.2, 0.3
    operand = Operand(
        blocks=tuple(Tensor(dtype="float32", shape=(1,), bits=each) for each in bits), layouts=("contiguous",) * 3
    )
    case = Case(program=Program(mesh=(Axis("i", 3),), steps=(step,), results=("y",)), inputs={"x": operand})
    one, asked = trial(case), backend(Reference)
    assert one is not None
    found = answers(one, asked)
    assert found is not None
    return FrozenObservation(
        name="summed", by="Reference", right=True, suite="numerics", op="all_reduce", form="program",
        text=written(case), ready=asked.ready, answers=found,
    )  # fmt: skip


@pytest.mark.parametrize("seen", [SEEN, RAISED])
def test_no_alteration_leaves_an_answer_as_it_is(seen: Observation) -> None:
    made = dict(altered(seen, Random(0)))
    assert made
    assert seen not in made.values()
    assert made.keys() <= ALTERATIONS.keys()


def test_two_lowered_reductions_each_have_what_the_other_has() -> None:
    first = Lowered(op="all_reduce", groups=((0, 1),), reducer="sum")
    seen = Observation(lowered=(first, replace(first, reducer="max")))
    assert exchanged_facts(seen, Random(0)) == replace(seen, lowered=seen.lowered[::-1])
    assert exchanged_facts(replace(seen, lowered=(first,)), Random(0)) is None


def test_who_refused_answers_instead_on_all_ranks_or_on_all_but_one() -> None:
    made = [answering(("y",))(RAISED, Random(number)) for number in range(8)]
    assert {sum(error is None for error in each.errors) for each in made if each} == {0, len(RAISED.errors) - 1}
    assert answering(("y",))(SEEN, Random(0)) is None


def test_the_same_answers_have_the_same_neighbours() -> None:
    words = [[each.altered for each in neighbours(summed(), 4, 1)] for _ in range(2)]
    assert words[0] == words[1]
    assert len(words[0]) >= 5


def test_the_last_permitted_value_is_a_step_from_the_first_that_is_not() -> None:
    frozen = summed()
    (given,) = frozen.answers
    assert isinstance(given, Given)
    with changed_judge(None) as (judge, _):

        def permitted(made: Observation) -> bool:
            return not judge.say(replace(frozen, answers=(Given(made),))).broken

        found = list(near_misses(given.seen, Random(1), permitted))
    assert [word for word, _ in found] == ["just inside", "just outside"] * (len(found) // 2)
    assert [permitted(made) for _, made in found] == [True, False] * (len(found) // 2)


def test_declarations_are_such_as_a_backend_may_make() -> None:
    made = dict(declared(Ready(protocol=1, name="plain", description={}, claims={}), Random(0)))
    assert {"accumulate: exact", "intermediates: excess", "every guarantee", "follows jax"} <= made.keys()
    assert made["accumulate: exact"].terms.numbers.chosen


def test_a_schedule_has_others_that_differ_in_one_place() -> None:
    first = next(each for each in _of_violations() if len(each.schedules) == 1)
    found = list(other_schedules(first, 5))
    less = [each.altered for each in found if each.altered in CHANGES]
    assert len(found) == 2 * 5 + len(less)
    assert "no provenance" in less
    assert any(each.altered.endswith(" set") for each in found)
    assert all(each.schedules != first.schedules and each.altered for each in found)


def test_a_schedule_has_one_kernel_more_whose_value_later_items_take() -> None:
    first = next(each for each in _of_violations() if each.name == "activation_behind_a_sum")
    made = dict(more(first.schedules[0], Random(0)))
    taken = {word: sum(a.buffer == FRESH for item in one.items for a in accesses(item)) for word, one in made.items()}
    assert {taken["computed again for nobody"], taken["moved on for nobody, unlabelled"]} == {1}
    assert max(taken["computed again for all"], taken["moved on for all"]) == 2
    assert all(len(one.items) == 3 for word, one in made.items() if "for " in word)


def test_a_schedule_that_writes_to_no_buffer_of_its_own_has_no_kernel_more() -> None:
    first = next(each for each in _of_violations() if each.name == "activation_behind_a_sum")
    bare = replace(first.schedules[0], buffers=())
    assert not [word for word, _ in more(bare, Random(0)) if "for " in word]


def test_what_tests_gave_is_read_and_a_file_that_is_cut_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert {each.by for each in recorded()} == {"tests"}
    cut = tmp_path / "recorded.zlib"
    cut.write_bytes(FILE.read_bytes()[:1000])
    monkeypatch.setattr("conformance.qualification.frozen.recorded.FILE", cut)
    recorded.cache_clear()
    with pytest.raises(MutantError, match=r"^recorded\.zlib, .*; record them anew"):
        recorded()
    recorded.cache_clear()


def test_what_a_source_says_is_right_for_who_follows_it_alone() -> None:
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": "sum"})
    blocks = (Tensor(dtype="bool", shape=(1,), bits="01"),) * 2
    operand = Operand(blocks=blocks, layouts=("contiguous",) * 2)
    case = Case(program=Program(mesh=(Axis("i", 2),), steps=(step,), results=("y",)), inputs={"x": operand})
    found = list(followed(replace(summed(), name="bools", text=written(case))))
    with changed_judge(None) as (judge, _):
        said = {(each.by, each.altered.endswith("followed")): judge.say(each) for each in found}
    assert {by for by, _ in said} == {"stablehlo"}
    assert said["stablehlo", False].broken
    assert not said["stablehlo", True].broken


def test_no_source_is_asked_for_another_case_in_the_place_of_an_illegal_one() -> None:
    a = Node(id="a", op="buf", shape=(2,), dtype="float32", device="d0", arg="a")
    outside = Node(id="x", op="reduce", of=("a",), shape=(2,), dtype="float32", device="d0", arg=(1,), fold="max")
    case = GraphCase(
        graph=Graph(nodes=(a, outside), results=("x",)),
        buffers={"a": Tensor(dtype="float32", shape=(2,), bits="0000803f00000040")},
        rounds=(Round(until=2, asked=("x",)),),
    )
    one, asked = trial(case), backend(Reference)
    assert one is not None
    frozen = replace(summed(), suite="graphs", form="graph", text=written(case), answers=answers(one, asked))
    assert list(followed(frozen)) == []


def test_one_altered_answer_is_that_of_somebody_who_follows_every_source() -> None:
    (found,) = (each for each in neighbours(summed(), 2, 0) if each.altered.endswith("everything followed"))
    assert found.ready is not None
    assert set(found.ready.follows) == set(SYSTEMS)
    assert found.answers != summed().answers


def test_of_another_input_all_that_is_made_of_it_is_otherwise() -> None:
    one, more = summed().case, Step(op="broadcast", inputs=("y",), outputs=("z",), axes=("i",), attrs={"root": 0})
    case = replace(one, program=replace(one.program, steps=(*one.program.steps, more), results=("y", "z")))
    found = trial(case)
    assert found is not None
    asked = answers(found, backend(Reference))
    assert asked is not None
    (first, *_) = of_other_inputs(replace(summed(), text=written(case), answers=asked), Random(0))
    assert isinstance(first.answers[0], Given)
    assert isinstance(asked[0], Given)
    made, plain = first.answers[0].seen.results, asked[0].seen.results
    assert made["y"] == made["z"]
    assert made["y"] != plain["y"]


def test_an_accumulator_of_a_schedule_may_be_of_another_width() -> None:
    words = {found[0] for seed in range(200) if (found := otherwise(long_sum(), Random(seed)))}
    assert {"another width in dtype", "another width in acc"} <= words
