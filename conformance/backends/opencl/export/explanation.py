"""What the engine makes of a case, to be read: values, kernels with their reason and source, buffers, order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from conformance.backends.explanation import Explanation, Step, Stored
from conformance.backends.opencl.dry_run import DryRun
from conformance.backends.opencl.export.graph import names_of
from conformance.backends.opencl.export.schedule import named
from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.fuse.partition import reachable
from conformance.backends.opencl.graph.node import Node
from conformance.backends.opencl.graph.value import GraphValue
from conformance.backends.opencl.lower import Lowered
from conformance.backends.opencl.render.fused import fused
from conformance.backends.opencl.render.fused import named as kernel_name
from conformance.backends.opencl.render.point import NAME
from conformance.backends.opencl.render.streams import render_stream
from conformance.backends.opencl.schedule.item import Barrier, Constant, Fused, Item, Kernel, Transfer
from conformance.backends.opencl.schedule.schedule import Schedule


def explained_round(number: int, dry_run: DryRun) -> Explanation:
    """Return what a round of a graph becomes."""
    round_values = dry_run.round_values
    wanted = [each.value for each in dry_run.lowering.wanted]
    values = reversed(reachable([*wanted, *(each.value for each in round_values.assigns)]))
    lines = [*(_value(value, round_values.made.get(value, "")) for value in values)]
    lines += [f"write {each.asked}: %{each.value.number} into {each.buffer}" for each in round_values.assigns]
    lines += [f"asked for {name}: %{value.number}" for name, value in dry_run.asked.items()]
    names = names_of(dry_run)
    return _explained(f"round {number}", tuple(lines), dry_run.schedule, names, tuple(dry_run.devices))


def explained_program(made: Schedule, lowered: Lowered, world: int) -> Explanation:
    """Return what a program becomes."""
    lines = [
        f"{each.operation} {each.name} of {each.dtype} {list(each.shape)} in groups {[list(g) for g in each.groups]}: "
        + ", ".join(sorted({lowered.algorithms[turn] for turn in lowered.algorithms if turn.collective == number}))
        for number, each in enumerate(lowered.collectives)
    ]
    return _explained("program", tuple(lines), made, named(made, lowered), [str(rank) for rank in range(world)])


def _explained(
    title: str, lines: tuple[str, ...], made: Schedule, names: Mapping[Node, str], devices: Sequence[str]
) -> Explanation:
    stored = [node for node in made.places if node not in made.roots]
    count = Counter(made.places[node] for node in stored)
    return Explanation(
        title=title,
        graph=lines,
        steps=tuple(_step(number, item, names, devices) for number, item in enumerate(made.items)),
        buffers=tuple(
            Stored(
                name=names[node],
                size=node.size * FORMATS[node.dtype].itemsize,
                dtype=node.dtype,
                device=devices[node.device],
                shares=f"storage {made.places[node]}" if count[made.places[node]] > 1 else "",
                offset=made.memory.offsets[node],
            )
            for node in stored
        ),
    )


def _value(value: GraphValue, name: str) -> str:
    of = " ".join(f"%{each.number}" for each in value.of)
    arg = value.arg.hex() if isinstance(value.arg, bytes) else "" if value.arg is None else _argument(value.arg)
    words = [
        f"%{value.number}",
        "=",
        value.op,
        arg,
        of,
        f"{value.dtype} {list(value.shape)}",
        f"({name})" if name else "",
    ]
    return " ".join(word for word in words if word)


def _argument(arg: object) -> str:
    if isinstance(arg, tuple) and hasattr(arg, "_fields"):
        return f"strides {list(arg[1])} offset {arg[2]}" + (f" mask {list(arg[3])}" if arg[3] else "")
    return str(arg)


def _step(number: int, item: Item, names: Mapping[Node, str], devices: Sequence[str]) -> Step:
    kind, reason, source = _kind(item)
    return Step(
        name=f"item {number}",
        kind=kind,
        device=devices[item.device],
        reason=reason,
        computes=item.launch.asked if isinstance(item, Fused) else (),
        reads=tuple(dict.fromkeys(names[each.node] for each in item.accesses if not each.write)),
        writes=tuple(dict.fromkeys(names[each.node] for each in item.accesses if each.write)),
        after=tuple(f"item {each}" for each in item.after),
        source=source,
    )


def _kind(item: Item) -> tuple[str, str, str]:
    """Return what an item is, why it is one of its own, and its text."""
    if isinstance(item, Fused):
        text = fused(item.launch)
        return "kernel", item.launch.reason, text.replace(NAME, kernel_name(text), 1)
    if isinstance(item, Kernel):
        source = "" if item.body.stream is None else render_stream(item.body)
        return f"kernel {item.body.kernel}", "a part of a collective, or movement of blocks", source
    words = {Transfer: "copy", Constant: "fill", Barrier: "barrier"}
    return words[type(item)], "", ""
