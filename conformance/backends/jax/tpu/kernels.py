"""Kernels of a TPU: an instruction that computes, on each rank, with its body and the buffers that it touches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace as replaced

from msgspec.structs import replace

from conformance.backends.base import Unsupported
from conformance.backends.jax.hlo.body import Source
from conformance.backends.jax.hlo.module import Instruction, Shape
from conformance.backends.jax.tpu.bodies import Operand, TpuTranslation
from conformance.backends.jax.tpu.flat import Flat, alone, flat, plain
from conformance.backends.jax.tpu.held import Held, Known, Stored, UnderWay, access, access_of, alike
from conformance.backends.jax.tpu.pairs import aliased, handed_on
from conformance.backends.jax.tpu.walk import Scope, Walk
from conformance.cases.schedule.kernel_body import Body, Load, Store
from conformance.cases.schedule.schedule import Access, Copy, Kernel


def kernel(walk: Walk, scope: Scope, node: Instruction, of: list[Held]) -> Held:
    """Write a kernel for an instruction, and return what it gives."""
    if node.opcode == "copy" and isinstance(of[0], Stored) and walk.buffers.space(of[0].name) != node.shape.space:
        return copied(walk, of[0], f"{scope.prefix}{node.name}", node.shape)
    shapes = node.shape.parts or (node.shape,)
    targets = _targets(walk, scope, node, of, shapes)
    given, whole = _computation(walk, scope, node, of)
    # What gives a tuple as a whole has no form.
    whole = None if whole is not None and len(whole.roots) != len(shapes) else whole
    compute(walk, f"{scope.prefix}{node.name}", whole, dict(enumerate(given)), targets)
    return tuple(targets) if node.shape.parts else targets[0]


def _computation(walk: Walk, scope: Scope, node: Instruction, of: list[Held]) -> tuple[list[Held], Flat | None]:
    """Return what an instruction computes, and of which values, each once; no computation where none is known."""
    if node.opcode == "fusion":
        try:
            return of, flat(walk.module, walk.module.computations[node.called[0]])
        except Unsupported:
            return of, None
    if node.shape.parts:
        return of, None
    distinct = list(dict.fromkeys(node.operands))
    whole = alone(node, [scope.computation.instructions[each] for each in distinct])
    whole = whole if len(distinct) == len(node.operands) else _repeated(node, whole, distinct)
    return [of[node.operands.index(each)] for each in distinct], whole


def _repeated(node: Instruction, whole: Flat, distinct: list[int]) -> Flat:
    """Return a computation whose instruction takes some operand several times."""
    root = whole.computation.root
    right = replaced(root, operands=tuple(distinct.index(each) for each in node.operands))
    instructions = {**whole.computation.instructions, root.id: right}
    return replaced(whole, computation=replaced(whole.computation, instructions=instructions, root=right))


def _targets(walk: Walk, scope: Scope, node: Instruction, of: list[Held], shapes: Sequence[Shape]) -> list[Stored]:
    """Return where the results go: new buffers, or the operand's where the compiler says that they lie there."""
    alias = {part: number for part, number in aliased(node) if not handed_on(walk.module, node, part, number)}
    found = []
    for number, shape in enumerate(shapes):
        part = (number,) if node.shape.parts else ()
        home = of[alias[part]] if part in alias and alias[part] < len(of) else None
        fits = isinstance(home, Stored) and home.at is None
        if isinstance(home, Stored) and fits and (home.dtype, home.shape.count) == (shape.dtype, shape.count):
            found.append(Stored(home.name, shape, shape.dtype))
            continue
        name = f"{scope.prefix}{node.name}{f'#{number}' if node.shape.parts else ''}"
        found.append(walk.buffers.add(f"{name}{space(shape)}", shape))
    return found


def space(shape: Shape) -> str:
    """Return how the name of a buffer says that it lies in another memory than the device's main one."""
    return f" in memory {shape.space}" if shape.space else ""


def compute(
    walk: Walk,
    name: str,
    whole: Flat | None,
    given: Mapping[int, Held],
    targets: Sequence[Stored],
    roots: Sequence[int] | None = None,
) -> None:
    """Write a kernel on each rank that computes ``roots`` of a computation into ``targets``.

    ``given`` are the values of its parameters, by number. Without a computation, or where an instruction has no word,
    the kernel has no body.
    """
    if not any(each.shape.count for each in targets):
        return
    roots = roots if roots is not None or whole is None else whole.roots
    if whole is not None and roots is not None:
        wanted = [(root, target) for root, target in zip(roots, targets, strict=True) if target.shape.count]
        used = _used(whole, [root for root, _ in wanted])
        given = {number: held for number, held in given.items() if whole.parameters.get(number) in used}
    else:
        wanted = []
    if any(isinstance(each, UnderWay) for each in given.values()):
        raise Unsupported(f"{name}: it takes what is still under way")
    same = alike(each.array for each in given.values() if isinstance(each, Known)) and not _ranked(whole)
    first: Kernel | None = None
    for rank in range(walk.world):
        if first is None or not same:
            made = _one(walk, name, whole, given, wanted, targets, rank)
            first = made
        else:
            made = _moved(first, rank)
        item = f"{name}[{rank}]"
        walk.items.append(replace(made, id=item, device=str(rank), handle=walk.handle(item)))


