"""Programs with effects: what makes one malformed, what its names are, and the words for what it does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.backends.claim_limits import supported, unasked
from conformance.cases.case import Case, case_id
from conformance.cases.case_error import CaseError
from conformance.cases.program.effects import window
from conformance.cases.program.features import features
from conformance.cases.program.program import Step
from conformance.cases.program.validate import validate

Make = Callable[..., Case]


def effect(op: str, inputs: str, outputs: str = "", **attrs: tuple[int, ...]) -> Step:
    return Step(op=op, inputs=tuple(inputs.split()), outputs=tuple(outputs.split()), axes=(), attrs={**attrs})


def view(**attrs: tuple[int, ...]) -> Step:
    return effect("view", "b", "v", **attrs)


def reduced(inputs: str, outputs: str, into: str = "", *, start: bool = False, op: str = "all_reduce") -> Step:
    taken, given, written = (tuple(text.split()) for text in (inputs, outputs, into))
    return Step(op=op, inputs=taken, outputs=given, axes=("i",), attrs={"op": "sum"}, into=written, start=start)


FREE, STARTED = effect("free", "b"), reduced("x", "t", start=True)

MALFORMED = {
    "step 1 (done) waits for 'x', which was never started": [effect("done", "x", "y")],
    "step 2 (copy) reads 't', a ticket, which has no elements": [STARTED, effect("copy", "t", "y")],
    "step 2 (all_reduce) takes 't', a ticket; done makes a value of it": [STARTED, reduced("t", "y")],
    "step 1 (assign) writes 'x', which is no buffer and no view of one": [effect("assign", "x x")],
    "step 1 (all_reduce) writes into 'x', which is no buffer and no view": [reduced("x", "y", "x")],
    "step 2 (copy) uses 'b' after step 1 freed its storage": [FREE, effect("copy", "b", "y")],
    "step 3 (done) uses 't' after step 2": [reduced("x", "t", "b", start=True), FREE, effect("done", "t", "y")],
    "step 2 (free) uses 'b' after step 1 freed its storage": [FREE, FREE],
    "step 1 (free) frees 'x', which is no buffer": [effect("free", "x")],
    "step 1 (view) is outside its base: range(0, 3) of an axis of 2": [view(start=(0,), stop=(3,), step=(1,))],
    "step 1 (view) is outside its base: range(1, -2, -1)": [view(start=(1,), stop=(-2,), step=(-1,))],
    "step 1 (view) has a step of 0": [view(start=(0,), stop=(1,), step=(0,))],
    "step 1 (view) needs a start, a stop and a step for each of 1 axes": [view(start=(), stop=(), step=())],
    "step 1 (view) has the order [1]": [view(start=(0,), stop=(1,), step=(1,), order=(1,))],
    "step 1 (view) needs a list of integers as stop, got None": [view(start=(0,), step=(1,))],
    "step 1 (buffer) takes 'b', which is no input of the program": [effect("buffer", "b", "c")],
    "step 1 (copy) has 2 inputs and 1 outputs, where 1 and 1 are right": [effect("copy", "x x", "y")],
    "step 1 (barrier) cannot be started: it has no value": [reduced("", "", start=True, op="barrier")],
    "step 1 (send) has no block to write into 'b'": [reduced("x", "y", "b", op="send")],
    "step 1 (copy) is no collective": [replace(effect("copy", "x", "y"), axes=("i",))],
    "step 1 (copy) takes the attributes []": [effect("copy", "x", "y", start=(1,))],
    "result 'y' is a ticket; done makes a value of it": [reduced("x", "y", start=True)],
    "result 'y' is a token of what is sent; recv makes a value": [reduced("x", "y", op="send")],
    "step 2 (all_reduce) takes 't', a token of what is sent": [reduced("x", "t", op="send"), reduced("t", "y")],
    "result 'y' was freed by step 2": [reduced("x", "y", "b"), FREE],
    "the program has no collective": [effect("copy", "x", "y")],
}


@pytest.fixture
def program(make: Make) -> Make:
    """Return the maker of programs on two elements a rank that begin with the buffer b."""

    def of(*steps: Step, results: tuple[str, ...] = ("y",)) -> Case:
        case = make([np.array([1, 2], np.int32), np.array([3, 4], np.int32)])
        steps = (effect("buffer", "x", "b"), *steps)
        return replace(case, program=replace(case.program, steps=steps, results=results))

    return of


@pytest.mark.parametrize("line", MALFORMED)
def test_a_malformed_step_is_named_with_the_reason(line: str, program: Make) -> None:
    with pytest.raises(CaseError) as caught:
        validate(program(*MALFORMED[line]))
    assert str(caught.value).startswith(line)


def test_a_buffer_has_no_broadcast_layout(program: Make, make: Make) -> None:
    case = make([np.ones(2, np.int32)] * 2, "broadcast")
    with pytest.raises(CaseError, match="in a broadcast layout, where one element stands for many"):
        validate(replace(program(), inputs=case.inputs))


def test_a_window_is_ranges_and_then_an_order_and_shares_memory() -> None:
    block = np.arange(12).reshape(3, 4)
    seen = window(block, view(start=(2, 0), stop=(-1, 4), step=(-2, 3), order=(1, 0)))
    assert seen.tolist() == [[8, 0], [11, 3]]
    seen[...] = 0
    assert block.tolist() == [[0, 1, 2, 0], [4, 5, 6, 7], [0, 9, 10, 0]]


@pytest.mark.parametrize("attrs", [{}, {"start": (), "stop": (), "step": (), "order": ()}])
def test_a_window_of_a_block_without_axes_shares_memory_too(attrs: dict[str, tuple[int, ...]]) -> None:
    block = np.array(1)
    seen = window(block, view(**attrs))
    seen[...] = 2
    assert block.tolist() == 2


WORDS = {
    "into": ([reduced("x", "y", "b")], set()),
    "in_place": ([reduced("b", "y", "b"), reduced("b", "z", "b"), reduced("z", "w", "b")], {"feedback", "write_seen"}),
    "overlap": ([view(start=(1,), stop=(-1,), step=(-1,)), reduced("b", "y", "v")], {"target_overlap"}),
    "start": ([STARTED, effect("done", "t", "y"), effect("done", "t", "z")], {"done_twice"}),
    "view": ([view(start=(0,), stop=(1,), step=(1,)), effect("assign", "v v"), reduced("x", "y")], {"part"}),
    "assign": ([reduced("b", "y"), effect("assign", "b x")], {"old_result"}),
    "free": ([reduced("b", "t", start=True), FREE, effect("done", "t", "y")], {"input_freed"}),
    "copy": (
        [reduced("x", "t", "b", start=True), effect("copy", "b", "y"), reduced("x", "u", start=True)],
        {"read_before_done", "in_flight", "never_done"},
    ),
}


def ragged(operand: str, output: str, into: str) -> Step:
    return reduced(f"{operand} {output} x x x x", "y", into, op="ragged_all_to_all")


def test_a_ragged_exchange_is_in_place_over_its_output_alone(program: Make) -> None:
    seen = {name: features(program(ragged(*names))) for name, names in
            {"output": ("x", "b", "b"), "operand": ("b", "x", "b"), "both": ("b", "b", "b")}.items()}  # fmt: skip
    assert seen["output"]["effects"] == {"buffer", "in_place"}
    assert seen["operand"]["effects"] == {"buffer", "into", "overlap"}
    assert [facts["flow"] for facts in seen.values()] == [set(), {"target_overlap"}, {"target_overlap"}]


def test_a_send_is_under_way_until_its_token_is_taken(program: Make) -> None:
    write = effect("assign", "b x")
    send, recv = reduced("b", "k", op="send"), reduced("k", "y", op="recv")
    assert features(program(send, write, recv))["flow"] == {"input_overwritten"}
    assert features(program(send, recv, write))["flow"] == {"old_result"}
    assert features(program(send, recv, write, results=("b",)))["flow"] == set()
    assert features(program(send, write, results=("b",)))["flow"] == {"input_overwritten", "never_done"}


@pytest.mark.parametrize("word", WORDS)
def test_a_program_is_described_by_what_it_asks_for_and_in_which_order(word: str, program: Make) -> None:
    steps, flow = WORDS[word]
    facts = features(program(*steps))
    assert word in facts["effects"]
    assert facts["flow"] == flow


def test_a_view_has_a_layout_too(program: Make) -> None:
    turned = view(start=(1,), stop=(-1,), step=(-1,))
    assert features(program(turned, reduced("v", "y")))["layout"] == {"contiguous", "flipped"}


def test_targets_are_other_storage_or_the_operands_own_and_may_be_miscounted(program: Make) -> None:
    facts = features(program(reduced("b", "y", "b b")))
    assert facts["effects"] >= {"in_place", "into"}
    assert "miscounted" in facts["flow"]
    assert "into" not in features(program(reduced("b", "y", "b")))["effects"]


def test_effects_that_claims_do_not_name_are_not_even_asked_for(program: Make) -> None:
    case = program(reduced("b", "y", "b"))
    facts, named = features(case), {"all_reduce": {"effects": ["buffer", "into"]}}
    assert supported({"all_reduce": {}}, ["all_reduce"], facts) == "all_reduce: effects are not claimed"
    assert unasked({"all_reduce": {}}, ["all_reduce"], facts) is not None
    assert supported(named, ["all_reduce"], facts) == "all_reduce: effects in_place is not claimed"
    assert unasked(named, ["all_reduce"], facts) is None


def test_an_id_names_the_collectives(program: Make) -> None:
    assert case_id(program(reduced("b", "y"))).startswith("all_reduce/int32-2/")
