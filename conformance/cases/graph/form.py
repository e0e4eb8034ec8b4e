"""Which graphs are well formed: every node fits its sources, its argument and its shape."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from conformance.cases.graph.graph import LEAVES, MOVEMENT, Graph, Node
from conformance.cases.schedule.body_form import MOST_AXES, MOST_POINTS, countable
from conformance.cases.schedule.error import ScheduleError
from conformance.cases.schedule.index_map import Values, sizes
from conformance.cases.schedule.kernel_body import ARITY, COMPARISONS, check_kind
from conformance.cases.schedule.schedule import Buffer, Schedule, bound_values
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import Tensor

FOLDS: Final = ("add", "mul", "max", "min", "and", "or", "xor")

_SOURCES: Final = {**dict.fromkeys(LEAVES, 0), **dict.fromkeys(MOVEMENT, 1), "assign": 2} | dict.fromkeys(
    ("cast", "bitcast", "reduce", "contig", "copy"), 1
)


def check_graph(graph: Graph, schedule: Schedule, most: Values) -> None:
    """Raise ``ScheduleError`` unless the nodes of the graph and of its functions are well formed."""
    buffers = {buffer.id: buffer for buffer in schedule.buffers}
    _check_variables(graph, schedule)
    _check_calls(graph)
    scopes = {"": (graph.nodes, graph.results)}
    scopes |= {name: (function.nodes, (function.result,)) for name, function in graph.functions.items()}
    for scope, (nodes, results) in scopes.items():
        known: dict[str, Node] = {}
        names = [node.id for node in nodes]
        for node in nodes:
            if node.id in known:
                raise ScheduleError("form.C1", f"node {node.id!r}: two nodes have this id")
            for source in node.of:
                if source not in names:
                    raise ScheduleError("form.C3", f"node {node.id!r}: source {source!r} is no node of its graph")
                if source not in known:
                    raise ScheduleError("form.C6", f"node {node.id!r}: {_cycle(node.id, source, nodes)}")
            _check_node(node, [known[source] for source in node.of], schedule, buffers, most, inner=bool(scope))
            if node.op == "assign" and not _storage(node.of[0], known, buffers):
                raise ScheduleError(
                    "form.C5", f"node {node.id!r}: the target {node.of[0]!r} of an assign is not a view of a buffer"
                )
            if node.op == "call":
                _check_call(node, graph)
            known[node.id] = node
        for result in results:
            if result not in known:
                raise ScheduleError("form.C3", f"graph: result {result!r} is no node")


def _check_variables(graph: Graph, schedule: Schedule) -> None:
    """Refuse a variable that the schedule does not declare as the graph does, and a value that it may not have."""
    for name, asked in graph.variables.items():
        declared = schedule.variables.get(name)
        if declared is None:
            raise ScheduleError("form.C3", f"graph: variable {name!r} is not declared")
        if (declared.low, declared.high) != (asked.low, asked.high) or not asked.low <= asked.value <= asked.high:
            raise ScheduleError(
                "form.C8",
                f"graph: variable {name!r} is {asked.value} in {asked.low} to {asked.high}, and the schedule declares "
                f"{declared.low} to {declared.high}",
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


def _check_call(node: Node, graph: Graph) -> None:
    """Refuse a call that is not what its function gives."""
    function = graph.functions[str(node.arg)]
    for given in (each for each in function.nodes if each.id == function.result):
        for what, found, right in (
            ("shape", list(node.shape), list(given.shape)),
            ("dtype", node.dtype, given.dtype),
            ("device", node.device, given.device),
        ):
            if found != right:
                where = f"node {node.id!r} (call)"
                raise ScheduleError("form.C10", f"{where}: its {what} is {found}, and {node.arg!r} gives {right}")


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


def _storage(name: str, known: Mapping[str, Node], buffers: Mapping[str, Buffer]) -> bool:
    node = known[name]
    while node.op in {"reshape", "permute", "shrink", "stride", "flip", "detach", "assign"}:
        node = known[node.of[0]]
    return node.op == "buf" and node.arg in buffers


def _check_node(
    node: Node, of: list[Node], schedule: Schedule, buffers: Mapping[str, Buffer], most: Values, *, inner: bool
) -> None:
    """Raise ``ScheduleError`` unless a node fits its sources, its argument and its shape."""
    where = f"node {node.id!r} ({node.op})"
    if node.dtype not in NUMPY:
        raise ScheduleError("form.C3", f"{where}: unknown dtype {node.dtype!r}")
    if node.device not in schedule.devices:
        raise ScheduleError("form.C3", f"{where}: device {node.device!r} is not declared")
    for name in (dim for dim in node.shape if isinstance(dim, str)):
        if name not in schedule.variables:
            raise ScheduleError("form.C3", f"{where}: variable {name!r} is not declared")
    if node.op not in {"copy", "all_reduce", "collective", "call"}:
        for source in of:
            if source.device != node.device:
                raise ScheduleError(
                    "form.C7", f"{where}: it is on {node.device}, its source {source.id!r} on {source.device}"
                )
    if node.op == "collective":
        _check_members(where, node, of, schedule)
    if node.op == "buf" and node.arg not in buffers:
        raise ScheduleError("form.C2", f"{where}: buffer {node.arg!r} is not declared")
    if node.op == "param" and not inner:
        raise ScheduleError("form.C10", f"{where}: a parameter stands outside a function")
    try:
        _check_arity(node, of)
        _check_argument(node, schedule)
        if node.op == "buf":
            _check_buffer(node, buffers[str(node.arg)])
        _check_dtype(node, of)
        _check_shape(node, of, schedule, most)
    except ValueError as error:
        raise ScheduleError("form.C10", f"{where}: {error}") from None


def _check_members(where: str, node: Node, of: list[Node], schedule: Schedule) -> None:
    """Refuse members that are no devices, or not this node's, or not those that the sources are on."""
    for member in node.members:
        if member not in schedule.devices:
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


