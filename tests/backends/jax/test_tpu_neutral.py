"""Scheduled HLO for TPUs as a neutral schedule: what is started, where it lies, and what is written out."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.backends.base import Unsupported
from conformance.backends.jax.hlo.module import Module, read_module
from conformance.backends.jax.tpu.held import Stored
from conformance.backends.jax.tpu.items import walk as begun
from conformance.backends.jax.tpu.neutral import program_schedule
from conformance.backends.jax.tpu.walk import Walk
from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.schedule.kernel_body import Reduce
from conformance.cases.schedule.schedule import Collective, Copy, Kernel, Wait, accesses
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array
from conformance.judging.schedules.program_graph import program_graph, with_graph
from conformance.specs.schedules import judge

ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }"
LARGER = ADD.replace("] add(a", "] maximum(a")
SUM = "ROOT r = f32[1,2]{1,0} all-reduce(p), channel_id=1, replica_groups={{0,1}}, to_apply=add"


def module(text: str) -> Module:
    hlo = pytest.importorskip("jaxlib._hlo")
    whole = f"HloModule m, is_scheduled=true, num_partitions=2\n{text}"
    return read_module(hlo.hlo_module_from_text(whole).as_serialized_hlo_module_proto())


def entry(*lines: str, of: str = "f32[2]{0}") -> str:
    return "\n".join(["ENTRY e {", f"p = {of} parameter(0)", *lines, "}"])


def walk(text: str, world: int = 2) -> Walk:
    """Return the items of a module, whose parameters lie in the buffers a, b, ... ."""
    read = module(text)
    made = begun(read, world)
    nodes = [each for each in read.entry.instructions.values() if each.opcode == "parameter"]
    ordered = sorted(nodes, key=lambda each: each.parameter)
    made.entry([made.buffers.add(name, each.shape) for name, each in zip("abc", ordered, strict=False)])
    return made


def verdicts(text: str, layout: Layout = "contiguous") -> dict[str, str]:
    """Return what the clauses say of a module that was compiled of a sum over two ranks."""
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": "sum"})
    program = Program(mesh=(Axis("i", 2),), steps=(step,), results=("y",))
    blocks = tuple(from_array(np.full(2, rank, np.float32)) for rank in range(2))
    case = Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=(layout,) * 2)})
    schedule = with_graph(program_schedule(case, module(text)), program_graph(case))
    return {each.clause: each.finding for each in judge(schedule)}


def test_a_sum_is_one_call_and_keeps_the_law() -> None:
    found = verdicts(f"{ADD}\n{entry(SUM, of='f32[1,2]{1,0}')}")
    assert found["law.C1"] == "held"
    assert "broken" not in found.values()


def test_the_largest_in_the_place_of_a_sum_breaks_the_law() -> None:
    assert verdicts(f"{LARGER}\n{entry(SUM, of='f32[1,2]{1,0}')}")["law.C1"] == "broken"


def test_a_strided_block_is_brought_to_its_device_first() -> None:
    found = verdicts(f"{ADD}\n{entry(SUM, of='f32[1,2]{1,0}')}", layout="strided")
    assert found["law.C1"] == "held"
    assert "broken" not in found.values()


def test_a_copy_into_another_memory_is_started_and_waited_for() -> None:
    lines = ("s = (f32[2]{0:S(1)}, f32[2]{0}, u32[]) copy-start(p)", "ROOT d = f32[2]{0:S(1)} copy-done(s)")
    made = walk(entry(*lines))
    starts = [each for each in made.items if isinstance(each, Copy)]
    waits = [each for each in made.items if isinstance(each, Wait)]
    assert [each.handle for each in starts] == [each.handle for each in waits] == ["s[0]", "s[1]"]
    assert {each.space for each in made.buffers.made.values() if each.id.startswith("s ")} == {1}


def test_a_copy_between_memories_of_one_device_is_no_copy_to_where_it_is() -> None:
    lines = (
        SUM.replace("ROOT r", "q"),
        "s = (f32[1,2]{1,0:S(1)}, f32[1,2]{1,0}, u32[]) copy-start(q)",
        "ROOT d = f32[1,2]{1,0:S(1)} copy-done(s)",
    )
    found = verdicts(f"{ADD}\n{entry(*lines, of='f32[1,2]{1,0}')}")
    assert (found["law.C1"], found["copies.C1"], found["copies.C2"]) == ("held", "held", "silent")


def test_only_those_who_send_read_in_a_permute_that_is_started() -> None:
    pairs = "channel_id=1, source_target_pairs={{0,1}}"
    lines = (
        f"s = (f32[2]{{0}}, f32[2]{{0}}, u32[], u32[]) collective-permute-start(p), {pairs}",
        "ROOT d = f32[2]{0} collective-permute-done(s)",
    )
    start, wait = walk(entry(*lines)).items
    assert isinstance(start, Collective)
    assert (start.op, start.attrs, start.participants) == ("permute", {"pairs": ((0, 1),)}, ("0", "1"))
    assert [(each.buffer, each.write) for each in start.accesses] == [("a[0]", False), ("s[0]", True), ("s[1]", True)]
    assert wait == Wait(id="d", handle="s")


def test_each_group_meets_in_a_collective_of_its_own() -> None:
    gather = "ROOT g = f32[4]{0} all-gather(p), channel_id=1, replica_groups={{0,3},{2,1}}, dimensions={0}"
    made = walk(entry(gather), world=4).items
    assert [(each.id, each.participants) for each in made if isinstance(each, Collective)] == [
        ("g/0", ("0", "3")),
        ("g/1", ("2", "1")),
    ]
    assert [each.turns for each in made if isinstance(each, Collective)] == [(0, 0), (0, 0)]


BEGUN = """begin {
  x = f32[2]{0} parameter(0)
  g = f32[4]{0} all-gather(x), channel_id=1, replica_groups={{0,1}}, dimensions={0}
  ROOT c = (f32[2]{0}, f32[4]{0}, u32[]) custom-call(g), custom_call_target="AsyncCollectiveStart"
}
during {
  x = f32[2]{0} parameter(0)
  y = f32[4]{0} parameter(1)
  z = f32[2]{0} parameter(2)
  n = f32[2]{0} negate(z)
  g = f32[4]{0} all-gather(x), channel_id=1, replica_groups={{0,1}}, dimensions={0}
  ROOT t = (f32[2]{0}, f32[4]{0}, f32[4]{0}, f32[2]{0}) tuple(x, y, g, n)
}
end {
  x = f32[2]{0} parameter(0)
  y = f32[4]{0} parameter(1)
  g = f32[4]{0} all-gather(x), channel_id=1, replica_groups={{0,1}}, dimensions={0}
  ROOT c = f32[4]{0} custom-call(x, y, g), custom_call_target="AsyncCollectiveDone"
}
ENTRY e {
  p = f32[2]{0} parameter(0)
  z = f32[2]{0} parameter(1)
  s = (f32[2]{0}, f32[4]{0}, u32[]) fusion(p), kind=kCustom, calls=begin
  x = f32[2]{0} get-tuple-element(s), index=0
  y = f32[4]{0} get-tuple-element(s), index=1
  u = (f32[2]{0}, f32[4]{0}, f32[4]{0}, f32[2]{0}) fusion(x, y, z), kind=kLoop, calls=during
  ux = f32[2]{0} get-tuple-element(u), index=0
  uy = f32[4]{0} get-tuple-element(u), index=1
  n = f32[2]{0} get-tuple-element(u), index=3
  d = f32[4]{0} fusion(ux, uy), kind=kCustom, calls=end
  ROOT r = (f32[4]{0}, f32[2]{0}) tuple(d, n)
}"""


def test_a_collective_of_asynchronous_fusions_is_one_item_beside_what_they_compute() -> None:
    made = walk(BEGUN).items
    assert [(type(each).__name__, each.id) for each in made] == [
        ("Collective", "s"),
        ("Kernel", "u[0]"),
        ("Kernel", "u[1]"),
        ("Wait", "d"),
    ]
    assert all(isinstance(each, Kernel) and each.bodies for each in made[1:3])


LOOP = """body {
  t = (s32[], f32[2]{0}) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[2]{0} get-tuple-element(t), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[2]{0} collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0}}
  ROOT r = (s32[], f32[2]{0}) tuple(next, y)
}
going {
  t = (s32[], f32[2]{0}) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  p = f32[2]{0} parameter(0)
  q = s32[] parameter(1)
  zero = s32[] constant(0)
  t = (s32[], f32[2]{0}) tuple(FIRST, p)
  w = (s32[], f32[2]{0}) while(t), condition=going, body=body
  ROOT r = f32[2]{0} get-tuple-element(w), index=1
}"""


def test_a_loop_of_a_fixed_count_is_written_out() -> None:
    made = walk(LOOP.replace("FIRST", "zero")).items
    assert [each.id for each in made] == ["w/0/y", "w/1/y", "w/2/y"]
    assert [each.turns for each in made if isinstance(each, Collective)] == [(0, 0), (1, 1), (2, 2)]


def test_a_loop_whose_rounds_data_decide_is_refused() -> None:
    with pytest.raises(Unsupported, match="w: a loop whose rounds data decide"):
        walk(LOOP.replace("FIRST", "q"))


def test_a_place_that_the_number_of_the_rank_decides_is_another_one_on_each_rank() -> None:
    lines = (
        "i = u32[] partition-id()",
        "ROOT s = f32[1]{0} dynamic-slice(p, i), dynamic_slice_sizes={1}",
    )
    made = walk(entry(*lines)).items
    maps = [each.accesses[0].map for each in made if isinstance(each, Kernel)]
    assert [found[0].offset for found in maps if found] == [0, 1]


def test_what_is_put_in_the_place_of_an_operand_lies_in_its_buffer() -> None:
    twice = "twice { a = f32[2]{0} parameter(0)\n ROOT b = f32[2]{0} add(a, a) }"
    lines = (
        "q = f32[2]{0} negate(p)",
        "ROOT f = f32[2]{0} fusion(q), kind=kLoop, calls=twice, output_to_operand_aliasing={{}: (0, {})}",
    )
    made = walk(f"{twice}\n{entry(*lines)}").items
    assert {each.buffer for each in made[-1].accesses} == {"q[1]"}  # type: ignore[union-attr]  # the last one is a kernel


def test_a_bitcast_between_orders_of_axes_is_read_through_strides() -> None:
    lines = ("q = f32[3,2]{0,1} bitcast(p)", "ROOT n = f32[3,2]{0,1} negate(q)")
    first = walk(entry(*lines, of="f32[2,3]{1,0}")).items[0]
    assert isinstance(first, Kernel)
    assert first.accesses[0].map is not None
    assert first.accesses[0].map[0].strides == (1, 3)


def test_memory_in_another_width_is_read_by_an_item_without_a_body() -> None:
    lines = ("q = u32[2]{0:T(2)} bitcast(p)", "ROOT n = u32[2]{0:T(2)} not(q)")
    made = walk(entry(*lines, of="u8[8]{0:T(8)}")).items
    assert [(each.id, bool(each.bodies)) for each in made if isinstance(each, Kernel)] == [
        ("shown q[0]", False),
        ("shown q[1]", False),
        ("n[0]", True),
        ("n[1]", True),
    ]


def test_a_part_of_a_tuple_is_no_instruction_of_a_like_name() -> None:
    both = "both { a = f32[2]{0} parameter(0)\n b = f32[2]{0} negate(a)\n ROOT t = (f32[2]{0}, f32[2]{0}) tuple(a, b) }"
    lines = (
        "f = (f32[2]{0}, f32[2]{0}) fusion(p), kind=kLoop, calls=both",
        "f.1 = f32[2]{0} abs(p)",
        "g = f32[2]{0} get-tuple-element(f), index=1",
        "ROOT r = f32[2]{0} add(g, f.1)",
    )
    made = walk(f"{both}\n{entry(*lines)}").items
    written = [each.buffer for item in made[::2] for each in accesses(item) if each.write]
    assert len(written) == len(set(written)) == 4


def test_axes_that_are_folded_in_another_order_are_those_that_are_named() -> None:
    zero, fold = "z = f32[] constant(0)", "ROOT r = f32[4]{0} reduce(p, z), dimensions={2,0}, to_apply=add"
    (first, _) = walk(f"{ADD}\n{entry(zero, fold, of='f32[2,4,3]{2,1,0}')}").items
    assert isinstance(first, Kernel)
    (body,) = first.bodies
    assert [each.axes for each in body.instructions if isinstance(each, Reduce)] == [(1, 2)]
    assert first.accesses[0].map is not None
    assert dict(zip(body.extents, first.accesses[0].map[0].strides, strict=True)) == {4: 3, 2: 12, 3: 1}


def test_a_send_has_no_word() -> None:
    with pytest.raises(Unsupported, match="infeed"):
        walk(entry("t = token[] after-all()", "ROOT i = (f32[2]{0}, token[]) infeed(t)"))


def test_a_value_that_is_a_buffer_is_there_at_once() -> None:
    made = walk(entry("ROOT o = f32[2]{0} opt-barrier(p)"))
    assert made.items == []
    assert isinstance(made.materialised(Stored("a", made.module.entry.root.shape, "float32"), "x"), Stored)
