"""Typed programs under JAX's ``shard_map``: the types of its avals, the values, ``jax.vjp`` and ``jax.vmap``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import lax
from jax._src import core

# ``jax.lax`` exports neither psend nor precv (jax 0.10.2); this is the module of the sources ``jax.*``.
from jax.sharding import Mesh, PartitionSpec

from conformance.backends.attribution import adapter, framework
from conformance.backends.jax.typed_steps import Sent, casting, first_tables, run
from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_case import Level
from conformance.cases.types.typed_program import TypedProgram

Blocks = list[Array]
Varying = Mapping[str, tuple[str, ...]]
"""The axes along which each value that enters or leaves varies."""


class Jitted(NamedTuple):
    """A function over the mesh of a program, the axes its values vary along, and the types of the program's values."""

    program: TypedProgram
    function: Any
    entering: Varying
    leaving: Varying
    types: Mapping[str, AxisType]

    def compile(self, given: Mapping[str, Blocks]) -> None:
        """Compile for blocks of these dtypes and shapes; a call finds what was compiled."""
        with framework(), casting(self.program):
            self.function.lower(self._whole(given)).compile()

    def _whole(self, given: Mapping[str, Blocks]) -> dict[str, Array]:
        return {name: _joined(self.program, self.entering[name], blocks) for name, blocks in given.items()}

    def __call__(self, given: Mapping[str, Blocks]) -> dict[str, Blocks]:
        """Return the blocks of what leaves, one a rank."""
        whole = self._whole(given)
        with framework(), casting(self.program):
            made = self.function(whole)
            arrays = {name: np.asarray(array) for name, array in made.items()}
        return {name: _split(self.program, self.leaving[name], array) for name, array in arrays.items()}


def types(program: TypedProgram, devices: list[Any]) -> dict[str, AxisType]:
    """Return the type of each value that a step makes; raise what JAX raises where it refuses the program."""
    found = _types(program, devices)
    return {step.output: found[step.output] for step in program.steps}


def _types(program: TypedProgram, devices: list[Any]) -> dict[str, AxisType]:
    """Return the type of each value, those of inputs too."""
    found: dict[str, AxisType] = {}

    def rank(inputs: dict[str, Any]) -> dict[str, Any]:
        found.update({name: _type_of(value) for name, value in run(program, inputs).items()})
        return {}

    with framework(), casting(program):
        jax.eval_shape(_mapped(program, devices, rank, _entering(program), {}), _abstract(program))
    return found


def lower(program: TypedProgram, devices: list[Any]) -> tuple[str, int]:
    """Return the StableHLO of a program, and how many sums at its end are none of its own.

    It is lowered for a GPU: no other platform has a lowering of every collective. Every rank has the offsets and sizes
    of the first, so that there is no index but those of the program. What is unreduced leaves as its sum.
    """
    of = _types(program, devices)
    with framework(), casting(program):
        text = str(_traced(program, devices, of).lower(lowering_platforms=("cuda",)).as_text())
    return text, sum(bool(of[name].unreduced) for name in program.results)


def compiled(program: TypedProgram, devices: list[Any]) -> str:
    """Return the HLO of a program that XLA compiled for the devices, as text; raise what JAX raises where it cannot.

    On CPUs there is no ragged exchange, no broadcast and nothing started.
    """
    with framework(), casting(program):
        return str(_traced(program, devices, _types(program, devices)).lower().compile().as_text())


def _traced(program: TypedProgram, devices: list[Any], of: Mapping[str, AxisType]) -> Any:
    """Return a program traced, with the offsets and sizes of the first rank everywhere."""
    leaving = {name: _leaving(of[name]) if program.checked else program.names for name in program.results}

    def rank(inputs: dict[str, Any]) -> dict[str, Any]:
        made = run(program, inputs, first_tables)
        return {name: _visible(made[name]) for name in program.results}

    return jax.jit(_mapped(program, devices, rank, _entering(program), leaving)).trace(_abstract(program))


def _abstract(program: TypedProgram) -> dict[str, jax.ShapeDtypeStruct]:
    return {
        name: jax.ShapeDtypeStruct((*_sizes(program, each.varying), *each.shape), each.dtype)
        for name, each in program.inputs.items()
    }


