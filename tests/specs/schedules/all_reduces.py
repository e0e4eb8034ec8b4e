"""all_reduce of 16 float32 over four devices, x0..x3 to y0..y3, by three algorithms, with bodies and a graph."""

from __future__ import annotations

from typing import Any

from conformance.cases.graph.buffer import Buffer
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.builders import buffer, copy, graph, line, node, reads, schedule, stored, writes
from conformance.cases.schedule.index_map import IndexMap
from conformance.cases.schedule.kernel_body import Alu, Body, Instruction, Load, Store
from conformance.cases.schedule.schedule import Access, Collective, Copy, Kernel, Schedule

COUNT, DEVICES = 16, ("d0", "d1", "d2", "d3")
RESULTS = {f"y{d}": f"y{d}" for d in range(4)}


def wanted() -> Graph:
    given = [stored(f"x{d}", (COUNT,), device=at) for d, at in enumerate(DEVICES)]
    made = [
        node(f"y{d}", "all_reduce", "x0", "x1", "x2", "x3", shape=(COUNT,), device=at, fold="add")
        for d, at in enumerate(DEVICES)
    ]
    return graph(*given, *made, results=list(RESULTS))


def added(id: str, device: int, count: int, sources: list[Access], targets: list[Access]) -> Kernel:
    """Return the kernel that adds its sources from the left and stores the sum in every target."""
    code: list[Instruction] = [Load(access=at) for at in range(len(sources))]
    total = 0
    for at in range(1, len(sources)):
        code.append(Alu(op="add", of=(total, at)))
        total = len(code) - 1
    code += [Store(access=len(sources) + at, of=total) for at in range(len(targets))]
    body = Body(extents=(count,), instructions=tuple(code))
    return Kernel(id=id, device=DEVICES[device], accesses=(*sources, *targets), bodies=(body,))


def whole(algorithm: str, temporary: list[Buffer], parts: list[Copy | Kernel], **rest: Any) -> Schedule:
    buffers = [buffer(f"x{d}", COUNT, device=at, preexisting=True) for d, at in enumerate(DEVICES)]
    buffers += [buffer(f"y{d}", COUNT, device=at) for d, at in enumerate(DEVICES)]
    item = Collective(
        id="r", op="all_reduce", participants=DEVICES, group="g", algorithm=algorithm, parts=tuple(parts), **rest
    )
    return schedule([*buffers, *temporary], [item], wanted(), RESULTS)


def naive(**rest: Any) -> Schedule:
    temporary, parts = [], []
    for d in range(4):
        for s in (s for s in range(4) if s != d):
            temporary.append(buffer(f"t{s}{d}", COUNT, device=DEVICES[d]))
            parts.append(copy(f"send{s}{d}", f"x{s}", f"t{s}{d}"))
    for d in range(4):
        sources = [reads(f"x{s}" if s == d else f"t{s}{d}", line(COUNT)) for s in range(4)]
        parts.append(added(f"sum{d}", d, COUNT, sources, [writes(f"y{d}", line(COUNT), node=f"y{d}")]))
    return whole("naive", temporary, parts, **rest)


def direct(**rest: Any) -> Schedule:
    """Return the schedule in which device d adds shard d of every input and writes it to every output."""
    parts = []
    for d in range(4):
        shard: IndexMap = line(4, 4 * d)
        targets = [writes(f"y{s}", shard, node=f"y{s}") for s in range(4)]
        parts.append(added(f"shard{d}", d, 4, [reads(f"x{s}", shard) for s in range(4)], targets))
    return whole("direct", [], parts, **rest)


def ring(**rest: Any) -> Schedule:
    """Return the ring: three steps of reduce-scatter, then three of all-gather, of four chunks."""
    temporary: list[Buffer] = []
    parts: list[Copy | Kernel] = []
    held: dict[tuple[int, int], Access] = {(d, c): reads(f"x{d}", line(4, 4 * c)) for d in range(4) for c in range(4)}
    for step in range(3):
        for chunk in range(4):
            source, target = (chunk + step) % 4, (chunk + step + 1) % 4
            name = f"{chunk}{step}"
            temporary += [buffer(f"{kind}{name}", 4, device=DEVICES[target]) for kind in ("come", "sum")]
            parts.append(copy(f"scatter{name}", held[source, chunk], f"come{name}"))
            own = [held[target, chunk], reads(f"come{name}", line())]
            parts.append(added(f"add{name}", target, 4, own, [writes(f"sum{name}", line())]))
            held[target, chunk] = reads(f"sum{name}", line())
    for chunk in range(4):
        owner, shard = (chunk + 3) % 4, line(4, 4 * chunk)
        parts.append(
            added(f"keep{chunk}", owner, 4, [held[owner, chunk]], [writes(f"y{owner}", shard, node=f"y{owner}")])
        )
        for step in range(3):
            source, target = (chunk + step - 1) % 4, (chunk + step) % 4
            into = writes(f"y{target}", shard, node=f"y{target}")
            parts.append(copy(f"gather{chunk}{step}", reads(f"y{source}", shard), into))
    return whole("ring", temporary, parts, **rest)
