"""What Inductor makes of programs of collectives on all ranks, and how ranks become one schedule."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from msgspec.structs import replace
from torch._C import _distributed_c10d
from torch._inductor import comms, config, ir
from torch._inductor.codegen.wrapper import AllocateLine
from torch.distributed import _symmetric_memory
from torch.testing._internal.distributed import multi_threaded_pg
from torch.testing._internal.distributed.fake_pg import FakeStore

from conformance.backends.torch.inductor import TorchInductor
from conformance.backends.torch.inductor.collective_calls import Call, call_of
from conformance.backends.torch.inductor.meeting_ranks import NeverMet, meeting
from conformance.backends.torch.inductor.passes import PASSES
from conformance.backends.torch.inductor.rank_events import Entered, Event, Waited
from conformance.backends.torch.inductor.wrapper import View, read_wrapper
from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Attr, Axis, Program, Step
from conformance.cases.schedule.form import validate_schedule
from conformance.cases.schedule.schedule import Access, Collective, Kernel, Schedule, Wait
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.judging.schedules.program_graph import program_graph, with_graph
from conformance.specs.schedules import CLAUSE_BY_ID, judge

GATHERED: dict[str, Attr] = {"axis": 0, "tiled": True}


def step(kind: str, of: str, name: str, *, start: bool = False, **attrs: Attr) -> Step:
    axes = () if kind == "done" else ("i",)
    return Step(op=kind, inputs=(of,), outputs=(name,), axes=axes, attrs=attrs, start=start)


def program(world: int, *steps: Step, dtype: str = "float32", **shapes: tuple[int, ...]) -> Case:
    inputs = {
        name: Operand(
            blocks=tuple(from_array((np.arange(np.prod(shape)).reshape(shape) % 3 + rank).astype(NUMPY[dtype]))
                         for rank in range(world)),
            layouts=("contiguous",) * world,
        )
        for name, shape in shapes.items()
    }  # fmt: skip
    results = tuple(name for each in steps if not each.start for name in each.outputs)
    return Case(program=Program(mesh=(Axis("i", world),), steps=steps, results=results), inputs=inputs)


def scheduled(case: Case, passes: str, monkeypatch: pytest.MonkeyPatch) -> Schedule:
    """Return the schedule with some passes on, which keeps every must."""
    monkeypatch.setenv("CONFORMANCE_TORCH_INDUCTOR_PASSES", passes)
    found = TorchInductor().schedule(case)
    whole = with_graph(found, program_graph(case))
    validate_schedule(whole)
    judged = judge(whole)
    assert not [each for each in judged if each.finding == "broken" and CLAUSE_BY_ID[each.clause].requirement == "must"]
    assert {"law.C1", "waits.C3"} <= {each.clause for each in judged if each.finding == "held"}
    return found


def collectives(found: Schedule) -> list[Collective]:
    return [item for item in found.items if isinstance(item, Collective)]


MIXED = program(
    3,
    step("all_reduce", "x", "a", op="sum"),
    step("all_gather", "y", "t", start=True, **GATHERED),
    step("all_reduce", "a", "b", op="max"),
    step("done", "t", "c"),
    step("reduce_scatter", "c", "d", op="sum", **GATHERED),
    step("broadcast", "y", "e", root=1),
    x=(4, 3),
    y=(2, 5),
)


@pytest.mark.slow
@pytest.mark.parametrize("passes", ["", "raise_and_sink", "overlap", "iterative", "ddp", "scheduling"])
def test_collectives_of_one_program_keep_every_must_in_whatever_order(
    passes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = scheduled(MIXED, passes, monkeypatch)
    assert sorted(each.op for each in collectives(found)) == [
        "all_gather", "all_reduce", "all_reduce", "broadcast", "reduce_scatter",
    ]  # fmt: skip
    assert len([item for item in found.items if isinstance(item, Wait)]) == 5
    assert all(len(set(each.turns or ())) == 1 for each in collectives(found))


@pytest.mark.slow
def test_a_reduction_overwrites_what_nobody_reads_and_copies_an_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    case = program(2, step("all_reduce", "x", "a", op="sum"), x=(4,))
    found = scheduled(case, "", monkeypatch)
    (met,) = collectives(found)
    assert [access.buffer for access in met.accesses[:2]] == [access.buffer for access in met.accesses[2:]]
    copies = [item for item in found.items if isinstance(item, Kernel)]
    assert [item.accesses[0].buffer for item in copies] == ["x[0]", "x[1]"]


@pytest.mark.slow
def test_gathers_are_joined_where_bucketing_is_on(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [step("all_gather", name, f"{name} all", **GATHERED) for name in "xyz"]
    case = program(2, *steps, x=(4,), y=(2, 3), z=(3,))
    assert len(collectives(scheduled(case, "", monkeypatch))) == 3
    assert len(collectives(scheduled(case, "bucketing", monkeypatch))) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("op", "elements", "algorithm"), [("sum", 1 << 15, "one_shot"), ("sum", (1 << 15) + 1, ""), ("max", 8, "")]
)
def test_one_shot_is_a_sum_of_so_many_bytes_at_most_and_has_no_wait(
    op: str, elements: int, algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = program(2, step("all_reduce", "x", "a", op="sum"), step("all_reduce", "a", "b", op=op), x=(elements,))
    case = replace(both, program=replace(both.program, results=("b",)))
    found = scheduled(case, "one_shot", monkeypatch)
    first, second = collectives(found)
    assert (first.algorithm, second.algorithm) == ("", algorithm)  # an argument is no communication buffer
    owned = {buffer.id for buffer in found.buffers if buffer.communication == "0,1"}
    assert owned == ({access.buffer for access in second.accesses[:2]} if algorithm else set())
    assert (second.handle is None) == bool(algorithm)


@pytest.mark.slow
def test_what_is_compiled_for_each_rank_gives_its_values_over_gloo() -> None:
    case = program(2, step("all_reduce", "x", "a", op="sum"), dtype="int32", x=(3,))
    seen = TorchInductor().execute(case)
    assert (seen.errors, seen.touched) == ((), ())
    assert [to_array(block).tolist() for block in seen.results["a"] if block is not None] == [[1, 3, 5]] * 2


def entered(name: str, number: int, *, started: bool = True) -> Entered:
    rank = int(name[-2])
    accesses = ((Access(buffer=f"b[{rank}]"), Access(buffer=f"b[{rank}]", write=True)),)
    call = Call("all_reduce", "0", {"op": "sum"}, (), started=started)
    return Entered(name, ("all_reduce", number), call, (0, 1), accesses)


def test_a_rank_is_after_its_own_wait_and_not_after_that_of_another() -> None:
    def alone(rank: int) -> list[Event]:
        last = Kernel(id=f"last[{rank}]", device=str(rank), accesses=())
        between = Kernel(id=f"between[{rank}]", device=str(rank), accesses=())
        wait = Waited(f"wait[{rank}]", ("all_reduce", 0), 0)
        return [entered(f"start[{rank}]", 0), *([wait, between] if rank else [between, wait]), last]

    after = {item.id: item.after for item in meeting([alone(0), alone(1)])}
    wait = next(name for name in after if name.startswith("wait"))
    assert after["between[0]"] == ()
    assert after["between[1]"] == (wait,)
    assert after["last[0]"] == ("between[0]", wait)
    assert after["last[1]"] == ("between[1]",)


def test_ranks_that_enter_two_collectives_in_other_orders_say_so_by_their_turns() -> None:
    orders: Sequence[Sequence[Event]] = [
        [entered("one[0]", 0), entered("two[0]", 1)],
        [entered("two[1]", 1), entered("one[1]", 0)],
    ]
    assert [item.turns for item in meeting(orders) if isinstance(item, Collective)] == [(0, 1), (1, 0)]


def test_a_collective_that_a_member_never_enters_is_said() -> None:
    with pytest.raises(NeverMet, match=r"rank 0 enters all_reduce of \[0, 1\]; rank 1 does not"):
        meeting([[entered("one[0]", 0)], []])


def test_a_wrapper_tells_what_its_calls_read_and_make() -> None:
    text = """
