"""Shape and dtype of what each operation gives, with the clauses that say so, and the clauses about each argument."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Result:
    """The result of an operation in one ``form``.

    ``shape`` is a Python expression of ``shape``, that of a block, and ``n``, the size of the group, with the
    attributes by name and axes counted from 0; empty where nothing is given. ``dtype`` is in words.
    """

    form: str
    shape: str
    dtype: str
    clauses: tuple[str, ...]


_SAME: Final = "that of the block"
_FOLDED: Final = "that of the block; of `sum` and `product` of bools int32, of `mean` of integers and bools float64"
_FOLDS: Final = ("reduction.C11", "reduction.C13")

RESULTS: Final[dict[str, tuple[Result, ...]]] = {
    "all_gather": (
        Result("untiled", "shape[:axis] + (n,) + shape[axis:]", _SAME, ("all_gather.C2",)),
        Result("tiled", "shape[:axis] + (n * shape[axis],) + shape[axis + 1:]", _SAME, ("all_gather.C3",)),
    ),
    "all_reduce": (
        Result("without local axes", "shape", _FOLDED, ("all_reduce.C1", *_FOLDS)),
        Result(
            "with `local_axes`",
            "tuple(shape[at] for at in range(len(shape)) if at not in local_axes)",
            _FOLDED,
            ("all_reduce.C2", *_FOLDS),
        ),
    ),
    "all_to_all": (
        Result(
            "untiled",
            "rest[:concat_axis] + (n,) + rest[concat_axis:], where rest = shape[:split_axis] + shape[split_axis + 1:]",
            _SAME,
            ("all_to_all.C2",),
        ),
        Result(
            "tiled",
            "tuple(extent // (n if at == split_axis else 1) * (n if at == concat_axis else 1) "
            "for at, extent in enumerate(shape))",
            _SAME,
            ("all_to_all.C3",),
        ),
    ),
    "all_to_all_uneven": (
        Result("on the member at position p", "(sum(receives[p]),) + shape[1:]", _SAME, ("all_to_all_uneven.C1",)),
    ),
    "arg_reduce": (Result("", "shape", "int32", ("arg_reduce.C1",)),),
    "axis_index": (Result("", "()", "int32", ("axis_index.C1",)),),
    "axis_size": (Result("", "()", "int32", ("axis_size.C1",)),),
    "barrier": (Result("", "", "", ("barrier.C1",)),),
    "broadcast": (Result("", "shape", _SAME, ("broadcast.C1",)),),
    "gather": (
        Result("untiled, on the root", "shape[:axis] + (n,) + shape[axis:]", _SAME, ("gather.C1", "gather.C2")),
        Result(
            "tiled, on the root",
            "shape[:axis] + (n * shape[axis],) + shape[axis + 1:]",
            _SAME,
            ("gather.C1", "gather.C3"),
        ),
        Result("on other members", "", "", ("gather.C1", "aliasing.C14")),
    ),
    "permute": (Result("", "shape", _SAME, ("permute.C1", "permute.C2")),),
    "ragged_all_to_all": (Result("", "output_shape", "that of `output`", ("ragged_all_to_all.C2",)),),
    "recv": (Result("", "attribute_shape", "the attribute `dtype`", ("recv.C1", "recv.C2")),),
    "reduce": (
        Result("on the root", "shape", _FOLDED, ("reduce.C1", *_FOLDS)),
        Result("on other members", "", "", ("reduce.C1", "aliasing.C14")),
    ),
    "reduce_constant": (
        Result("of a whole number or a bool", "()", "int32", ("reduce_constant.C1",)),
        Result("of a float", "()", "float32", ("reduce_constant.C1", "reduce_constant.C3")),
    ),
    "reduce_scatter": (
        Result("untiled", "shape[:axis] + shape[axis + 1:]", _FOLDED, ("reduce_scatter.C2", *_FOLDS)),
        Result(
            "tiled", "shape[:axis] + (shape[axis] // n,) + shape[axis + 1:]", _FOLDED, ("reduce_scatter.C3", *_FOLDS)
        ),
    ),
    "scan": (Result("", "shape", _FOLDED, ("scan.C1", *_FOLDS)),),
    "scatter": (
        Result("untiled", "shape[:axis] + shape[axis + 1:]", _SAME, ("scatter.C2",)),
        Result("tiled", "shape[:axis] + (shape[axis] // n,) + shape[axis + 1:]", _SAME, ("scatter.C3",)),
    ),
    "send": (Result("", "", "", ("send.C1",)),),
    "shuffle": (Result("", "shape", _SAME, ("shuffle.C1",)),),
}
"""The results of each operation. A barrier gives nothing, and a send a token, which has neither shape nor dtype."""

_BLOCKS: Final = (
    "collective.C2",
    "collective.C4",
    "collective.C11",
    "collective.C16",
    "collective.C19",
    "collective.C20",
)

_ALL: Final[dict[str, tuple[str, ...]]] = {
    "blocks": _BLOCKS,
    "groups": ("collective.C5", "collective.C7", "collective.C8", "collective.C10"),
    "op": ("reduction.C14", "reduction.C15", "reduction.C16"),
    "factor": ("reduction.C8", "reduction.C17", "numerics.C19"),
    "pairs": ("pairs.C1", "pairs.C2", "pairs.C3", "pairs.C4"),
}
"""Clauses about arguments that several operations have."""

ARGUMENTS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "all_gather": {
        "axis": ("all_gather.C1", "all_gather.C4", "all_gather.C5"),
        "tiled": ("all_gather.C2", "all_gather.C3"),
    },
    "all_reduce": {
        "local_axes": (
            "all_reduce.C2",
            "all_reduce.C3",
            "all_reduce.C4",
            "all_reduce.C5",
            "all_reduce.C6",
            "all_reduce.C7",
        )
    },
    "all_to_all": {
        "split_axis": ("all_to_all.C1", "all_to_all.C4", "all_to_all.C5", "all_to_all.C7", "all_to_all.C8"),
        "concat_axis": ("all_to_all.C4", "all_to_all.C6", "all_to_all.C9"),
        "tiled": ("all_to_all.C2", "all_to_all.C3"),
    },
    "all_to_all_uneven": {
        "sends": ("all_to_all_uneven.C1", "all_to_all_uneven.C4", "all_to_all_uneven.C6"),
        "receives": ("all_to_all_uneven.C4", "all_to_all_uneven.C5"),
    },
    "arg_reduce": {"op": ("arg_reduce.C2", "arg_reduce.C3", "arg_reduce.C6")},
    "broadcast": {"root": ("broadcast.C1", "broadcast.C2", "broadcast.C3")},
    "gather": {
        "root": ("gather.C1", "gather.C4", "gather.C5"),
        "axis": ("gather.C1", "gather.C6", "gather.C7"),
        "tiled": ("gather.C2", "gather.C3"),
    },
    "permute": {"pairs": ("permute.C1", "permute.C2", "permute.C3")},
    "ragged_all_to_all": {
        "operand": ("ragged_all_to_all.C9", "ragged_all_to_all.C11"),
        "output": ("ragged_all_to_all.C2", "ragged_all_to_all.C9"),
        "input_offsets": (
            "ragged_all_to_all.C6",
            "ragged_all_to_all.C7",
            "ragged_all_to_all.C8",
            "ragged_all_to_all.C11",
        ),
        "send_sizes": ("ragged_all_to_all.C5", "ragged_all_to_all.C8"),
        "output_offsets": ("ragged_all_to_all.C1", "ragged_all_to_all.C4", "ragged_all_to_all.C11"),
        "recv_sizes": ("ragged_all_to_all.C10",),
    },
    "recv": {"tokens": ("recv.C1",), "pairs": ("recv.C4",), "shape": ("recv.C3",), "dtype": ("recv.C3",)},
    "reduce": {"root": ("reduce.C1", "reduce.C2", "reduce.C3")},
    "reduce_constant": {"value": ("reduce_constant.C1", "reduce_constant.C2", "reduce_constant.C3")},
    "reduce_scatter": {
        "axis": (
            "reduce_scatter.C1",
            "reduce_scatter.C4",
            "reduce_scatter.C5",
            "reduce_scatter.C6",
            "reduce_scatter.C7",
        ),
        "tiled": ("reduce_scatter.C2", "reduce_scatter.C3"),
    },
    "scan": {"exclusive": ("scan.C2", "scan.C3", "scan.C4", "scan.C5")},
    "scatter": {
        "root": ("scatter.C1", "scatter.C4", "scatter.C6"),
        "axis": ("scatter.C1", "scatter.C5", "scatter.C7", "scatter.C8", "scatter.C9"),
        "tiled": ("scatter.C2", "scatter.C3"),
    },
    "shuffle": {"sources": ("shuffle.C1", "shuffle.C2")},
}
"""The clauses about the arguments of each operation, beside those that several have."""


def about_argument(op: str, name: str) -> tuple[str, ...]:
    """Return the ids of the clauses about an argument of an operation."""
    uneven = ("collective.C6",) if name == "groups" else ()
    return tuple(dict.fromkeys((*ARGUMENTS.get(op, {}).get(name, ()), *_ALL.get(name, ()), *uneven)))


def result_lines(op: str) -> list[str]:
    """Return the lines of the table of results."""
    lines = ["**Result.** `shape` is that of a block, and `n` the size of its group:", ""]
    lines += ["| form | shape | dtype | clauses |", "| --- | --- | --- | --- |"]
    for each in RESULTS[op]:
        named = ", ".join(f"`{clause}`" for clause in each.clauses)
        shape = f"`{each.shape}`" if each.shape else "nothing"
        lines.append(f"| {each.form or 'every'} | {shape} | {each.dtype} | {named} |")
    return [*lines, ""]
