"""What Inductor says of memory for communication, and of how its collectives are called."""

from __future__ import annotations

import random
from typing import Any

import pytest
from msgspec.structs import replace
from torch._inductor import comm_lowering
from torch._inductor.codegen.wrapper import AllocateLine
from torch._inductor.utils import IndentedBuffer

from conformance.backends.scheduled import scheduled
from conformance.backends.torch.inductor import TorchInductor, passes
from conformance.cases.case import Case
from conformance.cases.program.program import Step
from conformance.cases.schedule.communication import Choice
from conformance.cases.schedule.schedule import Collective, Schedule
from conformance.judging.schedules.clause import Relation
from conformance.judging.schedules.program_graph import program_graph, with_graph
from conformance.runner.dialects.second_schedules import neighbour
from conformance.specs.schedules import judge, judge_two
from tests.backends.torch.test_inductor_programs import program, step

TWICE = Step(op="alu", inputs=("x", "x"), outputs=("y",), axes=(), attrs={"op": "add"})
SUM = program(2, TWICE, step("all_reduce", "y", "z", op="sum"), x=(8,))
ONE_SHOT = "one_shot"


def asked(case: Case, *results: str) -> Case:
    return replace(case, program=replace(case.program, results=results))


def made(backend: TorchInductor, case: Case) -> Schedule:
    seen = scheduled(backend, case)
    assert seen.errors == ()
    assert seen.schedule is not None
    return with_graph(seen.schedule, program_graph(case))


def broken(found: Schedule) -> list[str]:
    return [each.clause for each in judge(found) if each.finding == "broken"]


@pytest.fixture
def one_shot(monkeypatch: pytest.MonkeyPatch) -> TorchInductor:
    monkeypatch.setenv("CONFORMANCE_TORCH_INDUCTOR_PASSES", ONE_SHOT)
    return TorchInductor()


@pytest.mark.slow
def test_a_computed_operand_is_in_symmetric_memory_that_lasts(one_shot: TorchInductor) -> None:
    case = asked(SUM, "z")
    found = made(one_shot, case)
    assert broken(found) == []
    assert {(e.communication, e.communication_kind) for e in found.buffers if e.allocation} == {("0,1", "symmetric")}
    (met,) = (item for item in found.items if isinstance(item, Collective))
    assert (met.algorithms, met.choice, met.steps) == ((ONE_SHOT,) * 2, Choice(on=True, threshold=1 << 17), (1,))
    relations: dict[Relation, Schedule] = {
        "rerun": one_shot.reschedule(case, iteration=2), "switched": one_shot.reschedule(case, switched=True),
    }  # fmt: skip
    for relation, other in relations.items():
        (finding, *_) = judge_two(found, with_graph(other, program_graph(case)), relation)
        assert (finding.clause, finding.finding) in {("communication.C10", "held"), ("communication.C22", "held")}


WRITTEN: Any = AllocateLine._codegen_comm_buffer


def drawn_at_run_time(self: AllocateLine, code: IndentedBuffer) -> None:
    text = IndentedBuffer()
    WRITTEN(self, text)
    head, _, number = text.getvalue().strip().partition("alloc_id=")
    code.writeline(f"{head}alloc_id=__import__('random').getrandbits(64) + {number}")


@pytest.mark.slow
def test_memory_whose_name_is_drawn_while_the_wrapper_runs_is_elsewhere_in_a_later_iteration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CONFORMANCE_TORCH_INDUCTOR_PASSES", ONE_SHOT)
    monkeypatch.setattr(passes, "_WRITTEN", drawn_at_run_time)
    backend, case = TorchInductor(), asked(SUM, "z")
    found = made(backend, case)
    random.seed(1)
    later = with_graph(backend.reschedule(case, iteration=2), program_graph(case))
    (finding,) = judge_two(found, later, "rerun")
    assert (finding.clause, finding.finding) == ("communication.C10", "broken")


@pytest.mark.slow
def test_names_of_allocations_are_drawn_from_random_numbers_that_scripts_seed(one_shot: TorchInductor) -> None:
    other = neighbour(asked(SUM, "z"))
    assert other is not None
    found = judge_two(made(one_shot, asked(SUM, "z")), made(one_shot, other), "neighbours")
    assert {each.clause: each.finding for each in found} == {"communication.C11": "broken", "communication.C21": "held"}


@pytest.mark.slow
def test_a_wait_that_is_left_out_for_an_earlier_program_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    backend, first, other = TorchInductor(), asked(SUM, "z"), neighbour(asked(SUM, "z"))
    assert other is not None
    found = made(backend, first)
    monkeypatch.setattr(comm_lowering, "should_skip_wait", lambda _: True)
    judged = {each.clause: each.finding for each in judge_two(found, made(backend, other), "neighbours")}
    assert judged["communication.C21"] == "broken"


@pytest.mark.slow
def test_a_result_may_lie_in_memory_that_the_next_call_writes(one_shot: TorchInductor) -> None:
    assert broken(made(one_shot, asked(SUM, "y", "z"))) == ["communication.C9"]


@pytest.mark.slow
def test_several_operands_are_one_call_with_the_strides_that_were_traced() -> None:
    both = Step(op="all_reduce", inputs=("x", "y"), outputs=("a", "b"), axes=("i",), attrs={"op": "sum"})
    found = made(TorchInductor(), program(2, both, x=(8,), y=(2, 3)))
    pieces = [item for item in found.items if isinstance(item, Collective)]
    assert [(each.call, each.steps) for each in pieces] == [(pieces[0].call, (0,))] * 2
    assert pieces[0].call
    assert [each.accesses[0].traced for each in pieces] == [(1,), (3, 1)]
    held = {each.clause for each in judge(found) if each.finding == "held"}
    assert {"communication.C16", "communication.C17", "communication.C19", "communication.C20"} <= held


@pytest.mark.slow
def test_a_copy_for_an_early_sum_is_not_to_be_fused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFORMANCE_TORCH_INDUCTOR_PASSES", "raise_and_sink")
    found = made(TorchInductor(), program(2, step("all_reduce", "x", "a", op="sum"), x=(8,)))
    assert len([each for each in found.buffers if each.unfused]) == 2
    assert {each.clause: each.finding for each in judge(found)}["communication.C18"] == "held"
