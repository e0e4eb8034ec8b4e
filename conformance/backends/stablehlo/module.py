"""A program as the text of a StableHLO module: the function of every process, and a ``main`` that runs them all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, repeat

from conformance.backends.base import Unsupported
from conformance.backends.stablehlo.collectives import COLLECTIVES
from conformance.backends.stablehlo.elements import SsaValue, carriers, packed, tensor_type, unpacked
from conformance.cases.program.program import Program, rank_groups

Types = Mapping[str, tuple[str, tuple[int, ...]]]
"""Dtype and shape of every input, the same on all ranks."""


@dataclass(frozen=True)
class Module:
    """The ``text`` of a module for ``world`` processes.

    ``main`` takes what carries the ``inputs`` of each process in turn, and returns what carries its ``results``.
    """

    text: str
    world: int
    inputs: tuple[str, ...]
    taken: tuple[SsaValue, ...]
    results: tuple[SsaValue, ...]


def module(program: Program, types: Types, *, channels: bool = False) -> Module:
    """Return ``program`` as a module; raise ``Unsupported`` for what StableHLO has no words for.

    Processes are replicas; with ``channels`` they are partitions, and each collective has a channel of its own.
    """
    taken = tuple(SsaValue(f"%x{at}", *kind) for at, kind in enumerate(types.values()))
    values = dict(zip(types, taken, strict=True))
    body = list(_steps(program, values, channels=channels))
    results = tuple(values[name] for name in program.results)
    text = "\n".join([*_process(taken, body, results), *_main(program.world, taken, results, partitions=channels)])
    return Module(text, program.world, tuple(types), taken, results)


def one_process(taken: tuple[SsaValue, ...], body: list[str], results: tuple[SsaValue, ...]) -> Module:
    """Return the module of one process that runs the operations of ``body``."""
    text = "\n".join([*_process(taken, body, results), *_main(1, taken, results, partitions=False)])
    return Module(text, 1, (), taken, results)


def joined(modules: Sequence[Module]) -> str:
    """Return the text of one module whose ``main`` calls those of others, one after the other.

    It takes what they take, and returns what they return, in turn.
    """
    functions = [re.sub(r"@(process|main)\b", rf"@\g<1>{at}", one.text) for at, one in enumerate(modules)]
    takes, gives, calls = [], [], []
    for at, one in enumerate(modules):
        taken = [(f"%a{at}_{place}", kind) for place, kind in enumerate(_carried(one.taken, one.world))]
        given = [(f"%b{at}_{place}", kind) for place, kind in enumerate(_carried(one.results, one.world))]
        made = f"{', '.join(name for name, _ in given)} = " if given else ""
        kinds = ["(" + ", ".join(kind for _, kind in each) + ")" for each in (taken, given)]
        calls.append(f"{made}func.call @main{at}({', '.join(name for name, _ in taken)}) : {kinds[0]} -> {kinds[1]}")
        takes += taken
        gives += given
    types = ", ".join(kind for _, kind in gives)
    head = f"func.func @main({', '.join(f'{name}: {kind}' for name, kind in takes)}) -> ({types}) {{"
    tail = f'"func.return"({", ".join(name for name, _ in gives)}) : ({types}) -> () }}'
    return "\n".join([*functions, head, *calls, tail])


def _carried(values: tuple[SsaValue, ...], world: int) -> list[str]:
    """Return the types of the integers that carry values of every process in turn."""
    return [kind for _ in range(world) for value in values for _, kind in _parts(value)]


def _steps(program: Program, values: dict[str, SsaValue], *, channels: bool) -> Iterator[str]:
    """Yield the operations of one process, and add what they give to ``values``; over no axis that is the operand."""
    channel = count(1) if channels else repeat(0)
    for number, step in enumerate(program.steps):
        if step.op not in COLLECTIVES or step.into or step.start:
            raise Unsupported(
                f"StableHLO has no {step.op}{' into storage' * bool(step.into)}{' to start' * step.start}"
            )
        for at, (operand, output) in enumerate(zip(step.inputs, step.outputs, strict=True)):
            if step.idle:
                values[output] = values[operand]
                continue
            groups = rank_groups(program.mesh, step.axes, step.groups)
            name = f"%s{number}_{at}"
            text, made = COLLECTIVES[step.op](values[operand], name, groups, next(channel), **step.attrs)
            values[output] = made
            yield text


def _process(taken: tuple[SsaValue, ...], body: list[str], results: tuple[SsaValue, ...]) -> Iterator[str]:
    types = ", ".join(value.type for value in results)
    yield f"func.func @process({', '.join(f'{value.name}: {value.type}' for value in taken)}) -> ({types}) {{"
    yield from body
    yield f'"func.return"({_names(results)}) : ({types}) -> () }}'


def _main(world: int, taken: tuple[SsaValue, ...], results: tuple[SsaValue, ...], *, partitions: bool) -> Iterator[str]:
    """Yield the function that runs the processes on what it makes of integers, and gives integers again."""
    given = [_of(value, rank) for rank in range(world) for value in taken]
    found = [_of(replace(value, name=f"%y{at}"), rank) for rank in range(world) for at, value in enumerate(results)]
    parameters = ", ".join(f"{part}: {kind}" for value in given for part, kind in _parts(value))
    returned = [each for value in found for each in _parts(value)]
    types = ", ".join(kind for _, kind in returned)
    yield f"func.func @main({parameters}) -> ({types}) {{"
    for value in given:
        yield from unpacked(tuple(part for part, _ in _parts(value)), value)
    programs = f"[{', '.join(['@process'] * world)}]" if partitions else ", ".join(["[@process]"] * world)
    signature = f"({', '.join(value.type for value in given)}) -> ({', '.join(value.type for value in found)})"
    made = f"{_names(found)} = " if found else ""
    yield f'{made}"interpreter.run_parallel"({_names(given)}) {{programs = [{programs}]}} : {signature}'
    for value in found:
        yield from packed(value, tuple(part for part, _ in _parts(value)))
    yield f'"func.return"({", ".join(part for part, _ in returned)}) : ({types}) -> () }}'


def _of(value: SsaValue, rank: int) -> SsaValue:
    return replace(value, name=f"{value.name}_r{rank}")


def _parts(value: SsaValue) -> list[tuple[str, str]]:
    """Return names and types of the integers that carry a value."""
    kinds = carriers(value.dtype)
    return [(f"{value.name}_{at}", tensor_type(kind, value.shape)) for at, kind in enumerate(kinds)]


def _names(values: list[SsaValue] | tuple[SsaValue, ...]) -> str:
    return ", ".join(value.name for value in values)