def values(program: TypedProgram, devices: list[Any]) -> Jitted:
    """Return what gives the blocks of each result, one a rank; of an unreduced one those of its sum."""
    of = _types(program, devices)
    everywhere = program.names
    leaving = {name: _leaving(of[name]) if program.checked else everywhere for name in program.results}

    def rank(given: dict[str, Any]) -> dict[str, Any]:
        made = run(program, given)
        return {name: _visible(made[name]) for name in program.results}

    return _jitted(program, devices, rank, _entering(program), leaving, of)


def pushforward(program: TypedProgram, devices: list[Any]) -> Jitted:
    """Return what gives the tangent of each result by ``jax.jvp`` in ``shard_map``; that of an input is ``d x``."""
    of, everywhere = _types(program, devices), program.names
    leaving = {name: _leaving(of[name]) if program.checked else everywhere for name in program.results}
    at = _entering(program)

    def rank(given: dict[str, Any]) -> dict[str, Any]:
        primals = ({name: given[name] for name in program.inputs},)
        with framework():
            _, found = jax.jvp(
                lambda x: {name: run(program, x)[name] for name in program.results},
                primals,
                ({name: given[f"d {name}"] for name in program.inputs},),
            )
        return {name: _visible(value) for name, value in found.items()}

    entering = {**at, **{f"d {name}": axes for name, axes in at.items()}}
    return _jitted(program, devices, rank, entering, leaving, of)


def pullback(program: TypedProgram, devices: list[Any], cotangents: Sequence[str]) -> Jitted:
    """Return what gives the cotangent of each input by ``jax.vjp`` in ``shard_map``; that of a result is ``ct x``."""
    of = _types(program, devices)
    everywhere = program.names
    at = _entering(program) if program.checked else dict.fromkeys(program.inputs, everywhere)
    shown = {name: _leaving(of[name]) if program.checked else everywhere for name in cotangents}
    entering = {**at, **{f"ct {name}": axes for name, axes in shown.items()}}

    def rank(given: dict[str, Any]) -> dict[str, Any]:
        primals = {name: given[name] for name in program.inputs}
        with framework():
            _, back = jax.vjp(lambda x: {name: run(program, x)[name] for name in cotangents}, primals)
            (found,) = back({name: _cotangent(given[f"ct {name}"], of[name]) for name in cotangents})
        return dict(found)

    return _jitted(program, devices, rank, entering, at, of)


def batched(program: TypedProgram, devices: list[Any], levels: Sequence[Level], inputs: Mapping[str, Blocks]) -> Jitted:
    """Return what gives the results of the program under one ``jax.vmap`` for each level, inside ``shard_map``."""

    def mapped(given: dict[str, Any]) -> dict[str, Any]:
        function = adapter()(lambda x: {name: run(program, x)[name] for name in program.results})
        for level in reversed(levels):
            axes = ({name: level.inputs.get(name) for name in program.inputs},)
            function = jax.vmap(
                function, in_axes=axes, out_axes=level.result, axis_name=level.name, axis_size=level.size
            )
        with framework():
            return dict(function(given))

    shapes = {name: (blocks[0].dtype, blocks[0].shape) for name, blocks in inputs.items()}
    of: dict[str, AxisType] = {}

    def rank(given: dict[str, Any]) -> dict[str, Any]:
        of.update({name: _type_of(value) for name, value in mapped(given).items()})
        return {}

    entering, everywhere = _entering(program), program.names
    given = {
        name: jax.ShapeDtypeStruct((*_sizes(program, entering[name]), *shape), dtype)
        for name, (dtype, shape) in shapes.items()
    }
    with framework(), casting(program):
        jax.eval_shape(_mapped(program, devices, rank, entering, {}), given)
    leaving = {name: _leaving(of[name]) if program.checked else everywhere for name in program.results}

    def shown(given: dict[str, Any]) -> dict[str, Any]:
        return {name: _visible(value) for name, value in mapped(given).items()}

    return _jitted(program, devices, shown, entering, leaving, of)


def _leaving(of: AxisType) -> tuple[str, ...]:
    """Return the axes along which what a shard shows of a value varies."""
    return tuple(sorted({*of.varying, *of.reduced}))


