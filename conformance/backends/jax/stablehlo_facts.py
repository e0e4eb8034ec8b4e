"""What JAX lowers a typed program to: facts read off its StableHLO text by jaxlib's parser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from jax._src.interpreters.mlir import make_ir_context
from jaxlib.mlir import ir
from msgspec.structs import replace

from conformance.backends.base import Unsupported
from conformance.cases.types.lowered import Lowered

OPS: Final = {
    "stablehlo.all_gather": "all_gather",
    "stablehlo.all_reduce": "all_reduce",
    "stablehlo.all_to_all": "all_to_all",
    "stablehlo.collective_broadcast": "broadcast",
    "stablehlo.collective_permute": "permute",
    "stablehlo.recv": "recv",
    "stablehlo.send": "send",
    "stablehlo.reduce_scatter": "reduce_scatter",
}
DIMENSIONS: Final = ("all_gather_dim", "scatter_dimension", "split_dimension", "concat_dimension", "split_count")
IDS: Final = {"stablehlo.partition_id": "partition", "stablehlo.replica_id": "replica"}
REDUCERS: Final = {"stablehlo.add": "sum", "stablehlo.maximum": "max", "stablehlo.minimum": "min"}
RAGGED: Final = "ragged_all_to_all"


def read(module: str) -> list[Lowered]:
    """Return the facts of a StableHLO text, in its order; raise ``Unsupported`` for another use of a device's id."""
    with make_ir_context(), ir.Location.unknown():
        return list(_facts(ir.Module.parse(module).operation, Lowered(op="")))


def _facts(operation: Any, within: Lowered) -> Iterator[Lowered]:
    """Yield the facts of what is ``within`` a start, or a program mapped over some axes, as such a fact says."""
    for region in operation.regions:
        for block in region.blocks:
            for each in block.operations:
                inner = each.operation
                yield from _fact(inner, within)
                if inner.name not in OPS:
                    yield from _facts(inner, _within(inner, within))


def _within(operation: Any, within: Lowered) -> Lowered:
    if operation.name == "stablehlo.async_start":
        waits = [use for use in operation.results[0].uses if use.owner.name == "stablehlo.async_done"]
        return replace(within, started=True, dones=len(waits))
    if operation.name == "sdy.manual_computation":
        axes = {str(name).strip('"') for name in _words(operation.attributes["manual_axes"])}
        return replace(within, manual=tuple(sorted({*within.manual, *axes})))
    return within


def _words(attribute: Any) -> list[str]:
    """Return the names in the text of an attribute that jaxlib has no class for: ``#sdy<manual_axes{"i", "j"}>``."""
    return str(attribute).split('"')[1::2]


def _fact(operation: Any, within: Lowered) -> Iterator[Lowered]:
    attributes = operation.attributes
    if operation.name in IDS:
        yield replace(within, op="axis_index", index=_index(operation), id=IDS[operation.name])
    elif operation.name == "stablehlo.custom_call" and ir.StringAttr(attributes["call_target_name"]).value == RAGGED:
        config = ir.DictAttr(attributes["backend_config"])
        yield replace(within, op=RAGGED, groups=_rows(config["replica_groups"]), channel="channel_id" in config)
    elif operation.name in OPS:
        name = "source_target_pairs" if "source_target_pairs" in attributes else "replica_groups"
        numbers = [attributes[each] for each in DIMENSIONS if each in attributes]
        yield replace(
            within,
            op=OPS[operation.name],
            groups=_rows(attributes[name]),
            reducer=_reducer(operation),
            global_ids="use_global_device_ids" in attributes,
            dimensions=tuple(ir.IntegerAttr(each).value for each in numbers),
            channel="channel_handle" in attributes,
        )


def _rows(attribute: Any) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(rank) for rank in row) for row in np.array(ir.DenseIntElementsAttr(attribute)))


def _reducer(operation: Any) -> str:
    """Return the word of the one operation in the region of a reduction."""
    blocks = [block for region in operation.regions for block in region.blocks]
    names = [each.operation.name for block in blocks for each in block.operations]
    known = [REDUCERS[name] for name in names if name in REDUCERS]
    return known[0] if len(known) == 1 else " ".join(names)


def _index(operation: Any) -> tuple[int, int, int]:
    """Return what the id of a device is divided by, of what the remainder is taken, and what that is multiplied by."""
    found = {"stablehlo.divide": 1, "stablehlo.remainder": 0, "stablehlo.multiply": 1}
    value = operation.results[0]
    for name in ("stablehlo.divide", "stablehlo.remainder", "stablehlo.convert", "stablehlo.multiply"):
        users = [use.owner for use in value.uses]
        following = next((user for user in users if user.operation.name == name), None)
        if following is None:
            continue
        value = following.operation.results[0]
        if name in found:
            found[name] = _constant(following.operation.operands[1])
    if not found["stablehlo.remainder"]:
        raise Unsupported("the id of a device is used for something else than an index")
    return found["stablehlo.divide"], found["stablehlo.remainder"], found["stablehlo.multiply"]


def _constant(value: Any) -> int:
    return int(np.array(ir.DenseIntElementsAttr(value.owner.attributes["value"])).reshape(-1)[0])
