"""Literals: the inputs of a case and its expected results, as a script writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from conformance.cases.case import Case
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.reproduce.source_text import literal

Block = Tensor | np.ndarray[Any, Any] | None


def inputs_of(case: Case) -> str:
    """Return the literal of all inputs: by name a list with (dtype, shape, bits, layout) for each rank."""
    entries = {
        name: [
            (block.dtype, block.shape, block.bits, layout)
            for block, layout in zip(operand.blocks, operand.layouts, strict=True)
        ]
        for name, operand in case.inputs.items()
    }
    return _table(entries)


def results_of(results: Mapping[str, Sequence[Block]]) -> str:
    """Return the literal of results: by name a list with (dtype, shape, bits), or ``None``, for each rank."""
    return _table({name: [_entry(block) for block in blocks] for name, blocks in results.items()})


def _entry(block: Block) -> tuple[str, tuple[int, ...], str] | None:
    if block is None:
        return None
    tensor = block if isinstance(block, Tensor) else from_array(block)
    return tensor.dtype, tensor.shape, tensor.bits


def _table(entries: Mapping[str, Sequence[object]]) -> str:
    lines = [
        f"    {literal(name)}: [\n" + "".join(f"        {literal(each)},\n" for each in each_of) + "    ],\n"
        for name, each_of in entries.items()
    ]
    return "{\n" + "".join(lines) + "}" if lines else "{}"
