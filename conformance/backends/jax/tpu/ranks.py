"""Programs compiled for a TPU that is not there: shapes go in, and what was compiled is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from conformance.backends.attribution import adapter, framework
from conformance.backends.base import Unsupported
from conformance.backends.jax.hlo.module import Module, read_module
from conformance.backends.jax.per_rank import Whole, whole
from conformance.backends.jax.tpu.evaluate import evaluated
from conformance.backends.jax.tpu.loops import ROUNDS, looped, slices
from conformance.backends.jax.tpu.pairs import BrokenPair, check
from conformance.cases.program.program import Program
from conformance.cases.tensor.dtypes import Array


@dataclass(frozen=True)
class Shapes:
    """The shape of a global array with one leading axis, split into one block a rank, stands for every value."""

    sharding: NamedSharding
    form: str = ""
    """The loop that the program is the body of; none where it is no body."""

    def put(self, views: list[Array]) -> Any:
        """Return the shape of the global array of which each rank has one slice."""
        shape = (len(views), *((ROUNDS,) if self.form else ()), *views[0].shape)
        with framework():
            return jax.ShapeDtypeStruct(shape, views[0].dtype, sharding=self.sharding)

    def call(self, rank: Callable[..., dict[str, Any]]) -> Any:
        """Return ``rank`` under ``shard_map`` and ``jit``; what it does not use stays a parameter."""
        spec = self.sharding.spec

        @adapter()
        def slice_of_one(inputs: Mapping[str, Any]) -> dict[str, Any]:
            with framework():
                blocks = {name: lax.squeeze(x, (0,)) for name, x in inputs.items()}
            results = looped(self.form, rank)(blocks) if self.form else rank({}, {}, blocks)
            with framework():
                return {name: lax.expand_dims(block, (0,)) for name, block in results.items()}

        with framework():
            mapped = jax.shard_map(
                slice_of_one, mesh=self.sharding.mesh, in_specs=spec, out_specs=spec, check_vma=False
            )
            return jax.jit(mapped, keep_unused=True)

    blocks = None
    own = ()


def over(program: Program, devices: list[Any], form: str = "") -> Shapes:
    """Return the ranks of ``program``; raise ``Unsupported`` when they are more than devices."""
    if program.world > len(devices):
        raise Unsupported(f"a world of {program.world} needs as many devices; the topology has {len(devices)}")
    grid = np.array(devices[: program.world]).reshape([axis.size for axis in program.mesh])
    with framework():
        mesh = Mesh(grid, tuple(axis.name for axis in program.mesh))
        return Shapes(NamedSharding(mesh, PartitionSpec(mesh.axis_names)), form)


def compiled(program: Program, inputs: Mapping[str, list[Array]], devices: list[Any], form: str = "") -> Module:
    """Return what XLA compiled a program to, or a loop of that ``form`` of which it is the body.

    Raise whatever JAX raises, and ``BrokenPair``.
    """
    ranks = over(program, devices, form)
    call: Whole = whole(program, ranks)  # type: ignore[arg-type]  # it calls nothing else of them
    shapes = {name: ranks.put(views) for name, views in inputs.items()}
    with framework():
        made = call.call.lower(shapes).compile()
        (module,) = made.runtime_executable().hlo_modules()
        encoded = module.as_serialized_hlo_module_proto()
    found = read_module(encoded)
    with framework():
        check(found)
    return found


def run(module: Module, program: Program, inputs: Mapping[str, list[Array]], form: str = "") -> dict[str, list[Array]]:
    """Return the blocks of every result, one a rank."""
    alike = any(step.op == "ragged_all_to_all" for step in program.steps)  # whose other inputs are offsets
    whole = {
        name: [slices(form, view, alike=alike) if form else view for view in views] for name, views in inputs.items()
    }
    given = [np.stack(whole[name])[:, None] for name in sorted(whole)]
    try:
        value = evaluated(module, program.world, given)
    except BrokenPair:
        # What contradicts itself is what was compiled, not its evaluation.
        with framework():
            raise
    names = sorted(dict.fromkeys(program.results))
    parts = value if isinstance(value, tuple) else (value,)
    return {name: [block[0] for block in part] for name, part in zip(names, parts, strict=True)}