def _moved(first: Kernel, rank: int) -> Kernel:
    """Return the kernel of rank 0 on another rank."""
    moved = tuple(replace(each, buffer=f"{each.buffer.removesuffix('[0]')}[{rank}]") for each in first.accesses)
    return replace(first, accesses=moved)


def _ranked(whole: Flat | None) -> bool:
    nodes = whole.computation.instructions.values() if whole is not None else ()
    return any(each.opcode == "partition-id" for each in nodes)


def _used(whole: Flat, roots: Sequence[int]) -> set[int]:
    used, stack = set[int](), list(roots)
    while stack:
        at = stack.pop()
        if at not in used:
            used.add(at)
            stack += whole.computation.instructions[at].operands
    return used


def _one(
    walk: Walk,
    name: str,
    whole: Flat | None,
    given: Mapping[int, Held],
    wanted: Sequence[tuple[int, Stored]],
    targets: Sequence[Stored],
    rank: int,
) -> Kernel:
    made = None if whole is None else _bodies(walk, whole, given, wanted, rank)
    if made is None:
        read = dict.fromkeys(f"{each.name}[{rank}]" for each in given.values() if isinstance(each, Stored))
        written = dict.fromkeys(f"{each.name}[{rank}]" for each in targets)
        made = (*map(_all, read), *(Access(buffer=each, write=True) for each in written)), ()
    return Kernel(id=name, device=str(rank), accesses=made[0], bodies=made[1])


def _all(buffer: str) -> Access:
    return Access(buffer=buffer)


def _bodies(
    walk: Walk, whole: Flat, given: Mapping[int, Held], wanted: Sequence[tuple[int, Stored]], rank: int
) -> tuple[tuple[Access, ...], tuple[Body, ...]] | None:
    """Return the accesses and the bodies of a kernel, or ``None`` where something in it has no word."""
    accesses: list[Access] = []
    try:
        sources: dict[int, Source] = {
            whole.parameters[number]: _source(held, rank)
            for number, held in given.items()
            if number in whole.parameters
        }
        translation = TpuTranslation(walk.module, whole, sources, accesses, rank)
        bodies = tuple(
            body
            for root, target in wanted
            for body in translation.written(whole.computation.instructions[root], f"{target.name}[{rank}]")
        )
    except Unsupported:
        return None
    return tuple(accesses), bodies


def _source(held: Held, rank: int) -> Operand:
    if isinstance(held, Known):
        return Operand(plain(held.shape), constant=held.array[rank])
    if isinstance(held, Stored):
        return Operand(plain(held.shape), f"{held.name}[{rank}]", held.dtype, at=held.at)
    raise Unsupported("a tuple as an operand")


def copied(walk: Walk, held: Held, name: str, shape: Shape) -> Stored:
    """Write a copy of a value on each rank: to another memory of its device, or where it is, by a kernel."""
    source = walk.materialised(held, f"{name} source")
    target = walk.buffers.add(f"{name}{space(shape)}", shape)
    if not shape.count:
        return target
    for rank in range(walk.world):
        accesses = (access_of(source, rank), access(target, rank, write=True))
        item = f"{name}[{rank}]"
        if walk.buffers.space(source.name) != shape.space:
            walk.items.append(Copy(id=item, accesses=accesses, handle=walk.handle(item)))
            continue
        known = accesses[0].map is not None
        body = Body(extents=shape.extents, instructions=(Load(access=0), Store(access=1, of=0)))
        walk.items.append(
            Kernel(
                id=item, device=str(rank), accesses=accesses, bodies=(body,) if known else (), handle=walk.handle(item)
            )
        )
    return target


def parameter(node: Instruction) -> Instruction:
    """Return an instruction whose value is given."""
    return replaced(node, opcode="parameter", operands=(), called=())


def with_parameters(whole: Flat, instructions: dict[int, Instruction], parameters: dict[int, int]) -> Flat:
    """Return a computation with other instructions, some of which have become parameters."""
    root = instructions[whole.computation.root.id]
    computation = replaced(whole.computation, instructions=instructions, root=root)
    return replaced(whole, computation=computation, parameters=parameters)
