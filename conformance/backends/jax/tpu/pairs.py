"""What must be true of an HLO module's schedule before its values mean anything.

What is started is ended once and not used before; who overwrites an operand is its last reader; nothing runs before
what it needs. ``check`` looks at each computation that has an order: the entry, and the bodies of loops and branches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from conformance.backends.jax.hlo.module import Computation, Instruction, Module, Shape

START: Final = "AsyncCollectiveStart"
DONE: Final = "AsyncCollectiveDone"

Where = tuple[int, int | None]
"""An instruction by id, and the part of the tuple that it gives, or all of it."""

_DESTINATION: Final = 1
"""The part that ``AsyncCollectiveStart`` gives, and operand of ``AsyncCollectiveDone``, that is written meanwhile."""


class BrokenPair(RuntimeError):
    """A schedule in which something is used before it is there, or after it is gone."""


def check(module: Module) -> None:
    """Raise ``BrokenPair`` where the order, pairs, memories or overwritten operands contradict each other."""
    _check(module)
    for number, order in module.orders.items():
        of = module.computations[number]
        if of is not module.entry:
            _check(replace(module, entry=of, sequence=tuple(of.instructions[each] for each in order)))


def _check(module: Module) -> None:
    _check_order(module)
    for node in module.sequence:
        if node.opcode.endswith("-start"):
            _check_pair(module, node)
        elif custom(module, node) == START:
            _check_carried(module, node)
        _check_overwritten(module, node)


def _check_order(module: Module) -> None:
    seen: set[int] = set()
    for node in module.sequence:
        if node.id in seen:
            raise BrokenPair(f"{node.name} is listed twice")
        for needed in (*node.operands, *node.message.numbers(37)):
            if needed not in seen:
                raise BrokenPair(f"{node.name} runs before {module.entry.instructions[needed].name}, which it needs")
        seen.add(node.id)
    missing = [node.name for node in module.entry.instructions.values() if node.id not in seen]
    if missing:
        raise BrokenPair(f"{', '.join(missing)}: in no place of the order")


def _users(module: Module, node: Instruction) -> list[Instruction]:
    return [each for each in module.sequence if node.id in each.operands]


def _check_pair(module: Module, start: Instruction) -> None:
    """One chain of updates leads from a start to its only end, which gives what was started."""
    kind, link = start.opcode.removesuffix("-start"), start
    while True:
        users = _users(module, link)
        if len(users) != 1:
            names = ", ".join(each.name for each in users) or "nobody"
            raise BrokenPair(f"{start.name}: one instruction must carry on or end {link.name}, and {names} does")
        (user,) = users
        if user.opcode == f"{kind}-done":
            break
        if user.opcode != f"{kind}-update":
            raise BrokenPair(f"{user.name} uses {start.name} before it is done")
        link = user
    if given := _given(start):
        ends = user.shape.parts or (user.shape,)
        for number, (promised, end) in enumerate(zip(given, ends, strict=False)):
            if (promised.dtype, promised.extents, promised.space) != (end.dtype, end.extents, end.space):
                raise BrokenPair(
                    f"{user.name}: result {number} is {_said(end)}, and {start.name} started one of {_said(promised)}"
                )


def _given(start: Instruction) -> tuple[Shape, ...]:
    """Return the shapes of what a start will give."""
    parts = start.shape.parts
    if start.opcode == "copy-start":
        return parts[:1]
    if start.opcode == "async-start":
        return parts[1].parts or parts[1:2]
    if start.opcode == "all-reduce-start":
        return parts or (start.shape,)
    results = parts[len(start.operands) :] if len(start.operands) > 1 else parts[1:2]
    return results[: len(start.operands)]


def _said(shape: Shape) -> str:
    return f"{shape.dtype}{list(shape.extents)} in memory {shape.space}"


def _check_carried(module: Module, start: Instruction) -> None:
    """A collective that a fusion starts is carried on by others, and one ends it; meanwhile nobody reads its result."""
    what = _collective(module, start)
    # Each place where the result is under way, with who has carried it there.
    under_way: dict[Where, int] = {(start.id, _DESTINATION): start.id}
    spent: dict[int, str] = {}
    ends: list[str] = []
    for node in module.sequence:
        if node.opcode == "get-tuple-element":
            if (of := (node.operands[0], node.message.number(13))) in under_way:
                under_way[(node.id, None)] = under_way[of]
            continue
        taken = [number for number, each in enumerate(node.operands) if (each, None) in under_way]
        if not taken:
            continue
        if node.opcode != "fusion" or _collective(module, node) is None:
            raise BrokenPair(f"{node.name} uses what {start.name} started before it is done")
        if _collective(module, node) != what:
            raise BrokenPair(f"{node.name} carries on {start.name} as another collective, channel or grouping")
        for before in {under_way[(node.operands[number], None)] for number in taken}:
            if spent.setdefault(before, node.name) != node.name:
                raise BrokenPair(f"{start.name}: both {spent[before]} and {node.name} carry it on from one place")
        if custom(module, node) == DONE:
            ends.append(node.name)
        else:
            under_way.update(((node.id, part), node.id) for part in _carried(module, node, taken, start))
    if len(ends) != 1:
        raise BrokenPair(f"{start.name}: {len(ends)} instructions end it{': ' if ends else ''}{', '.join(ends)}")


def _carried(module: Module, node: Instruction, taken: list[int], start: Instruction) -> Iterator[int]:
    """Yield the parts of a fusion's result that are still under way; raise where the fusion uses one of ``taken``."""
    inside = module.computations[node.called[0]]
    held = {each.id for each in inside.instructions.values() if each.opcode == "parameter" and each.parameter in taken}
    for each in inside.instructions.values():
        if held & set(each.operands) and each.id != inside.root.id:
            raise BrokenPair(f"{node.name}: {each.name} uses what {start.name} started before it is done")
    found = exchange(inside)
    for part, operand in enumerate(inside.root.operands):
        if operand in held or (found is not None and operand == found.id):
            yield part


