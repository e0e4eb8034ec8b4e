"""What HLO for TPUs means: modules are evaluated by NumPy, and a module with another meaning has another value."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.backends.jax.hlo.module import Module, Shape, read_module
from conformance.backends.jax.tpu.evaluate import evaluated
from conformance.backends.jax.tpu.pairs import BrokenPair
from conformance.backends.jax.tpu.tiling import positions, reinterpreted
from conformance.cases.tensor.dtypes import NUMPY, Array

RANKS = np.arange(8, dtype=np.float32).reshape(4, 2)
"""A block of two for each of four ranks."""


def value(text: str, *given: Array, world: int = 4) -> Array:
    found: Array = evaluated(module(text), world, given)
    return found


def module(text: str) -> Module:
    hlo = pytest.importorskip("jaxlib._hlo")
    folds = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }"
    whole = f"HloModule m, is_scheduled=true, num_partitions=4\n{folds if 'to_apply=add' in text else ''}\n{text}"
    return read_module(hlo.hlo_module_from_text(whole).as_serialized_hlo_module_proto())


def entry(*lines: str, of: str = "f32[2]{0}") -> str:
    return "\n".join(["ENTRY e {", f"p = {of} parameter(0)", *lines, "}"])


def test_a_tile_is_stored_as_a_whole_and_edges_are_padded() -> None:
    rows = Shape("float32", (3, 3), (1, 0), tiles=((2, 2),))
    assert positions(rows).tolist() == [[0, 1, 4], [2, 3, 6], [8, 9, 12]]


def test_a_tile_within_a_tile_puts_rows_beside_each_other() -> None:
    packed = Shape("bfloat16", (4, 2), (1, 0), tiles=((4, 2), (2, 1)))
    assert positions(packed).tolist() == [[0, 2], [1, 3], [4, 6], [5, 7]]


def test_the_axis_that_lies_closest_is_the_last_of_a_tile() -> None:
    turned = Shape("float32", (2, 3), (0, 1), tiles=((2, 2),))
    assert positions(turned).tolist() == [[0, 2, 4], [1, 3, 5]]


def test_padding_that_a_bitcast_shows_is_poison() -> None:
    small, whole = Shape("float32", (1,), (0,), tiles=((4,),)), Shape("float32", (4,), (0,), tiles=((4,),))
    shown = reinterpreted(np.ones((1, 1), np.float32), small, whole, np.dtype(np.float32))
    assert shown[0, 0] == 1
    assert np.isnan(shown[0, 1:]).all()
    assert reinterpreted(shown, whole, small, np.dtype(np.float32)).tolist() == [[1]]


def test_padding_that_is_cropped_to_zero_is_zero() -> None:
    cropped = entry('ROOT c = f32[4]{0:T(4)} custom-call(p), custom_call_target="ZeroCrop"', of="f32[2]{0:T(4)}")
    assert value(cropped, RANKS)[1].tolist() == [2, 3, 0, 0]


@pytest.mark.parametrize(
    ("edges", "expected"),
    [("1_1", [9, 0, 1, 9]), ("0_0_1", [0, 9, 1]), ("-1_1", [1, 9]), ("-1_0_2", [9, 9, 1]), ("2_-1", [9, 9, 0])],
)
def test_pads_have_edges_of_either_sign_and_gaps(edges: str, expected: list[int]) -> None:
    lines = ("nine = f32[] constant(9)", f"ROOT r = f32[{len(expected)}]{{0}} pad(p, nine), padding={edges}")
    assert value(entry(*lines), RANKS)[0].tolist() == expected


def test_a_gather_takes_rows_and_moves_starts_inside() -> None:
    lines = (
        "i = s32[2]{0} constant({1, 7})",
        "ROOT r = f32[2,1]{1,0} gather(p, i), offset_dims={1}, collapsed_slice_dims={}, start_index_map={0},"
        " index_vector_dim=1, slice_sizes={1}",
    )
    assert value(entry(*lines), RANKS)[2].tolist() == [[5], [5]]


@pytest.mark.parametrize(
    ("instruction", "on_rank_1"),
    [
        ("f32[4]{0} all-gather(p), dimensions={0}, replica_groups={{0,2},{3,1}}", [6, 7, 2, 3]),
        ("f32[2]{0} all-to-all(p), dimensions={0}, replica_groups={{0,2},{3,1}}", [7, 3]),
        ("f32[2]{0} all-reduce(p), to_apply=add, replica_groups={{0,2},{3,1}}", [8, 10]),
        ("f32[1]{0} reduce-scatter(p), to_apply=add, dimensions={0}, replica_groups={{0,2},{3,1}}", [10]),
        ("f32[2]{0} collective-permute(p), source_target_pairs={{0,2},{3,1}}", [6, 7]),
        ("f32[2]{0} collective-permute(p), source_target_pairs={{1,2}}", [0, 0]),
    ],
)
def test_collectives_follow_their_groups_in_member_order(instruction: str, on_rank_1: list[int]) -> None:
    ids = "" if "permute" in instruction or "to-all" in instruction else ", use_global_device_ids=true"
    assert value(entry(f"ROOT r = {instruction}, channel_id=1{ids}"), RANKS)[1].tolist() == on_rank_1


def test_a_collective_may_round_to_another_dtype() -> None:
    lines = ("ROOT r = bf16[2]{0} all-reduce(p), to_apply=add, channel_id=1, replica_groups={{0,1,2,3}},"
             " use_global_device_ids=true",)  # fmt: skip
    assert value(entry(*lines), RANKS + 300)[0].astype(np.float32).tolist() == [1216, 1216]


PACKED = """halves {
  a = u32[] parameter(0)
  b = u32[] parameter(1)
  w = u32[] constant(16)
  al = u16[] convert(a)
  bl = u16[] convert(b)
  low = u16[] add(al, bl)
  ar = u32[] shift-right-logical(a, w)
  br = u32[] shift-right-logical(b, w)
  ah = u16[] convert(ar)
  bh = u16[] convert(br)
  high = u16[] add(ah, bh)
  h = u32[] convert(high)
  hs = u32[] shift-left(h, w)
  l = u32[] convert(low)
  ROOT r = u32[] or(hs, l)
}
"""


def test_narrow_numbers_are_folded_as_parts_of_words() -> None:
    lines = ("ROOT r = u32[1]{0} all-reduce(p), to_apply=halves, channel_id=1, replica_groups={{0,1,2,3}},"
             " use_global_device_ids=true",)  # fmt: skip
    given = np.full((4, 1), 0x0001_FFFF, np.uint32)
    assert value(PACKED + entry(*lines, of="u32[1]{0}"), given)[3].tolist() == [0x0004_FFFC]


def test_a_pair_gives_what_its_start_began() -> None:
    lines = (
        "s = (f32[2]{0}, f32[2]{0}, u32[], u32[]) collective-permute-start(p), channel_id=1,"
        " source_target_pairs={{0,1},{1,0}}",
        "ROOT d = f32[2]{0} collective-permute-done(s)",
    )
    assert value(entry(*lines), RANKS)[0].tolist() == [2, 3]


RIGHT = entry(
    "c = f32[2]{0} collective-permute(p), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3},{3,0}}",
    "s = f32[1]{0} slice(c), slice={[1:2]}",
    "r = f32[1]{0} all-reduce(s), to_apply=add, channel_id=2, replica_groups={{0,1},{2,3}}, use_global_device_ids=true",
    "ROOT n = f32[1]{0} negate(r)",
)


def test_a_module_is_worth_what_its_instructions_say() -> None:
    assert value(RIGHT, RANKS).tolist() == [[-8]] * 4


@pytest.mark.parametrize(
    ("old", "new"),
    [("{1,2},{2,3},{3,0}", "{1,0},{2,3},{3,2}"), ("[1:2]", "[0:1]"), ("{{0,1},{2,3}}", "{{0,2},{1,3}}")],
    ids=["other pairs", "another slice", "other groups"],
)
def test_a_module_of_another_meaning_has_another_value(old: str, new: str) -> None:
    assert old in RIGHT
    assert value(RIGHT.replace(old, new), RANKS).tolist() != [[-8]] * 4


@pytest.mark.parametrize(
    ("wide", "narrow", "given"),
    [("s64", "s32", np.array([[-1, 2**40 + 3]])), ("f64", "f32", np.array([[0.5, 1 + 2.0**-40]]))],
)
def test_numbers_of_64_bits_are_pairs(wide: str, narrow: str, given: Array) -> None:
    lines = (
        f'l = {narrow}[2]{{0}} custom-call(p), custom_call_target="X64SplitLow"',
        f'h = {narrow}[2]{{0}} custom-call(p), custom_call_target="X64SplitHigh"',
        f'ROOT r = {wide}[2]{{0}} custom-call(l, h), custom_call_target="X64Combine"',
    )
    assert value(entry(*lines, of=f"{wide}[2]{{0}}"), given, world=1).tolist() == given.tolist()


def _ragged(sizes: list[int]) -> list[list[float]]:
    text = entry(
        "o = f32[2]{0} parameter(1)", "i = s32[4]{0} parameter(2)", "n = s32[4]{0} parameter(3)",
        "a = s32[4]{0} parameter(4)", "m = s32[4]{0} parameter(5)",
        "ROOT r = f32[2]{0} ragged-all-to-all(p, o, i, n, a, m), channel_id=1, replica_groups={{0,1},{2,3}}",
    )  # fmt: skip
    rows = [np.tile(np.array(each, np.int32), (4, 1)) for each in ([0, 1, 0, 1], sizes, [0, 1, 0, 1], sizes)]
    found: list[list[float]] = value(text, RANKS, np.full((4, 2), 9, np.float32), *rows).tolist()
    return found


def test_a_ragged_exchange_has_several_slices_for_a_member() -> None:
    assert _ragged([0, 1, 0, 0]) == [[9, 3], [9, 9], [9, 7], [9, 9]]


def test_rows_that_are_not_there_are_refused_by_nobody() -> None:
    assert _ragged([0, 2, 0, 0]) == _ragged([0, 1, 0, 0])


def test_a_started_collective_whose_operand_changed_is_a_broken_pair() -> None:
    text = entry(
        "q = f32[2]{0} negate(p)",
        'ROOT d = f32[2]{0} custom-call(p, p, q), custom_call_target="AsyncCollectiveDone"',
    )
    with pytest.raises(BrokenPair, match="another value when it ended"):
        value(text, RANKS)


LATE = """
twice {
  a = f32[2]{0} parameter(0)
  ROOT b = f32[2]{0} add(a, a)
}
ENTRY e {
  p = f32[2]{0} parameter(0)
  q = f32[2]{0} negate(p)
  s = (f32[2]{0:S(1)}, f32[2]{0}, u32[]) copy-start(q)
  f = f32[2]{0} fusion(q), kind=kLoop, calls=twice, output_to_operand_aliasing={{}: (0, {})}
  d = f32[2]{0:S(1)} copy-done(s)
  ROOT r = f32[2]{0} add(f, d)
}"""


def test_what_is_started_and_done_late_reads_what_is_there_by_then() -> None:
    with pytest.raises(BrokenPair, match="results are other values where what is started is done as late as it may be"):
        value(LATE, RANKS)
    assert value(LATE.replace(", output_to_operand_aliasing={{}: (0, {})}", ""), RANKS)[1].tolist() == [-6, -9]


def test_partial_results_of_16_bits_stay_wider() -> None:
    summed = """more { a = bf16[] parameter(0)\n b = bf16[] parameter(1)\n ROOT c = bf16[] add(a, b) }
    ENTRY e {
      p = bf16[3]{0} parameter(0)
      z = bf16[] constant(0)
      ROOT r = bf16[] reduce(p, z), dimensions={0}, to_apply=more
    }"""
    given = np.array([[256, 1, 1]] * 4, NUMPY["bfloat16"])
    assert value(summed, given)[0] == 258


def test_a_scatter_leaves_out_what_is_not_inside() -> None:
    last = """last {
      a = f32[] parameter(0)
      ROOT b = f32[] parameter(1)
    }
    ENTRY e {
      p = f32[2]{0} parameter(0)
      i = s32[3,1]{1,0} constant({{1},{5},{-1}})
      u = f32[3]{0} constant({7, 8, 9})
      ROOT s = f32[2]{0} scatter(p, i, u), update_window_dims={}, inserted_window_dims={0},
        scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=last
    }"""
    assert value(last, RANKS)[0].tolist() == [0, 7]


def test_a_scatter_of_several_operands_sets_the_same_places_of_each() -> None:
    halves = """both {
      a = f32[] parameter(0)
      b = f32[] parameter(1)
      c = f32[] parameter(2)
      d = f32[] parameter(3)
      ROOT t = (f32[], f32[]) tuple(c, d)
    }
    ENTRY e {
      p = f32[2]{0} parameter(0)
      q = f32[2]{0} negate(p)
      i = s32[1,1]{1,0} constant({{1}})
      u = f32[1]{0} constant({7})
      v = f32[1]{0} constant({8})
      s = (f32[2]{0}, f32[2]{0}) scatter(p, q, i, u, v), update_window_dims={}, inserted_window_dims={0},
        scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=both
      x = f32[2]{0} get-tuple-element(s), index=0
      y = f32[2]{0} get-tuple-element(s), index=1
      ROOT z = f32[2]{0} subtract(x, y)
    }"""
    assert value(halves, RANKS)[1].tolist() == [4, -1]


def test_the_least_integer_is_divided_towards_zero() -> None:
    three = (
        "ENTRY e {\n p = s32[2]{0} parameter(0)\n t = s32[2]{0} constant({3, -3})\n ROOT d = s32[2]{0} divide(p, t)\n}"
    )
    given = np.full((4, 2), np.iinfo(np.int32).min, np.int32)
    assert value(three, given)[0].tolist() == [-715827882, 715827882]


def test_bits_before_the_first_that_is_set_are_counted() -> None:
    zeros = "ENTRY e {\n p = u8[3]{0} parameter(0)\n ROOT z = u8[3]{0} count-leading-zeros(p)\n}"
    assert value(zeros, np.tile(np.array([0, 1, 255], np.uint8), (4, 1)))[0].tolist() == [8, 7, 0]


def test_two_arrays_are_folded_at_once() -> None:
    both = """both {
      a = f32[] parameter(0)
      i = s32[] parameter(1)
      b = f32[] parameter(2)
      j = s32[] parameter(3)
      c = pred[] compare(b, a), direction=GT
      m = f32[] select(c, b, a)
      n = s32[] select(c, j, i)
      ROOT t = (f32[], s32[]) tuple(m, n)
    }
    ENTRY e {
      p = f32[2]{0} parameter(0)
      k = s32[2]{0} iota(), iota_dimension=0
      l = f32[] constant(-1)
      z = s32[] constant(0)
      r = (f32[], s32[]) reduce(p, k, l, z), dimensions={0}, to_apply=both
      ROOT n = s32[] get-tuple-element(r), index=1
    }"""
    assert value(both, np.array([[3, 1], [1, 3], [2, 2], [0, 5]], np.float32)).tolist() == [0, 1, 0, 1]
