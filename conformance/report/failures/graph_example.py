"""A graph made readable, on whole tensors and on sharded ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import msgspec

from conformance.cases.graph.case import GraphCase, Round, asked_key, read_key
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import Tensor, to_array
from conformance.reference.graph.evaluate import BoundedValue, evaluate
from conformance.reference.graph.slack import unsettled
from conformance.reference.rejection import Rejected
from conformance.reference.sharded.evaluate import run_sharded
from conformance.report.failures.example import EVALUATED, Example, NamedValue, blocks_of
from conformance.report.failures.values import written

SEVERAL: Final = "some elements have several right values, of which one is shown"


def of_graph(case: GraphCase) -> Example:
    """Return a graph with what its buffers hold and what each round asks for."""
    devices = sorted({node.device for node in case.graph.nodes})
    steps = tuple(_rounds(case, node_line))
    shown = Example(dialect="graph", mesh=", ".join(devices), world=len(devices), steps=steps)
    return _with_values(shown, case, lambda: evaluate(case))


def of_listed_graph(graph: Graph) -> Example:
    """Return a graph that a schedule is asked for, node by node."""
    devices = sorted({node.device for node in graph.nodes})
    lines = [node_line(node) for node in graph.nodes]
    return Example(mesh=", ".join(devices), world=len(devices), steps=(*lines, f"return {', '.join(graph.results)}"))


def of_sharded(case: ShardedCase) -> Example:
    """Return a program on sharded tensors, node by node, with what is placed where."""

    def line(node: Node) -> str:
        return f"{node_line(node).removesuffix(f' on {node.device}')}{_placed(case, node)}"

    mesh = ", ".join(f"{axis.name} = {axis.size}" for axis in case.mesh)
    turned = f", devices {', '.join(map(str, case.devices))}" if case.devices != tuple(sorted(case.devices)) else ""
    shown = Example(dialect="global", mesh=f"{mesh}{turned}", world=case.world, steps=tuple(_rounds(case.of, line)))
    return _with_values(shown, case.of, lambda: run_sharded(case).results)


def _placed(case: ShardedCase, node: Node) -> str:
    placement = case.home(node) if node.op == "buf" else case.moves.get(node.id)
    return "" if placement is None else f" at {msgspec.json.encode(placement).decode()}"


def _rounds(case: GraphCase, line: Callable[[Node], str]) -> Iterator[str]:
    """Yield the lines of all rounds: what is written from outside, the nodes that are listed, and what is asked for."""
    for number, each in enumerate(case.rounds):
        if len(case.rounds) > 1:
            yield f"round {number}"
        yield from (f"write {name}: {_tensor(tensor)}" for name, tensor in each.writes.items())
        if bound := case.bound(number):
            yield f"with {', '.join(f'{name} = {value}' for name, value in bound.items())}"
        yield from map(line, case.listed(number))
        yield f"return {', '.join(_asked(number, each))}"


def _asked(number: int, each: Round) -> list[str]:
    return [*(asked_key(number, name) for name in each.asked), *(read_key(number, name) for name in each.read)]


def _tensor(tensor: Tensor) -> str:
    array = to_array(tensor)
    return f"{tensor.dtype}[{', '.join(map(str, tensor.shape))}] {written(array)}"


def _with_values(shown: Example, case: GraphCase, evaluated: Callable[[], Mapping[str, BoundedValue]]) -> Example:
    """Return a graph shown with its inputs, and with what it should give unless that is much to compute."""
    inputs = tuple(_value(name, to_array(tensor)) for name, tensor in case.buffers.items())
    shown = msgspec.structs.replace(shown, inputs=inputs)
    if sum(to_array(tensor).nbytes for tensor in case.buffers.values()) > EVALUATED:
        return msgspec.structs.replace(shown, problem="the buffers are too large to work out the expected values here")
    try:
        found = evaluated()
    except Rejected as rejected:
        return msgspec.structs.replace(shown, rejection=f"{rejected.clause}: {rejected}")
    except ValueError as error:
        return msgspec.structs.replace(shown, problem=f"the graph has no meaning: {' '.join(str(error).split())[:400]}")
    expected = tuple(_value(key, meant.array) for key, meant in found.items())
    problem = SEVERAL if any(unsettled(meant.slack) for meant in found.values()) else None
    return msgspec.structs.replace(shown, expected=expected, problem=problem)


def _value(name: str, array: Array) -> NamedValue:
    (block,) = blocks_of([array])
    return NamedValue(name=name, blocks=(msgspec.structs.replace(block, ranks="all"),))


def node_line(node: Node) -> str:
    """Return a node of a graph as one line: ``y = add(a, b): float32[4] on d0``."""
    named = node.op in ("alu", "collective")
    told = "" if node.arg is None or named else _told(node.arg)
    attrs = [f"{name}={msgspec.json.encode(value).decode()}" for name, value in node.attrs.items()]
    acc = [f"accumulated in {node.acc}"] if node.acc else []
    operands = ", ".join([*node.of, *filter(None, (told, node.fold)), *attrs, *acc])
    members = f" among {' '.join(node.members)}" if node.members else ""
    extents = ", ".join(map(str, node.shape))
    word = node.arg if named else node.op
    return f"{node.id} = {word}({operands}){members}: {node.dtype}[{extents}] on {node.device}"


def _told(arg: object) -> str:
    return written(to_array(arg)) if isinstance(arg, Tensor) else msgspec.json.encode(arg).decode()
