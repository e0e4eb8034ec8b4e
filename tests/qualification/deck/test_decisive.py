"""Enumerated cases whose values decide: every operation and reduction of every dtype, and what tells it from others."""

from __future__ import annotations

from itertools import product

import ml_dtypes
import numpy as np

from conformance.cases.tensor.dtypes import DRAWN, NUMPY, kind
from conformance.generate.tables.calls import CALLS
from conformance.qualification.deck.decisive import calls, graphs, sharded, typed
from conformance.qualification.deck.decisive.values import classes, convertible, met
from conformance.reference.reductions import BITWISE, ORDER


def test_every_two_bools_meet() -> None:
    one, other = (met(classes("bool"), (9,), rank).tolist() for rank in range(2))
    assert {*zip(one, other, strict=True)} == {*product((False, True), repeat=2)}


def test_every_two_values_of_the_first_rank_and_of_another_meet() -> None:
    for dtype in DRAWN:
        values = classes(dtype)
        blocks = [met(values, (len(values) ** 2,), rank).tobytes() for rank in range(3)]
        width = NUMPY[dtype].itemsize
        rows = [[block[at : at + width] for at in range(0, len(block), width)] for block in blocks]
        distinct = len({value.tobytes() for value in values})
        assert [len({*zip(rows[0], rows[rank], strict=True)}) for rank in (1, 2)] == [distinct**2] * 2


def test_the_greatest_of_unsigned_numbers_is_another_one_where_they_are_taken_as_signed() -> None:
    for dtype in ("uint8", "uint16", "uint32", "uint64"):
        one, other = (met(classes(dtype), (15, 15), rank) for rank in range(2))
        signed = dtype.removeprefix("u")
        assert (np.maximum(one, other) != np.maximum(one.view(signed), other.view(signed)).view(dtype)).any()


def test_integers_tell_rounding_to_a_float_of_16_bits_from_truncation() -> None:
    for dtype in ("int16", "uint16", "int32", "uint32", "int64", "uint64"):
        wide = convertible(dtype).astype(np.float32)
        cut = (wide.view(np.uint32) & 0xFFFF0000).view(np.float32)
        assert (wide.astype(ml_dtypes.bfloat16).astype(np.float32) != cut).any()


def test_each_reduction_that_a_dtype_takes_is_asked_of_each_operation() -> None:
    asked = {
        (step.op, step.attrs["op"], case.inputs["x"].blocks[0].dtype)
        for case in calls.reductions()
        for step in case.program.steps
    }
    ops = ("all_reduce", "reduce_scatter", "reduce", "scan")
    ordered = [dtype for dtype in DRAWN if kind(dtype) != "complex"]
    bits = [dtype for dtype in DRAWN if kind(dtype) in ("bool", "integer")]
    assert {*product(ops, ("sum", "product"), DRAWN), *product((*ops, "arg_reduce"), ORDER, ordered)} <= asked
    assert {*product(ops, BITWISE, bits)} <= asked


def test_each_listed_call_is_asked_alone_on_ranks_that_differ_in_one_group_and_in_two() -> None:
    asked = [(case.program.steps[0], case.inputs["x"].blocks) for case in calls.attributes()]
    assert {(step.op, step.groups is None) for step, _ in asked} == {
        *product({call.op for call in CALLS}, (True, False))
    }
    assert len(asked) == 2 * len(CALLS)
    assert all(len({*blocks}) == len(blocks) for _, blocks in asked)


def test_each_exchange_of_ragged_rows_that_has_gaps_leaves_rows_between_untouched() -> None:
    shapes = {case.inputs["output"].blocks[0].shape for case in calls.ragged()}
    assert {len(shape) for shape in shapes} == {1, 2, 3}
    assert len([*calls.ragged()]) > 20


def test_each_start_of_a_collective_has_two_dones() -> None:
    dones = [[step.op for step in case.program.steps].count("done") for case in calls.waited_twice()]
    assert {*dones} == {2}
    assert len(dones) > 20


def test_two_dones_wait_for_each_start_of_a_typed_program_for_each_question() -> None:
    found = [*typed.waited_twice()]
    assert {case.kind for case in found} >= {"lowered", "types", "transposed", "pushed"}
    assert all(sum(step.op == "done" for step in case.program.steps) == 2 for case in found)


def test_each_dtype_is_converted_to_every_other_one() -> None:
    pairs = {
        (next(iter(case.buffers.values())).dtype, node.dtype)
        for case in graphs.conversions()
        for node in case.graph.nodes
        if node.op == "cast"
    }
    assert len(pairs) == len(DRAWN) * (len(DRAWN) - 1)


def test_operations_of_one_element_are_asked_on_two_devices() -> None:
    asked = {(node.arg, node.device) for case in graphs.of_one_element() for node in case.graph.nodes}
    assert {*product(("where", "max", "xor"), ("d0", "d1"))} <= asked


def test_folds_are_asked_of_tensors_that_are_split_along_what_is_folded() -> None:
    for case in sharded.folds():
        assert [split.axis for split in case.homes["b0"].splits] == [0]
    assert len([*sharded.folds()]) == len(DRAWN)


def test_constants_are_operands_and_are_converted() -> None:
    first = [case.graph.nodes for case in graphs.of_constants()]
    assert all(any(node.op == "const" for node in nodes) for nodes in first)
    assert len(first) == 2 * len(DRAWN)
