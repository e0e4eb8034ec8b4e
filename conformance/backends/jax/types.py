"""JAX's verdict on a typed program: the types that its avals have under ``shard_map``, or its refusal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import jax
import numpy as np
from jax import lax
from jax._src import config, core
from jax.sharding import Mesh, PartitionSpec

from conformance.backends.jax import collectives
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_program import TypedProgram, TypedStep

LOCAL: Final[Mapping[str, Callable[..., Any]]] = {
    "add": lax.add,
    "maximum": lax.max,
    "multiply": lax.mul,
    "negate": lax.neg,
    "subtract": lax.sub,
}

TO: Final = {"invariant": "invarying"}
"""JAX's word for a state, where it is another."""


def types(program: TypedProgram, devices: list[Any]) -> dict[str, AxisType]:
    """Return the type of each value that a step makes; raise what JAX raises where it refuses the program."""
    found: dict[str, AxisType] = {}

    def rank(inputs: dict[str, Any]) -> tuple[()]:
        values = {name: lax.squeeze(x, tuple(range(len(program.inputs[name].varying)))) for name, x in inputs.items()}
        for step in program.steps:
            values[step.output] = _result(step, [values[name] for name in step.inputs])
            found[step.output] = _type_of(values[step.output])
        return ()

    grid = np.array(devices[: program.world]).reshape([axis.size for axis in program.mesh])
    mesh = Mesh(grid, tuple(axis.name for axis in program.mesh))
    sizes = {axis.name: axis.size for axis in program.mesh}
    specs = {name: PartitionSpec(*given.varying) for name, given in program.inputs.items()}
    given = {
        name: jax.ShapeDtypeStruct((*(sizes[axis] for axis in each.varying), *each.shape), each.dtype)
        for name, each in program.inputs.items()
    }
    mapped = jax.shard_map(
        rank,
        mesh=mesh,
        in_specs=(specs,),
        out_specs=(),
        check_vma=program.checked,
        axis_names=frozenset(program.names),
    )
    with config.auto_pcast(program.automatic):
        jax.eval_shape(mapped, given)
    return found


def _result(step: TypedStep, operands: list[Any]) -> Any:
    if step.op in LOCAL:
        return LOCAL[step.op](*operands)
    if step.op == "sum":
        return lax.reduce_sum_p.bind(operands[0], axes=(step.attrs["axis"],), out_sharding=None)
    if step.op == "axis_index":
        return lax.axis_index(step.axes[0])
    if step.op == "cast":
        return lax.pcast(operands[0], step.axes, to=str(step.attrs["to"]))
    if step.op == "all_gather":
        attrs = step.attrs | {"to": TO.get(str(step.attrs["to"]), step.attrs["to"])}
        return lax.all_gather(operands[0], step.axes, **attrs)  # type: ignore[arg-type]
    function = collectives.MAPPED[step.op]
    return function(operands[0], axis_name=step.axes, groups=None, **step.attrs)


def _type_of(value: Any) -> AxisType:
    mat = core.typeof(value).mat
    return AxisType(
        varying=tuple(sorted(mat.varying)), unreduced=tuple(sorted(mat.unreduced)), reduced=tuple(sorted(mat.reduced))
    )