def _check_arity(node: Node, of: list[Node]) -> None:
    if any(isinstance(dim, int) and dim < 0 for dim in node.shape):
        raise ValueError(f"shape {list(node.shape)} has a negative extent")
    if node.op == "alu" and node.arg not in ARITY:
        raise ValueError(f"{node.arg!r} is no operation; known are {', '.join(ARITY)}")
    wanted = ARITY[str(node.arg)] if node.op == "alu" else _SOURCES.get(node.op)
    if node.op == "all_reduce" and not of:
        raise ValueError("it has no sources to reduce")
    if wanted is not None and len(of) != wanted:
        raise ValueError(f"it has {len(of)} sources, and should have {wanted}")


def _check_buffer(node: Node, buffer: Buffer) -> None:
    if (buffer.dtype, buffer.device) != (node.dtype, node.device):
        raise ValueError(f"buffer {buffer.id!r} is {buffer.dtype} on {buffer.device}")
    fixed = [dim for dim in node.shape if isinstance(dim, int)]
    if len(fixed) == len(node.shape) and math.prod(fixed) * NUMPY[node.dtype].itemsize != buffer.size:
        raise ValueError(f"shape {list(node.shape)} is not the {buffer.size} bytes of {buffer.id!r}")


def _check_argument(node: Node, schedule: Schedule) -> None:
    arg, rank = node.arg, len(node.shape)
    if node.op == "const" and not (isinstance(arg, Tensor) and arg.shape == () and arg.dtype == node.dtype):
        raise ValueError(f"its argument must be a {node.dtype} tensor without axes")
    if node.op == "var" and (arg not in schedule.variables or node.shape):
        raise ValueError(f"{arg!r} is no declared variable, or it has axes")
    if node.op in {"reduce", "all_reduce"} and node.fold not in FOLDS:
        raise ValueError(f"{node.fold!r} is no fold; known are {', '.join(FOLDS)}")
    if node.op == "copy" and not (arg is None or isinstance(arg, bool)):
        raise ValueError("its argument says whether it is forced")
    if node.op == "param" and not (isinstance(arg, int) and not isinstance(arg, bool) and arg >= 0):
        raise ValueError(f"{arg!r} is no number of a parameter")
    if node.op in {"pad", "shrink"}:
        if not (isinstance(arg, tuple) and len(arg) == rank and all(isinstance(pair, tuple) for pair in arg)):
            raise ValueError(f"it needs a pair for each of its {rank} axes")
        for name in (end for pair in arg if isinstance(pair, tuple) for end in pair):
            if isinstance(name, str) and name not in schedule.variables:
                raise ValueError(f"variable {name!r} is not declared")
    if node.op == "collective" and not (isinstance(arg, str) and arg.isidentifier()):
        raise ValueError(f"{arg!r} is no name of an operation")
    if node.op == "stride" and not (
        isinstance(arg, tuple) and len(arg) == rank and all(isinstance(step, int) and step > 0 for step in arg)
    ):
        raise ValueError(f"it needs a positive step for each of its {rank} axes")
    if node.op in {"permute", "flip", "reduce"} and not (
        isinstance(arg, tuple)
        and all(isinstance(axis, int) and axis >= 0 for axis in arg)
        and len(set(arg)) == len(arg)
    ):
        raise ValueError("its argument must be distinct axes, counted from 0")