def _entering(program: TypedProgram) -> dict[str, tuple[str, ...]]:
    return {name: each.varying for name, each in program.inputs.items()}


def _sizes(program: TypedProgram, axes: tuple[str, ...]) -> tuple[int, ...]:
    sizes = {axis.name: axis.size for axis in program.mesh}
    return tuple(sizes[axis] for axis in axes)


def _jitted(
    program: TypedProgram,
    devices: list[Any],
    rank: Callable[[dict[str, Any]], dict[str, Any]],
    entering: Varying,
    leaving: Varying,
    of: Mapping[str, AxisType],
) -> Jitted:
    with framework():
        return Jitted(program, jax.jit(_mapped(program, devices, rank, entering, leaving)), entering, leaving, of)


def _mapped(
    program: TypedProgram,
    devices: list[Any],
    rank: Callable[[dict[str, Any]], dict[str, Any]],
    entering: Varying,
    leaving: Varying,
) -> Any:
    """Return ``rank`` under ``shard_map``: a value has a leading axis of extent 1 for each axis it varies along."""

    @adapter()
    def inside(given: dict[str, Any]) -> dict[str, Any]:
        with framework():
            blocks = {name: lax.squeeze(x, tuple(range(len(entering[name])))) for name, x in given.items()}
        made = rank(blocks)
        with framework():
            return {name: lax.expand_dims(x, tuple(range(len(leaving[name])))) for name, x in made.items()}

    if not program.names:
        return inside  # shard_map takes no axis names for all of them; outside of any map there are none
    grid = np.array(devices[: program.world]).reshape([axis.size for axis in program.mesh])
    return jax.shard_map(
        inside,
        mesh=Mesh(grid, tuple(axis.name for axis in program.mesh)),
        in_specs=({name: PartitionSpec(*axes) for name, axes in entering.items()},),
        out_specs={name: PartitionSpec(*axes) for name, axes in leaving.items()},
        check_vma=program.checked,
        axis_names=frozenset(program.names),
    )


def _visible(value: Any) -> Any:
    """Return what may leave a shard: the sum of an unreduced value, and a reduced one as a varying one."""
    of = _type_of(value)
    with framework():
        value = lax.psum(value, of.unreduced) if of.unreduced else value
        return lax.pcast(value, of.reduced, to="varying") if of.reduced else value


def _cotangent(given: Any, of: AxisType) -> Any:
    """Return a cotangent for a value of type ``of``: reduced where that is unreduced, and the other way round."""
    given = lax.pcast(given, of.unreduced, to="reduced") if of.unreduced else given
    return lax.pcast(given, of.reduced, to="unreduced") if of.reduced else given


def _type_of(value: Any) -> AxisType:
    """Return the type of a value; a token has none in JAX, and that of what was sent here."""
    if isinstance(value, Sent):
        return _type_of(value.operand)
    with framework():
        aval = core.typeof(value)
        # What is under way has a type of its own from 0.10.2 on.
        mat = getattr(aval, "inner_aval", aval).mat
    varying, unreduced, reduced = (tuple(sorted(axes)) for axes in (mat.varying, mat.unreduced, mat.reduced))
    return AxisType(varying=varying, unreduced=unreduced, reduced=reduced)


def _joined(program: TypedProgram, varying: tuple[str, ...], blocks: Blocks) -> Array:
    """Return one array of the blocks of all ranks, with a leading axis for each mesh axis that they vary along."""
    names = [axis.name for axis in program.mesh]
    grid = np.stack(blocks).reshape((*(axis.size for axis in program.mesh), *blocks[0].shape))
    kept = grid[tuple(slice(None) if name in varying else 0 for name in names)]
    order = [[name for name in names if name in varying].index(name) for name in varying]
    return kept.transpose((*order, *range(len(order), kept.ndim)))


def _split(program: TypedProgram, varying: tuple[str, ...], array: Array) -> Blocks:
    """Return the block of each rank."""
    at = np.indices([axis.size for axis in program.mesh]).reshape(len(program.mesh), program.world).T
    names = [axis.name for axis in program.mesh]
    return [np.asarray(array[tuple(place[names.index(name)] for name in varying)]) for place in at]
