"""The collectives of a module that was compiled for TPUs, as facts of lowering.

An asynchronous fusion has its collective again in each fusion on the way: it is one, started in the first of them and
done in the last. Instructions that a computation has which nobody calls are none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from conformance.backends.jax.hlo.module import Computation, Instruction, Module
from conformance.backends.jax.hlo_facts import OPS, REDUCERS
from conformance.backends.jax.tpu.exchanges import groups
from conformance.backends.jax.tpu.pairs import DONE, START, custom, exchange
from conformance.cases.types.lowered import FILL, GLOBAL, Lowered

_GLOBAL_IDS: Final = 71
"""The field ``use_global_device_ids`` of an instruction."""


def read(module: Module, world: int) -> list[Lowered]:
    """Return a fact for each collective of a module, and for each operand of a reduction of several."""
    return list(_read(module, module.entry, world))


def _read(module: Module, computation: Computation, world: int) -> Iterator[Lowered]:
    for node in computation.instructions.values():
        op = node.opcode.removesuffix("-start")
        if op in OPS:
            waits = {"started": op != node.opcode, "dones": _ends(computation, node) if op != node.opcode else 0}
            yield from (replace(each, **waits) for each in _facts(module, node, OPS[op], world))
        elif node.opcode == "async-start":
            inside = module.computations[node.called[0]]
            dones = _ends(computation, node)
            yield from (replace(each, started=True, dones=dones) for each in _read(module, inside, world))
        elif node.opcode == "fusion" and (made := exchange(module.computations[node.called[0]])) is not None:
            kind = custom(module, node)
            if kind == START:
                dones = sum(custom(module, each) == DONE and _same(module, each, made) for each in _all(computation))
                found = _facts(module, made, OPS[made.opcode], world)
                yield from (replace(each, started=True, dones=min(dones, 1)) for each in found)
            elif kind != DONE and not _carries(computation, node):
                yield from _facts(module, made, OPS[made.opcode], world)
        else:
            for number in () if node.opcode in ("reduce", "scatter") else node.called:
                yield from _read(module, module.computations[number], world)


def _all(computation: Computation) -> list[Instruction]:
    return [each for each in computation.instructions.values() if each.opcode == "fusion"]


def _same(module: Module, node: Instruction, made: Instruction) -> bool:
    """Return whether a fusion ends this collective: one of its channel."""
    other = exchange(module.computations[node.called[0]])
    return other is not None and (other.opcode, other.message.number(26)) == (made.opcode, made.message.number(26))


def _carries(computation: Computation, node: Instruction) -> bool:
    """Return whether a fusion takes something that another one with a collective has under way: a tuple's part."""
    for each in node.operands:
        of = computation.instructions[each]
        if of.opcode == "get-tuple-element" and computation.instructions[of.operands[0]].opcode == "fusion":
            return True
    return False


def _ends(computation: Computation, start: Instruction) -> int:
    """Return how many instructions end what one starts, through those that carry it on."""
    found, links = 0, [start.id]
    while links:
        at = links.pop()
        for each in computation.instructions.values():
            if at in each.operands:
                found += each.opcode.endswith("-done")
                links += [each.id] if each.opcode.endswith("-update") else []
    return found


def _facts(module: Module, node: Instruction, op: str, world: int) -> Iterator[Lowered]:
    rows: tuple[tuple[int, ...], ...]
    if op == "permute":
        rows = tuple((each.number(1), each.number(2)) for each in node.message.messages(52))
    else:
        listed = groups(node, world)
        most = max(map(len, listed), default=0)
        rows = tuple((*group, *[FILL] * (most - len(group))) for group in listed)
    word = ""
    if op in ("all_reduce", "reduce_scatter"):
        word = module.computations[node.called[0]].root.opcode
    fact = Lowered(
        op=op,
        groups=rows,
        reducer=REDUCERS.get(word, word),
        global_ids=op in GLOBAL and bool(node.message.number(_GLOBAL_IDS)),
        channel=node.message.number(26) > 0,
        dimensions=_dimensions(node, op, rows),
    )
    yield from [fact] * (len(node.operands) if op in GLOBAL else 1)


def _dimensions(node: Instruction, op: str, rows: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    if op in ("all_gather", "reduce_scatter"):
        return node.dimensions
    if op == "all_to_all" and node.dimensions:
        (axis,) = node.dimensions
        return axis, axis, len(rows[0])
    return ()
