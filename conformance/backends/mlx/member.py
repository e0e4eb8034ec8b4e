"""The process of one member of a ring."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from conformance.cases.tensor.dtypes import NUMPY, Array


def serve(calls: Any, place: Mapping[str, str]) -> None:
    """Answer calls, a function's name and a block each, until the pipe ends.

    ``place`` are the variables that say where in a ring this is; who is alone is in none.
    """
    import mlx.core as mx

    os.environ.update(place)
    mx.set_default_device(mx.cpu)
    if place:
        mx.distributed.init(backend="ring", strict=True)
    while True:
        try:
            function, block = calls.recv()
        except EOFError:
            return
        try:
            result = getattr(mx.distributed, function)(_given(mx, block), stream=mx.cpu)
            mx.eval(result)
            calls.send(_taken(mx, result))
        except Exception as error:  # noqa: BLE001 - what MLX raises is its answer
            calls.send(error)


def _given(mx: Any, block: Array) -> Any:
    """Return a block as an array of MLX; NumPy's bfloat16 is no type of its buffers, so its bits are handed over."""
    if block.dtype == NUMPY["bfloat16"]:
        return mx.array(block.view(np.uint16)).view(mx.bfloat16)
    return mx.array(block, dtype=mx.float64) if block.dtype == np.float64 else mx.array(block)


def _taken(mx: Any, result: Any) -> Array:
    if result.dtype == mx.bfloat16:
        return np.array(result.view(mx.uint16)).view(NUMPY["bfloat16"])
    return np.array(result)