def call(self, args):
    buf0 = torch.ops._c10d_functional.all_gather_into_tensor_coalesced.default([arg0_1, arg1_1], 2, '1')
    buf1 = buf0[0]
    buf2 = buf0[1]
    torch.ops._c10d_functional.all_reduce_.default(reinterpret_tensor(buf1, (2,), (1,), 2), 'avg', '0')
    return (buf1, buf2, )
"""
    gathered, reduced = map(call_of, read_wrapper(text).calls)
    assert gathered.pieces == ((View("arg0_1"), View("buf1")), (View("arg1_1"), View("buf2")))
    assert reduced.attrs == {"op": "mean"}
    assert reduced.pieces[0][0] == View("buf1", 2, (2,), (1,))


def test_a_pass_that_there_is_not_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFORMANCE_TORCH_INDUCTOR_PASSES", "bucketing,simple_overlap")
    with pytest.raises(ValueError, match="names 'simple_overlap'; passes are raise_and_sink, overlap"):
        TorchInductor()


def test_what_is_private_of_torch_is_there() -> None:
    assert issubclass(ir._CollectiveKernel, ir.FallbackKernel)
    assert ir._WaitKernel
    assert callable(AllocateLine._codegen_comm_buffer)
    assert callable(_symmetric_memory._test_mode)
    assert ir.CommBufferLayout
    assert ir.MultiOutput
    assert ir.MultiOutputLayout
    assert FakeStore
    assert multi_threaded_pg.ThreadLocalWorld
    assert callable(_distributed_c10d._set_thread_isolation_mode)  # type: ignore[attr-defined]  # not in its stubs
    for name in ("all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor", "all_to_all_single", "broadcast"):
        assert hasattr(torch.ops._c10d_functional, name)
    known = config.get_config_copy()
    for settings in PASSES.values():
        assert set(settings) <= set(known)
        names = settings.get("reorder_for_compute_comm_overlap_passes", [])
        assert all(callable(getattr(comms, name)) for name in names)