def _collective(module: Module, node: Instruction) -> tuple[object, ...] | None:
    """Return which collective a fusion takes part in: its operation, channel, groups and pairs."""
    inside = module.computations[node.called[0]] if node.opcode == "fusion" else None
    found = exchange(inside) if inside else None
    if found is None:
        return None
    lists = tuple(tuple(each.numbers(1)) for each in found.message.message(87).messages(1))
    older = tuple(tuple(each.numbers(1)) for each in found.message.messages(49))
    pairs = tuple((each.number(1), each.number(2)) for each in found.message.messages(52))
    return found.opcode, found.message.number(26), lists, older, pairs, found.dimensions


def exchange(computation: Computation) -> Instruction | None:
    """Return the collective that a fused computation has."""
    names = ("all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute", "ragged-all-to-all")
    return next((each for each in computation.instructions.values() if each.opcode in names), None)


def custom(module: Module, node: Instruction) -> str:
    """Return the custom call that a fusion ends in, or nothing."""
    if node.opcode != "fusion":
        return ""
    root = module.computations[node.called[0]].root
    return root.message.text(28) if root.opcode == "custom-call" else ""


def aliased(node: Instruction) -> list[tuple[tuple[int, ...], int]]:
    """Return which parts of a result lie where which operands do."""
    return [(each.numbers(1), each.number(2)) for each in node.message.messages(74) if not each.numbers(3)]


def overwritten(module: Module, node: Instruction) -> list[int]:
    """Return which operands an instruction puts another value in the place of."""
    return [number for part, number in aliased(node) if not handed_on(module, node, part, number)]


def _check_overwritten(module: Module, node: Instruction) -> None:
    """An operand in whose memory another value is put is read by nobody later, nor by what is under way."""
    for number in overwritten(module, node):
        names = same_memory(module, node.operands[number])
        place = module.sequence.index(node)
        operand = module.entry.instructions[node.operands[number]].name
        for each in module.sequence[place + 1 :]:
            if names & set(each.operands) and each.id not in names:
                raise BrokenPair(f"{each.name} reads {operand}, which {node.name} has overwritten")
        for start in module.sequence[:place]:
            under_way = start.opcode.endswith("-start") and names & set(start.operands)
            if under_way and module.sequence.index(_end_of(module, start)) > place:
                raise BrokenPair(f"{start.name} may still read {operand}, which {node.name} has overwritten")


def _end_of(module: Module, start: Instruction) -> Instruction:
    """Return who ends what was started, through those that carry it on; the start where nobody does."""
    link = start
    while users := _users(module, link):
        link = users[0]
        if not link.opcode.endswith("-update"):
            break
    return link


def handed_on(module: Module, node: Instruction, part: tuple[int, ...], number: int) -> bool:
    """Return whether a result is the operand in whose memory it lies, and not another value."""
    if node.opcode == "custom-call":
        return node.message.text(28) == "ZeroCrop"
    if node.opcode != "fusion":
        return False
    inside = module.computations[node.called[0]]
    root = inside.root
    if custom(module, node) == START:
        return part == (0,)
    found = inside.instructions[root.operands[part[0]]] if part and root.opcode == "tuple" else root
    while found.opcode in ("bitcast", "copy"):
        found = inside.instructions[found.operands[0]]
    # What a started collective writes meanwhile is its destination's value, of which nobody reads another.
    exchanged = exchange(inside)
    if exchanged is not None and (found.id == exchanged.id or custom(module, node) == DONE):
        return True
    return found.opcode == "parameter" and found.parameter == number


def same_memory(module: Module, of: int) -> set[int]:
    """Return the instructions that name the memory of one: what it is a part or another shape of, and they of it."""
    names = {of}
    while module.entry.instructions[of].opcode == "bitcast":
        of = module.entry.instructions[of].operands[0]
        names.add(of)
    source = _part(module.entry.instructions[of])
    for node in module.sequence:
        if (node.opcode == "bitcast" and node.operands[0] in names) or (source and _part(node) == source):
            names.add(node.id)
    return names


def _part(node: Instruction) -> Where | None:
    return (node.operands[0], node.message.number(13)) if node.opcode == "get-tuple-element" else None
