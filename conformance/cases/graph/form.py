"""Which graphs are well formed: every node fits its sources, its argument and its shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.cases.graph.buffer import Buffer, Declarations
from conformance.cases.graph.extent import Values
from conformance.cases.graph.fit import check_argument, check_arity, check_buffer, check_dtype, check_shape
from conformance.cases.graph.graph import Graph, Node, variables_of
from conformance.cases.graph.misfits import misfit_assign, misfit_call, misfit_devices
from conformance.cases.schedule_error import ScheduleError
from conformance.cases.tensor.dtypes import NUMPY


def check_graph(graph: Graph, declared: Declarations, most: Values, unfit: dict[str, str] | None = None) -> None:
    """Raise ``ScheduleError`` unless the nodes of the graph and of its functions are well formed.

    The graph of a schedule is refused where movement leaves its source, where a source is a misfit, and where operands
    have several dtypes. Where ``unfit`` is given, such movement and such a misfit are none of this module's business:
    they are put there, by node, with what is wrong.
    """
    buffers = {buffer.id: buffer for buffer in declared.buffers}
    _check_variables(graph, declared)
    _check_calls(graph)
    scopes = {"": (graph.nodes, graph.results)}
    scopes |= {name: (function.nodes, function.results) for name, function in graph.functions.items()}
    for scope, (nodes, results) in scopes.items():
        known: dict[str, Node] = {}
        names = {node.id for node in nodes}
        for node in nodes:
            if node.id in known:
                raise ScheduleError("form.C1", f"node {node.id!r}: two nodes have this id")
            for source in node.of:
                if source not in names:
                    raise ScheduleError("form.C3", f"node {node.id!r}: source {source!r} is no node of its graph")
                if source not in known:
                    raise ScheduleError("form.C6", f"node {node.id!r}: {_cycle(node.id, source, nodes)}")
            _check_node(node, [known[source] for source in node.of], declared, buffers, most, scope, unfit)
            if node.op == "assign" and (end := _storage(node.of[0], known, buffers)):
                raise ScheduleError(
                    "form.C5",
                    f"node {node.id!r}: the target {node.of[0]!r} of an assign is not a view of a buffer but {end}",
                )
            if node.op in {"call", "item"}:
                _check_call(node, known[node.of[0]] if node.op == "item" else node, graph)
            if unfit is not None and not scope and node.op == "call":
                _put(unfit, node, misfit_call(node, [known[source] for source in node.of], graph, most))
            known[node.id] = node
        for result in results:
            if result not in known:
                raise ScheduleError("form.C3", f"graph: result {result!r} is no node")


def _check_variables(graph: Graph, declared: Declarations) -> None:
    """Refuse a variable that the schedule does not declare as the graph does, and a value that it may not have."""
    for name, asked in graph.variables.items():
        known = declared.variables.get(name)
        if known is None:
            raise ScheduleError("form.C3", f"graph: variable {name!r} is not declared")
        if (known.low, known.high) != (asked.low, asked.high) or not asked.low <= asked.value <= asked.high:
            raise ScheduleError(
                "form.C8",
                f"graph: variable {name!r} is {asked.value} in {asked.low} to {asked.high}, and the schedule declares "
                f"{known.low} to {known.high}",
            )


def _check_calls(graph: Graph) -> None:
    """Refuse functions that call themselves, through whatever others, and calls of none."""
    calls = {
        name: [str(node.arg) for node in function.nodes if node.op == "call"]
        for name, function in graph.functions.items()
    }
    for name in (str(node.arg) for node in graph.nodes if node.op == "call"):
        calls.setdefault(name, [])
    for name in calls:
        if name not in graph.functions:
            raise ScheduleError("form.C3", f"graph: function {name!r} is called, and there is none such")
    done: set[str] = set()
    while len(done) < len(calls):
        ready = [name for name, called in calls.items() if name not in done and done.issuperset(called)]
        if not ready:
            left = sorted(set(calls) - done)
            missing = [called for name in left for called in calls[name] if called not in graph.functions]
            if missing:
                raise ScheduleError("form.C3", f"graph: function {missing[0]!r} is called, and there is none such")
            raise ScheduleError("form.C6", f"graph: functions {', '.join(left)} call each other in a cycle")
        done.update(ready)


def _check_call(node: Node, call: Node, graph: Graph) -> None:
    """Refuse a call, or another result of one, that is not what its function gives."""
    where = f"node {node.id!r} ({node.op})"
    if call.op != "call":
        raise ScheduleError("form.C10", f"{where}: its source {call.id!r} is no call")
    function = graph.functions[str(call.arg)]
    at = int(str(node.arg)) if node.op == "item" else 0
    if at not in range(node.op == "item", len(function.results)):
        raise ScheduleError("form.C10", f"{where}: {call.arg!r} gives {len(function.results)} results, none is {at}")
    for given in (each for each in function.nodes if each.id == function.results[at]):
        for what, found, right in (
            ("shape", list(node.shape), list(given.shape)),
            ("dtype", node.dtype, given.dtype),
            ("device", node.device, given.device),
        ):
            if found != right:
                raise ScheduleError("form.C10", f"{where}: its {what} is {found}, and {call.arg!r} gives {right}")


def _cycle(node: str, source: str, nodes: tuple[Node, ...]) -> str:
    sources = {each.id: each.of for each in nodes}
    seen, stack = set(), [source]
    while stack:
        at = stack.pop()
        if at == node:
            return f"it and its source {source!r} need each other, a cycle"
        if at not in seen:
            seen.add(at)
            stack.extend(sources.get(at, ()))
    return f"its source {source!r} is listed after it"


def _storage(name: str, known: Mapping[str, Node], buffers: Mapping[str, Buffer]) -> str:
    """Return what a name is a view of where that is no buffer."""
    node = known[name]
    while node.op in {"reshape", "permute", "shrink", "stride", "flip", "detach", "assign"}:
        node = known[node.of[0]]
    if node.op == "buf" and node.arg in buffers:
        return ""
    words = {"const": "a constant", "expand": "an expanded view", "pad": "a padded view"}
    return words.get(node.op, f"the value of {node.id!r}")


def _check_node(
    node: Node,
    of: list[Node],
    declared: Declarations,
    buffers: Mapping[str, Buffer],
    most: Values,
    scope: str,
    unfit: dict[str, str] | None,
) -> None:
    """Raise ``ScheduleError`` unless a node fits its sources, its argument and its shape."""
    where = f"node {node.id!r} ({node.op})"
    _check_devices(where, node, of, declared, None if scope else unfit)
    if node.op == "buf" and node.arg not in buffers:
        raise ScheduleError("form.C2", f"{where}: buffer {node.arg!r} is not declared")
    if node.op == "param" and not scope:
        raise ScheduleError("form.C10", f"{where}: a parameter stands outside a function")
    mixed = unfit is not None
    sources = tuple([(source.dtype, source.shape) for source in of])
    # The argument True is no number 1.
    alike = mixed, node.op, type(node.arg), node.arg, node.fold, node.acc, node.dtype, node.shape, sources
    if alike in _FITTING:
        return
    spoken = _check_names(where, node, declared)
    try:
        check_arity(node, of)
        check_argument(node, declared)
        if node.op == "buf":
            check_buffer(node, buffers[str(node.arg)], declared.bound)
        if unfit is not None and node.op == "assign" and not scope and (why := misfit_assign(node, of, most)):
            _put(unfit, node, why)
            of = [of[0], of[0]]
        check_dtype(node, of, mixed=mixed)
        if unfit is not None and node.op in _LEAVING and not scope:
            _note(node, of, declared, most, unfit)
        else:
            check_shape(node, of, declared, most)
    except ValueError as error:
        raise ScheduleError("form.C10", f"{where}: {error}") from None
    if node.op != "buf" and not (spoken or (unfit and node.id in unfit) or any(variables_of(each) for each in of)):
        if len(_FITTING) == MOST_FITTING:
            _FITTING.clear()
        _FITTING.add(alike)


MOST_FITTING: Final = 1 << 14
"""Kinds of nodes that are kept as fitting."""

_FITTING: Final[set[tuple[object, ...]]] = set()
"""What decides whether a node fits, of nodes that did and speak of no variables. Nodes of a graph are much alike: it
spares what was 10 % of a fresh typed program."""


def _check_names(where: str, node: Node, declared: Declarations) -> set[str]:
    """Refuse an unknown dtype and variables that are not declared; return the variables that the node speaks of."""
    if node.dtype not in NUMPY:
        raise ScheduleError("form.C3", f"{where}: unknown dtype {node.dtype!r}")
    spoken = variables_of(node)
    for name in sorted(spoken - {str(node.arg)} if node.op == "var" else spoken):
        if name not in declared.variables:
            raise ScheduleError("form.C3", f"{where}: variable {name!r} is not declared")
    return spoken


def _put(unfit: dict[str, str], node: Node, why: str) -> None:
    """Put why a node has no meaning, where it has none, and none is known yet."""
    if why:
        unfit.setdefault(node.id, why)


def _check_devices(
    where: str, node: Node, of: list[Node], declared: Declarations, unfit: dict[str, str] | None = None
) -> None:
    """Refuse unknown devices, and sources on other devices: where ``unfit`` is given those of an operation go there."""
    if node.device not in declared.devices:
        raise ScheduleError("form.C3", f"{where}: device {node.device!r} is not declared")
    if unfit is not None and node.op == "alu" and node.device in {source.device for source in of}:
        _put(unfit, node, misfit_devices(of))
    elif node.op not in {"copy", "all_reduce", "collective", "call", "item"}:
        for source in of:
            if source.device != node.device:
                raise ScheduleError(
                    "form.C7", f"{where}: it is on {node.device}, its source {source.id!r} on {source.device}"
                )
    if node.op == "collective":
        _check_members(where, node, of, declared)


_LEAVING: Final = ("reshape", "permute", "expand", "shrink", "flip", "stride", "reduce")
"""What can ask for something outside its source: axes or elements that are not there, or another number of them."""


def _note(node: Node, of: list[Node], declared: Declarations, most: Values, unfit: dict[str, str]) -> None:
    """Check the shape of a node, and note where it leaves its source; raise ``ValueError`` for one too large."""
    check_shape(node, [], declared, most)
    try:
        check_shape(node, of, declared, most)
    except ValueError as error:
        unfit[node.id] = str(error)


def _check_members(where: str, node: Node, of: list[Node], declared: Declarations) -> None:
    """Refuse members that are no devices, or not this node's, or not those that the sources are on."""
    for member in node.members:
        if member not in declared.devices:
            raise ScheduleError("form.C3", f"{where}: member {member!r} is no declared device")
    if len(set(node.members)) != len(node.members) or node.device not in node.members:
        raise ScheduleError("form.C10", f"{where}: its members must be distinct devices, {node.device} among them")
    if len(of) % len(node.members):
        raise ScheduleError(
            "form.C10", f"{where}: {len(of)} sources are not one of each of {len(node.members)} members"
        )
    for source, member in zip(of, node.members * (len(of) // len(node.members)), strict=True):
        if source.device != member:
            raise ScheduleError("form.C7", f"{where}: its source {source.id!r} is on {source.device}, not {member}")
