"""What values of a round are worth, read from where they lie."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from conformance.backends.opencl.fuse.partition import reachable
from conformance.backends.opencl.graph.constant_values import constant_array
from conformance.backends.opencl.graph.index_map import IndexMap, elements, identity
from conformance.backends.opencl.lower.values import Wanted
from conformance.backends.opencl.runtime.engine import Engine
from conformance.backends.opencl.runtime.memory import Storage
from conformance.backends.opencl.runtime.prepared import PreparedRound
from conformance.cases.tensor.dtypes import NUMPY, Array

NOTHING: Final[Mapping[str, Storage]] = MappingProxyType({})


def worths(
    prepared: PreparedRound,
    numbers: Collection[int],
    storages: Sequence[Storage],
    engine: Engine,
    held: Mapping[str, Storage] = NOTHING,
) -> dict[int, Array]:
    """Return by number what values of a round are worth, of its ``storages`` and of those ``held``; block once.

    Those without a storage are made of constants alone.
    """
    wanted: dict[int, tuple[int, Storage]] = {}
    lying: dict[int, tuple[int, slice]] = {}
    for number in numbers:
        spot, device = prepared.spots.get(number), prepared.wanted[number].value.device
        if spot is not None:
            storage, part = storages[spot.place], slice(spot.start, spot.stop)
        elif number in prepared.before:
            storage, part = held[prepared.before[number]], slice(None)
        else:
            continue
        wanted[id(storage)] = device, storage
        lying[number] = id(storage), part
    contents = dict(zip(wanted, engine.fetched(list(wanted.values())), strict=True))
    parts = {number: contents[one][part] for number, (one, part) in lying.items()}
    return {number: worth(prepared.wanted[number], parts.get(number)) for number in numbers}


def worth(wanted: Wanted, content: Array | None) -> Array:
    """Return what a value is worth: the bytes that lie in its storage, or without one what constants make."""
    value = wanted.value
    if content is None:
        if value.op != "const" and value.size:
            return constant_array(value, reversed(reachable([value])))
        bits = value.arg if value.op == "const" else bytes(NUMPY[value.dtype].itemsize)
        return np.broadcast_to(np.frombuffer(bits, NUMPY[value.dtype])[0], value.shape)
    return gathered(content.view(NUMPY[value.dtype]), wanted.map, value.shape)


def gathered(content: Array, index_map: IndexMap, shape: tuple[int, ...]) -> Array:
    """Return the elements that a map names."""
    if index_map == identity(shape) and content.size == math.prod(shape):
        return content.reshape(shape)
    at, _ = elements(index_map)
    return np.asarray(content[at])