def _check_dtype(node: Node, of: list[Node]) -> None:
    if node.op == "bitcast" and NUMPY[of[0].dtype].itemsize != NUMPY[node.dtype].itemsize:
        raise ValueError(f"a bitcast from {of[0].dtype} to {node.dtype} changes the width")
    if not of or node.op in {"cast", "bitcast", "collective", "call"}:
        return
    dtypes = [source.dtype for source in of]
    if node.op == "alu" and node.arg == "where" and dtypes.pop(0) != "bool":
        raise ValueError("the first source of where must be bool")
    if len(set(dtypes)) > 1:
        raise ValueError(f"its sources have the dtypes {', '.join(dtypes)}")
    check_kind(str(node.arg) if node.op == "alu" else node.fold, dtypes[0])
    right = "bool" if node.op == "alu" and node.arg in COMPARISONS else dtypes[0]
    if node.dtype != right:
        raise ValueError(f"its dtype is {node.dtype}, and should be {right}")


def _check_shape(node: Node, of: list[Node], schedule: Schedule, most: Values) -> None:
    lowest = {name: bounds.low for name, bounds in schedule.variables.items()}
    if not countable(sizes(node.shape, most)):
        raise ValueError(f"shape {list(node.shape)} has more than {MOST_POINTS} elements, or {MOST_AXES} axes")
    if not of or node.op in {"collective", "call"}:
        return
    # Two variables of the same bounds differ in what they are bound to alone.
    for values in (lowest, most, bound_values(schedule)):
        given = [sizes(source.shape, values) for source in of]
        if len(set(given)) > 1:
            raise ValueError(f"its sources have the shapes {', '.join(str(list(shape)) for shape in given)}")
        if shape_of(node, given[0], values) != sizes(node.shape, values):
            raise ValueError(f"its shape is {list(node.shape)}, which does not follow from {list(of[0].shape)}")


def shape_of(node: Node, given: tuple[int, ...], values: Values) -> tuple[int, ...] | None:
    """Return the shape a node has by its operation and argument, or ``None`` when that is no shape."""
    found, fits = given, True
    arg = node.arg if isinstance(node.arg, tuple) else ()
    axes = [axis for axis in arg if isinstance(axis, int)]
    pairs = [sizes(pair, values) for pair in arg if isinstance(pair, tuple)]
    if node.op in {"reshape", "expand"}:
        found = sizes(node.shape, values)
        fits = math.prod(found) == math.prod(given)
        if node.op == "expand":
            fits = len(found) == len(given) and all(old in {new, 1} for new, old in zip(found, given, strict=True))
    elif node.op == "permute":
        fits = sorted(axes) == list(range(len(given)))
        found = tuple(given[axis] for axis in axes) if fits else ()
    elif node.op == "pad":
        fits = len(pairs) == len(given) and all(end >= 0 for pair in pairs for end in pair)
        found = tuple(sum(pair) + extent for pair, extent in zip(pairs, given, strict=False))
    elif node.op == "shrink":
        fits = len(pairs) == len(given) and all(0 <= b <= e <= n for (b, e), n in zip(pairs, given, strict=True))
        found = tuple(end - begin for begin, end in pairs)
    elif node.op == "stride":
        found = tuple(-(-extent // step) for extent, step in zip(given, axes, strict=False))
    elif node.op in {"flip", "reduce"}:
        fits = all(axis < len(given) for axis in axes)
        if node.op == "reduce":
            found = tuple(extent for axis, extent in enumerate(given) if axis not in axes)
    return found if fits else None
