"""Programs with effects in JAX: buffers are mutable arrays, and every step is dispatched as it comes.

A buffer is a ``jax.Ref``, which is read and written by indexing; a view is an index into one. Steps that read or write
are functions of such arrays, mapped over the ranks, under ``jit``: what they write they write in place, "sequenced in
Python program order". A buffer that is only ever written in place and as a whole needs none: it is an array donated to
whoever writes it, and then the result, as far as it is one of the same shape and dtype: no other can be stored there.
A call returns before its results are there, so to start a collective is to call it, and to be done is
``block_until_ready``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import jax
import msgspec
from jax import lax
from jax import numpy as jnp

from conformance.backends.attribution import adapter, framework
from conformance.backends.case_arrays import Placed, placed_operand
from conformance.backends.held_storage import written
from conformance.backends.jax.per_rank import Ranks, outputs
from conformance.cases.case import Case
from conformance.cases.program.effects import NamedValue, Region, names
from conformance.cases.program.program import Program, Step
from conformance.cases.tensor.dtypes import Array


@dataclass(frozen=True)
class Part:
    """Elements of the mutable array with the number ``base``: the same on every rank."""

    base: int
    region: Region

    @property
    def forwards(self) -> tuple[slice, ...]:
        """Return the index of the elements with positive steps, which are all that ``Ref`` takes (jax#33322)."""
        ranges = tuple(each[::-1] if each.step < 0 else each for each in self.region.ranges)
        return Region(ranges, self.region.order).index

    @property
    def backwards(self) -> tuple[int, ...]:
        """Return the axes along which the elements are seen the other way round."""
        return tuple(axis for axis, each in enumerate(self.region.ranges) if each.step < 0)


@dataclass
class Dispatch:
    """A program step by step. ``calls`` are kept for all programs that have such a step.

    Every buffer is one of the mutable arrays ``refs`` or, where it is ``donated``, one of the ``arrays``.
    """

    program: Program
    ranks: Ranks
    table: Mapping[str, NamedValue]
    calls: dict[bytes, Any]
    values: dict[str, Any]
    donated: frozenset[str]
    refs: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, Any] = field(default_factory=dict)

    def perform(self, step: Step) -> None:
        """Dispatch a step; raise whatever JAX raises."""
        if step.op == "buffer":
            (name,), value = step.outputs, self.values[step.inputs[0]]
            if name in self.donated:
                with framework():
                    self.arrays[name] = jnp.array(value, copy=True)
            else:
                with framework():
                    self.refs[name] = jax.new_ref(jnp.asarray(value))
        elif step.op == "free" and step.inputs[0] in self.donated:
            del self.arrays[step.inputs[0]]
        elif step.op == "free":
            freed = self.refs.pop(step.inputs[0])
            with framework():
                jax.freeze(freed)
        elif step.op == "done":
            tickets = [self._array(name) for name in step.inputs]
            with framework():
                done = jax.block_until_ready(tickets)
            self.values.update(zip(step.outputs, done, strict=True))
        elif step.op != "view":
            made = self.call(step)
            self.values.update(zip(step.outputs, made, strict=False))

    def call(self, step: Step) -> list[Any]:
        """Dispatch what reads or writes, and return its results, which are its tickets too.

        A mutable array can be passed only once, so all operands and targets in it share it.
        """
        used = (*step.inputs, *step.into)
        bases = list(dict.fromkeys(self.table[name].base for name in used if self._mutable(name)))
        parts = [
            Part(bases.index(self.table[name].base), self.table[name].regions[0]) if self._mutable(name) else None
            for name in used
        ]
        given = [at for at, name in enumerate(step.into) if self.table[name].base in self.donated]
        refs = {str(number): self.refs[base] for number, base in enumerate(bases)}
        arrays = {at: self._array(name) for at, name in enumerate(step.inputs) if parts[at] is None}
        donated = {str(at): arrays.pop(at) for at in given}
        values = {str(at): array for at, array in arrays.items()}
        plain = msgspec.structs.replace(step, inputs=(), outputs=(), into=())
        kinds = [(array.shape, str(array.dtype)) for one in (refs, donated, values) for array in one.values()]
        # A range as it is written: one element is the same elements with any step.
        key = msgspec.json.encode((self.program.mesh, plain, len(step.into), parts, given, kinds), enc_hook=repr)
        if key not in self.calls:
            self.calls[key] = self.ranks.call(_rank(step, parts, self.ranks.own))
        call = self.calls[key]
        if donated and not self._fits(call, refs, donated, values):
            self._keep([self.table[step.into[at]].base for at in given])
            return self.call(step)
        with framework():
            found = call(refs, donated, values)
        made = [found[str(at)] for at in range(len(found))]
        self.arrays.update({self.table[step.into[at]].base: made[at] for at in given})
        return made

    def result(self, name: str) -> list[Array]:
        """Return the blocks of a value, or of what is in storage now."""
        read = Step(op="copy", inputs=(name,), outputs=(name,), axes=())
        return self.ranks.blocks(self.call(read)[0] if self._mutable(name) else self._array(name))

    def left(self) -> dict[str, list[Array]]:
        """Return the blocks of every buffer, after which there is none; what a call that failed was given is gone."""
        with framework():
            arrays = {**self.arrays, **{name: jax.freeze(ref) for name, ref in self.refs.items()}}
        return {name: self.ranks.blocks(array) for name, array in arrays.items() if not array.is_deleted()}

    def _fits(self, call: Any, refs: Mapping[str, Any], donated: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
        """Return whether every result can take the place of the array that is donated for it."""
        with framework():
            made = call.eval_shape(refs, donated, values)
        pairs = [(made[at], array) for at, array in donated.items()]
        return all((result.shape, result.dtype) == (array.shape, array.dtype) for result, array in pairs)

    def _keep(self, bases: Sequence[str]) -> None:
        """Make mutable arrays of arrays that were to be donated."""
        self.donated -= frozenset(bases)
        for base in bases:
            array = self.arrays.pop(base)
            with framework():
                self.refs[base] = jax.new_ref(array)

    def _mutable(self, name: str) -> bool:
        return self.table[name].kind == "storage" and self.table[name].base not in self.donated

    def _array(self, name: str) -> Any:
        base = self.table[name].base
        return self.arrays[base] if base in self.donated else self.values[name]


def dispatched(case: Case, placed: Placed, ranks: Ranks, calls: dict[bytes, Any]) -> dict[str, list[Array]]:
    """Run ``case`` step by step and return the blocks of its results.

    Raise whatever JAX raises, and then add the buffers that are left to ``placed``, as they are.
    """
    values = {name: ranks.put([view for _, view in pairs]) for name, pairs in placed.items()}
    table = names(case)
    dispatch = Dispatch(case.program, ranks, table, calls, values, donated(case.program, table))
    try:
        for step in case.program.steps:
            dispatch.perform(step)
        return {name: dispatch.result(name) for name in case.program.results}
    except Exception:
        for name, blocks in dispatch.left().items():
            buffer = placed_operand(case.inputs[case.program.buffers[name]])
            # A result that was taken in spite of its shape or dtype has no place in the buffer.
            with contextlib.suppress(ValueError):
                written([view for _, view in buffer], blocks)
                placed[name] = buffer
        raise


def donated(program: Program, table: Mapping[str, NamedValue]) -> frozenset[str]:
    """Return the buffers that are written in place, as a whole and in no other way, and have no views."""
    written: set[str] = set()
    otherwise: set[str] = set()
    for step in program.steps:
        bases = [table[name].base for name in (*step.inputs, *step.into)]
        if step.op in ("view", "assign"):
            otherwise.add(bases[0])
        for operand, target in zip_longest(step.inputs[: len(step.into)], step.into):
            base = table[target].base
            alone = operand is not None and table[operand] == table[target] and bases.count(base) == 2
            (written if alone else otherwise).add(base)
    return frozenset(written - otherwise)


def _rank(step: Step, parts: Sequence[Part | None], own: tuple[slice, ...]) -> Any:
    """Return a step as one rank's function of mutable arrays, of arrays given away and of values, all by number."""

    @adapter()
    def rank(refs: Mapping[str, Any], given: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
        def read(at: int) -> Any:
            part = parts[at]
            if part is None:
                return given[str(at)] if str(at) in given else values[str(at)]
            index = _index(part, own)
            with framework():
                block = lax.squeeze(refs[str(part.base)][index], range(len(own)))
                return jnp.transpose(lax.rev(block, part.backwards), part.region.order)

        def write(at: int, value: Any) -> None:
            part = parts[at]
            if part is None:
                return  # The result takes the place of the array that was given.
            order = part.region.order
            back, index = [order.index(axis) for axis in range(len(order))], _index(part, own)
            with framework():
                turned = lax.rev(jnp.transpose(value, back), part.backwards)
                refs[str(part.base)][index] = lax.expand_dims(turned, range(len(own)))

        if step.op == "assign":
            write(0, read(1))
            return {}
        operands = [read(at) for at in range(len(step.inputs))]
        made = _copies(operands) if step.op == "copy" else outputs(step, operands)
        for at, value in zip(range(len(step.inputs), len(parts)), made, strict=bool(step.into)):
            write(at, value)
        return {str(at): value for at, value in enumerate(made)}

    return rank


@framework()
def _copies(operands: Sequence[Any]) -> list[Any]:
    return [jnp.copy(operand) for operand in operands]


def _index(part: Part, own: tuple[slice, ...]) -> Any:
    return (*own, *part.forwards) or ...
