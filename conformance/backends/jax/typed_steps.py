"""The steps of a typed program as calls of JAX, on the blocks of one rank inside ``shard_map``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src import config

# ``jax.lax`` exports neither psend nor precv (jax 0.10.2); this is the module of the sources ``jax.*``.
from jax._src.lax import parallel

from conformance.backends.attribution import framework
from conformance.backends.base import Unsupported
from conformance.backends.jax.collectives import MAPPED, ragged_all_to_all
from conformance.backends.jax.typed_operations import DONES, LOCAL, STARTS
from conformance.cases.types.typed_program import GROUPED, TypedProgram, TypedStep

Tables = Callable[[TypedStep], dict[str, Any]]
"""The offsets and sizes of a ragged exchange, as a rank has them."""

TO: Final = {"invariant": "invarying"}
"""JAX's word for a state, where it is another."""

_CASTS: Final[Callable[[bool], AbstractContextManager[Any]]] = getattr(config, "auto_pcast", nullcontext)
"""Switches off casts that nobody wrote; a release before 0.10.2 always makes them."""


def casting(program: TypedProgram) -> AbstractContextManager[Any]:
    """Return the context in which a program is traced; raise ``Unsupported`` where casts cannot be switched off."""
    if not program.automatic and not hasattr(config, "auto_pcast"):
        raise Unsupported("this release of JAX has no switch for casts that nobody wrote")
    return _CASTS(program.automatic)


def run(program: TypedProgram, inputs: Mapping[str, Any], tables: Tables | None = None) -> dict[str, Any]:
    """Return what a rank's inputs and steps give; ``tables`` are those of each rank, unless others are given."""
    made = dict(inputs)
    for step in program.steps:
        _check_done(program, step)
        made[step.output] = _result(step, [made[name] for name in step.inputs], tables or _tables)
    return made


def _check_done(program: TypedProgram, step: TypedStep) -> None:
    """Raise ``Unsupported`` for the done of another operation than was started: a ``Future`` carries its own."""
    started = program.started.get(step.inputs[0]) if step.op == "done" else None
    if started not in (None, step.attrs.get("of")):
        raise Unsupported(
            f"JAX's Future of {started} has a done of its own, and none of {step.attrs['of']} can be asked"
        )


def _result(step: TypedStep, operands: list[Any], tables: Tables) -> Any:
    if step.start or step.op in ("send", "recv"):
        return _started(step, operands[0]) if step.start else _half(step, operands[0])
    if step.op in MAPPED and step.op != "all_gather":
        return MAPPED[step.op](operands[0], axis_name=step.axes, groups=step.groups, **step.attrs)
    if step.op == "ragged_all_to_all":
        return ragged_all_to_all(*operands, **tables(step), axis_name=step.axes, groups=step.groups)
    if step.op in LOCAL or step.op == "sum":
        return _local(step, operands)
    if step.op in ("axis_index", "cast", "done"):
        return _untouched(step, operands)
    with framework():
        to = str(step.attrs["to"])
        how: dict[str, Any] = {**step.attrs, "to": TO.get(to, to), "axis_index_groups": step.groups}
        return lax.all_gather(operands[0], step.axes, **how)


def _half(step: TypedStep, operand: Any) -> Any:
    """Return what a send has under way: JAX's token, with what was sent, whose shape a recv asks for; or a recv's."""
    with framework():
        if not step.axes:
            return operand
        if step.op == "send":
            return Sent(parallel.psend(operand, step.axes, step.attrs["pairs"]), operand)
        of = jax.ShapeDtypeStruct(operand.operand.shape, operand.operand.dtype)
        return parallel.precv(operand.token, of, step.axes, step.attrs["pairs"])


class Sent(NamedTuple):
    """A token of JAX, and the operand that it was made for."""

    token: Any
    operand: Any


def _untouched(step: TypedStep, operands: list[Any]) -> Any:
    """Return what moves nothing: an index, a cast, or the done of what is started."""
    with framework():
        if step.op == "axis_index":
            # A tuple of names is an index in parts, which are multiplied and added; one name is a primitive.
            return lax.axis_index(step.axes[0] if len(step.axes) == 1 else step.axes)
        if step.op == "done":
            return DONES[str(step.attrs["of"])].bind(operands[0])
        return lax.pcast(operands[0], step.axes, to=str(step.attrs["to"]))


def _started(step: TypedStep, operand: Any) -> Any:
    """Return the operand of a done: what JAX wraps for its users, who call the done of the same operation on it."""
    rest: dict[str, Any] = {"axis_index_groups": step.groups} if step.op in GROUPED else {}
    axes: tuple[Any, ...] = step.axes
    if step.op == "all_reduce":
        axes = (*axes, *cast("tuple[int, ...]", step.attrs.get("local_axes", ())))
    elif step.op == "all_gather":
        rest |= {**step.attrs}
    elif step.op == "permute":
        rest |= {"perm": step.attrs["pairs"]}
    elif step.op == "broadcast":
        rest |= {"source": step.attrs["root"]}
    elif step.op == "reduce_scatter":
        rest |= {"scatter_dimension": step.attrs["axis"], "tiled": step.attrs["tiled"]}
    elif step.op == "all_to_all":
        rest |= {**step.attrs}
    with framework():
        return STARTS[step.op](operand, axes, **rest).x


def _local(step: TypedStep, operands: list[Any]) -> Any:
    with framework():
        if step.op == "sum":
            return lax.reduce_sum(operands[0], axes=(int(str(step.attrs["axis"])),))
        return LOCAL[step.op](*operands)


TABLES: Final = ("input_offsets", "send_sizes", "output_offsets", "recv_sizes")


def _tables(step: TypedStep) -> dict[str, Any]:
    """Return the row of this rank's position in its group, of each table of a ragged exchange."""
    groups = step.groups
    if groups is None:
        with framework():
            groups = (tuple(range(lax.axis_size(step.axes))),)
    place = {position: number for group in groups for number, position in enumerate(group)}
    # The place of a rank is no step of the program: the cast of its parts is not what a case is about.
    with framework(), _CASTS(True):
        at = jnp.array([place[position] for position in range(len(place))])[lax.axis_index(step.axes)]
        if "level" in step.attrs:
            at = at + len(groups[0]) * lax.axis_index(step.attrs["level"])
        return {name: jnp.array(step.attrs[name], np.int32)[at] for name in TABLES}


def first_tables(step: TypedStep) -> dict[str, Any]:
    """Return the first row of each table of a ragged exchange."""
    with framework():
        return {name: jnp.array(step.attrs[name], np.int32)[0] for name in TABLES}
