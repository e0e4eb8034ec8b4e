"""Worked examples as tables: what each rank holds before and after, computed by the reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np
from msgspec.structs import replace as changed

from conformance.cases.case import Case
from conformance.cases.program.step_line import step_line
from conformance.cases.tensor.dtypes import Array
from conformance.reference.spmd import evaluate
from conformance.runner.smoke import example_case
from conformance.specs import Op
from conformance.specs.op import Example

_PAIRS: Final = ((0, 2), (3, 1))
"""Two groups, of which one lists its ranks in another order than theirs."""

_FOUR: Final = [[rank + 1, 10 * (rank + 1)] for rank in range(4)]
_TWO: Final = [[[1, 2], [3, 4]], [[10, 20], [30, 40]]]


def _shown(dtype: str, attrs: dict[str, Any], blocks: Any, groups: Any = None, world: int = 4) -> Example:
    return Example("ours", dtype, attrs, blocks, [None] * world, groups)


def _grouped(attrs: dict[str, Any]) -> Example:
    return _shown("int32", attrs, _FOUR, _PAIRS)


def _square(attrs: dict[str, Any]) -> Example:
    return _shown("int32", attrs, _TWO, None, 2)


FURTHER: Final[dict[str, tuple[Example, ...]]] = {
    "all_gather": (_grouped({"axis": 0, "tiled": True}), _square({"axis": 1, "tiled": True})),
    "all_reduce": (_grouped({"op": "max"}), _square({"op": "sum", "local_axes": (0,)})),
    "all_to_all": (
        _grouped({"split_axis": 0, "concat_axis": 0, "tiled": True}),
        _square({"split_axis": 1, "concat_axis": 0, "tiled": True}),
        _square({"split_axis": 0, "concat_axis": 1, "tiled": False}),
    ),
    "all_to_all_uneven": (
        _shown("int32", {"sends": ((1, 1), (0, 2)), "receives": ((1, 0), (1, 2))}, _FOUR, ((0, 2), (3, 1))),
        _square({"sends": ((0, 2), (1, 1)), "receives": ((0, 1), (2, 1))}),
    ),
    "arg_reduce": (_grouped({"op": "max"}), _square({"op": "min"})),
    "axis_index": (_shown("int32", {}, (), _PAIRS),),
    "axis_size": (_shown("int32", {}, (), ((0, 1, 2), (3,))),),
    "broadcast": (_grouped({"root": 1}), _square({"root": 0})),
    "gather": (_grouped({"root": 1, "axis": 0, "tiled": True}), _square({"root": 0, "axis": 1, "tiled": True})),
    "permute": (_grouped({"pairs": ((0, 1),)}), _square({"pairs": ((0, 1), (1, 0))})),
    "ragged_all_to_all": (
        _shown(
            "int32",
            {},
            (
                [[1, 2], [3, 4]],
                [[0, 0], [0, 0]],
                [[0, 1], [0, 1]],
                [[1, 1], [1, 1]],
                [[0, 0], [1, 1]],
                [[1, 1], [1, 1]],
            ),
            ((1, 0),),
            2,
        ),
        _shown(
            "int32",
            {},
            (_TWO, [[[0, 0]] * 3] * 2, [[0, 0], [0, 0]], [[1, 1], [0, 2]], [[0, 0], [0, 1]], [[1, 0], [1, 2]]),
            None,
            2,
        ),
    ),
    "reduce": (_grouped({"op": "sum", "root": 1}), _square({"op": "max", "root": 0})),
    "reduce_constant": (_shown("int32", {"value": 3}, (), ((0, 1, 2), (3,))),),
    "reduce_scatter": (
        _grouped({"op": "sum", "axis": 0, "tiled": True}),
        _square({"op": "sum", "axis": 1, "tiled": True}),
    ),
    "scan": (_grouped({"op": "sum", "exclusive": True}), _square({"op": "max", "exclusive": False})),
    "scatter": (_grouped({"root": 1, "axis": 0, "tiled": True}), _square({"root": 0, "axis": 1, "tiled": False})),
    "shuffle": (_grouped({"sources": (1, 0)}), _square({"sources": (1, 0)})),
}
"""Examples beside those of the sources: one with groups, and one of blocks with two axes, where there are blocks."""


PASSED: Final = (
    _shown("int32", {"pairs": ((0, 1), (1, 2), (2, 3))}, _FOUR),
    _grouped({"pairs": ((0, 1),)}),
    _square({"pairs": ((0, 1), (1, 0))}),
)
"""Messages: a send and the recv that takes its token, neither of which shows anything alone."""

MESSAGES: Final = ("send", "recv")


def examples(op: Op) -> tuple[Example, ...]:
    """Return the first example of an operation, then those of this specification, or else its others."""
    return PASSED if op.name in MESSAGES else (*op.examples[:1], *FURTHER.get(op.name, op.examples[1:]))


def worked(op: Op) -> Iterator[Example]:
    """Yield the examples of the sources and of this specification, each with the results that the reference gives."""
    for example in PASSED if op.name in MESSAGES else (*op.examples, *FURTHER.get(op.name, ())):
        results = evaluate(_case(op.name, example))["y"]
        yield replace(example, results=[None if each is None else np.asarray(each).tolist() for each in results])


def _case(name: str, example: Example) -> Case:
    return _message(example) if name in MESSAGES else example_case(name, example)


def example_lines(op: Op) -> Iterator[str]:
    """Yield the lines of the examples of an operation; of none, why there is none."""
    if op.name in MESSAGES:
        yield from _message_lines()
        return
    if not examples(op):
        yield from (f"**Example.** {op.no_example}", "")
    for number, example in enumerate(examples(op)):
        title = "**Examples.** " if number == 0 else ""
        yield from (f"{title}{example_call(op.name, example)}", "", *example_table(op.name, example), "")


def _message_lines() -> Iterator[str]:
    """Yield the lines of examples of messages, each a program of two steps."""
    for number, example in enumerate(PASSED):
        case = _message(example)
        written = " and ".join(f"`{step_line(step)}`" for step in case.program.steps)
        title = "**Examples.** " if number == 0 else ""
        yield f"{title}{written} on the mesh `i = {case.program.world}`, of {example.dtype}:"
        yield from ("", *_table(case), "")


def _message(example: Example) -> Case:
    """Return the program that sends blocks along pairs and takes them out."""
    case = example_case("permute", example)
    (step,), block = case.program.steps, case.inputs["x"].blocks[0]
    taken = {**step.attrs, "shape": tuple(block.shape), "dtype": block.dtype}
    steps = (
        changed(step, op="send", outputs=("t",)),
        changed(step, op="recv", inputs=("t",), attrs=taken),
    )
    return changed(case, program=changed(case.program, steps=steps))


def example_call(name: str, example: Example) -> str:
    """Return the step of an example as it is written, with the mesh and the dtype of its first operand."""
    program = example_case(name, example).program
    given = f", of {example.dtype}" if program.steps[0].inputs else ""
    return f"`{step_line(program.steps[0])}` on the mesh `i = {program.world}`{given}:"


def example_table(name: str, example: Example) -> list[str]:
    """Return the lines of a Markdown table with one row a rank."""
    return _table(example_case(name, example))


def _table(case: Case) -> list[str]:
    before = case.blocks()
    results = evaluate(case)["y"]
    titles = list(before) if len(before) > 1 else ["block"] * len(before)
    lines = [f"| rank | {' | '.join([*titles, 'result'])} |", "|" + " --- |" * (len(titles) + 2)]
    for rank, result in enumerate(results):
        cells = [_cell(blocks[rank]) for blocks in before.values()]
        lines.append(f"| {rank} | {' | '.join([*cells, _cell(result)])} |")
    return lines


def _cell(block: Array | None) -> str:
    return "nothing" if block is None else f"`{np.asarray(block).tolist()}`"
