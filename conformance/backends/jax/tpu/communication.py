"""A TPU's collectives as items that are one call, and what is started: each has its participants, groups and waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.backends.base import Unsupported
from conformance.backends.jax.hlo.module import Instruction, Module, Shape
from conformance.backends.jax.tpu import kernels
from conformance.backends.jax.tpu.exchanges import COLLECTIVES, RAGGED, groups
from conformance.backends.jax.tpu.flat import Flat, flat
from conformance.backends.jax.tpu.held import Held, Known, Stored, UnderWay, access, access_of
from conformance.backends.jax.tpu.pairs import DONE, START, custom
from conformance.backends.jax.tpu.walk import Scope, Walk, Write
from conformance.cases.program.program import Attr
from conformance.cases.schedule.schedule import Collective

REDUCTIONS: Final = {"add": "sum", "multiply": "product", "maximum": "max", "minimum": "min"}
"""Folds of one operation in the words of the specification."""


def _described(
    module: Module, node: Instruction, of: Sequence[Shape], to: Sequence[Shape]
) -> tuple[str, dict[str, Attr]]:
    """Return an operation of the specification with its attributes, or HLO's own word where there is none.

    A fold of parts of words, and one that converts what it gives, is no operation of the specification.
    """
    op = node.opcode.removesuffix("-start")
    (axis,) = node.dimensions or (0,)
    converts = any(one.dtype != other.dtype for one, other in zip(of, to, strict=True))
    fold = _fold(module, node) if op in ("all-reduce", "reduce-scatter") else ""
    pairs = tuple((each.number(1), each.number(2)) for each in node.message.messages(52))
    known: dict[str, tuple[str, dict[str, Attr]]] = {
        "all-reduce": ("all_reduce", {"op": fold or ""}),
        "all-gather": ("all_gather", {"axis": axis, "tiled": True}),
        "collective-permute": ("permute", {"pairs": pairs}),
        "collective-broadcast": ("broadcast", {"root": 0}),
    }
    if fold == "sum":
        known["reduce-scatter"] = "reduce_scatter", {"op": fold, "axis": axis, "tiled": True}
    if len(of) == 1:
        known["all-to-all"] = "all_to_all", {"split_axis": axis, "concat_axis": axis, "tiled": True}
    return (op, {}) if converts or fold is None else known.get(op, (op, {}))


def _fold(module: Module, node: Instruction) -> str | None:
    root = module.computations[node.called[0]].root
    of = [module.computations[node.called[0]].instructions[each] for each in root.operands]
    if root.opcode not in REDUCTIONS or [each.opcode for each in of] != ["parameter"] * 2 or root.shape.dtype == "bool":
        return None
    return REDUCTIONS[root.opcode]


def met(walk: Walk, name: str, node: Instruction, operands: Sequence[Held], shapes: Sequence[Shape]) -> list[Stored]:
    """Write the collectives that an instruction is, one for each group, and for each operand of several.

    Those of one instruction have one turn: it is one call that does them.
    """
    given = [walk.materialised(each, f"{name} operand {number}") for number, each in enumerate(operands)]
    targets = [
        walk.buffers.add(f"{name}{f'#{number}' if len(shapes) > 1 else ''}{kernels.space(shape)}", shape)
        for number, shape in enumerate(shapes)
    ]
    together = node.opcode.removesuffix("-start") in ("all-to-all", RAGGED) and len(given) > 1
    calls = [(given, targets)] if together else [([one], [to]) for one, to in zip(given, targets, strict=True)]
    everyone = [list(range(walk.world))]
    listed = everyone if node.opcode.startswith("collective-permute") else groups(node, walk.world)
    for number, (taken, written) in enumerate(calls):
        op, attrs = _described(
            walk.module, node, [each.shape for each in taken][: len(written)], [each.shape for each in written]
        )
        for place, group in enumerate(listed):
            parts = [str(number)] if len(calls) > 1 else []
            parts += [str(place)] if len(listed) > 1 else []
            item = "/".join([name, *parts])
            reading = {each.number(1) for each in node.message.messages(52)} if op == "permute" else group
            accesses = [access_of(each, rank) for each in taken for rank in group if rank in reading]
            accesses += [access(each, rank, write=True) for each in written for rank in group]
            members = tuple(map(str, group))
            walk.items.append(
                Collective(
                    id=item,
                    op=op,
                    attrs=attrs,
                    participants=members,
                    group=",".join(members),
                    turns=(walk.turn,) * len(members),
                    call=f"{name}/{place}" if len(calls) > 1 else "",
                    accesses=tuple(accesses),
                    handle=walk.handle(item),
                )
            )
    walk.turn += 1
    return targets


def _results(node: Instruction) -> tuple[Shape, ...]:
    """Return the shapes of what a collective gives, without what its start hands on."""
    parts = node.shape.parts or (node.shape,)
    if not node.opcode.endswith("-start") or node.opcode == "all-reduce-start":
        return parts
    count = len(node.operands)
    if count > 1 or parts[1].parts:
        return (parts[count:] if not parts[1].parts else parts[1].parts)[:count]
    return parts[1:2]


def _whole(walk: Walk, scope: Scope, node: Instruction, of: list[Held]) -> Held:
    """Write a collective that blocks."""
    found = met(walk, f"{scope.prefix}{node.name}", node, of, _results(node))
    return tuple(found) if node.shape.parts else found[0]


def _start(walk: Walk, scope: Scope, node: Instruction, of: list[Held]) -> Held:
    """Write a collective that is started; its handles go with every part of what it gives."""
    handles = walk.starting()
    found = met(walk, f"{scope.prefix}{node.name}", node, of, _results(node))
    walk.started = None
    held: Held = tuple(found) if len(found) > 1 else found[0]
    return UnderWay(held, tuple(handles))


def _end(walk: Walk, scope: Scope, node: Instruction, of: list[Held]) -> Held:
    """Write the waits for what was started, and return what it gives."""
    (under_way,) = of
    if not isinstance(under_way, UnderWay):
        raise Unsupported(f"{node.name} ends what was not started")
    walk.wait(f"{scope.prefix}{node.name}", under_way.handles)
    return under_way.held


def _carried(walk: Walk, scope: Scope, node: Instruction, of: list[Held]) -> Held:
    del walk, scope, node
    return of[0]


def _copy_start(walk: Walk, scope: Scope, node: Instruction, of: list[Held]) -> Held:
    """Write a copy that is started, mostly into another memory."""
    handles = walk.starting()
    target = kernels.copied(walk, of[0], f"{scope.prefix}{node.name}", node.shape.parts[0])
    walk.started = None
    return UnderWay(target, tuple(handles))


def _async_start(walk: Walk, scope: Scope, node: Instruction, of: list[Held]) -> Held:
    """Write what is computed meanwhile; of several instructions none may wait for another."""
    inside = walk.module.computations[node.called[0]]
    computing = [
        each for each in inside.instructions.values() if each.opcode not in ("parameter", "constant", "bitcast")
    ]
    if len(computing) > 1:
        raise Unsupported(f"{node.name}: {len(computing)} instructions that are started as one")
    handles = walk.starting()
    held = walk.called(node.called[0], of, f"{scope.prefix}{node.name}/")
    walk.started = None
    return UnderWay(held, tuple(handles))


MAKES: Final[dict[str, Write]] = {
    **dict.fromkeys((*COLLECTIVES, RAGGED), _whole),
    **{f"{name}-start": _start for name in (*COLLECTIVES, RAGGED)},
    **{f"{name}-done": _end for name in (*COLLECTIVES, RAGGED, "copy", "async")},
    "copy-start": _copy_start,
    "async-start": _async_start,
    "async-update": _carried,
}
"""Instructions that communicate, or are started or ended."""


def fused(walk: Walk, scope: Scope, node: Instruction, of: list[Held]) -> Held:
    """Write a fusion that has a collective: what goes into it, the collective, and what is made of what it gives.

    Of an asynchronous one each fusion on the way has the collective again. It is written where it begins, and the waits
    where it ends; what another fusion computes beside it is a kernel.
    """
    whole = flat(walk.module, walk.module.computations[node.called[0]])
    name, kind = f"{scope.prefix}{node.name}", custom(walk.module, node)
    given = dict(enumerate(of))
    if kind == DONE:
        under_way = next((each for each in of if isinstance(each, UnderWay)), None)
        if under_way is None:
            raise Unsupported(f"{name} ends what was not started")
        walk.wait(name, under_way.handles)
        return under_way.held
    if any(isinstance(each, UnderWay) for each in of):
        return _beside(walk, name, node, whole, given)
    made = next(each for each in whole.computation.instructions.values() if each.opcode in (*COLLECTIVES, RAGGED))
    operands = [_operand(walk, f"{name} operand {at}", whole, each, given) for at, each in enumerate(made.operands)]
    handles = walk.starting() if kind == START else []
    shape = whole.tiled[made.id]
    found = met(walk, name if kind == START else f"{name} {made.opcode}", made, operands, shape.parts or (shape,))
    walk.started = None
    if kind == START:
        parts = node.shape.parts
        under = UnderWay(found[0], tuple(handles))
        return (*operands, under, *[None] * (len(parts) - len(operands) - 1))
    return _made_of(walk, name, node, whole, given, {made.id: found[0]})


def _operand(walk: Walk, name: str, whole: Flat, number: int, given: dict[int, Held]) -> Held:
    """Return an operand of a collective inside a fusion: a parameter, or what a kernel computes before."""
    for parameter, at in whole.parameters.items():
        if at == number and isinstance(given[parameter], Stored | Known):
            return given[parameter]
    target = walk.buffers.add(name, whole.tiled[number])
    kernels.compute(walk, name, whole, given, [target], [number])
    return target


def _beside(walk: Walk, name: str, node: Instruction, whole: Flat, given: dict[int, Held]) -> Held:
    """Write what a fusion computes while a collective is under way, and hand that on."""
    pending = {whole.parameters[n]: held for n, held in given.items() if isinstance(held, UnderWay)}
    exchanged = {each.id for each in whole.computation.instructions.values() if each.opcode in (*COLLECTIVES, RAGGED)}
    first = next(iter(pending.values()))
    shapes = node.shape.parts or (node.shape,)
    results: list[Held] = []
    roots, targets = list[int](), list[Stored]()
    for number, (root, shape) in enumerate(zip(whole.roots, shapes, strict=False)):
        if root in pending or root in exchanged:
            results.append(pending.get(root, first))
        elif (handed := _handed(whole, root, given)) is not None:
            results.append(handed)
        elif not shape.count or shape.dtype.isdigit():
            results.append(None)
        else:
            target = walk.buffers.add(f"{name}#{number}{kernels.space(shape)}", shape)
            roots.append(root)
            targets.append(target)
            results.append(target)
    kernels.compute(walk, name, whole, given, targets, roots)
    results += [None] * (len(shapes) - len(results))
    return tuple(results) if node.shape.parts else results[0]


def _handed(whole: Flat, root: int, given: dict[int, Held]) -> Held:
    """Return the value of a parameter that a fusion hands on as it is."""
    return next((given[number] for number, at in whole.parameters.items() if at == root), None)


def _made_of(
    walk: Walk, name: str, node: Instruction, whole: Flat, given: dict[int, Held], exchanged: dict[int, Stored]
) -> Held:
    """Write what is made of the result of a collective in its fusion."""
    shapes = node.shape.parts or (node.shape,)
    if not node.shape.parts and whole.roots[0] in exchanged:
        return exchanged[whole.roots[0]]
    # The collective is a parameter more of what comes after it.
    more, parameters, values = dict(whole.computation.instructions), dict(whole.parameters), dict(given)
    for at, held in exchanged.items():
        number = len(parameters)
        more[at] = kernels.parameter(more[at])
        parameters[number], values[number] = at, held
    after = kernels.with_parameters(whole, more, parameters)
    targets = [
        walk.buffers.add(f"{name}{f'#{number}' if node.shape.parts else ''}{kernels.space(shape)}", shape)
        for number, shape in enumerate(shapes)
    ]
    kernels.compute(walk, name, after, values, targets)
    return tuple(targets) if node.shape.parts else targets[0]
