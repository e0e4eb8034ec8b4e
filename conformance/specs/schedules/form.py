"""What a schedule must be to be judged at all; whoever reads one refuses what breaks these."""

from __future__ import annotations

from conformance.judging.schedules.clause import FormClause
from conformance.judging.schedules.facts.subjects import (
    communicates,
    dependent,
    is_wait,
    named_twice,
    some_body,
    some_buffer,
    some_collective,
    some_leaf,
    uses_buffers,
)
from conformance.reference.schedule.facts import Facts


def _names(facts: Facts) -> bool:
    """Speak where anything is named: every buffer, item and node names a device or a dtype."""
    return bool(facts.buffers or facts.leaves or facts.nodes)


def _assigns(facts: Facts) -> bool:
    graph = facts.schedule.graph
    functions = graph.functions.values() if graph else ()
    return any(node.op == "assign" for nodes in (facts.nodes.values(), *(f.nodes for f in functions)) for node in nodes)


FORM = (
    FormClause(
        "form.C1",
        "No two items of a schedule have one name, nor two buffers, two handles, or two nodes of one graph or "
        "function. For each node at most one place is given where its value is at the end.",
        "tinygrad.schedule: bufferize_to_store",
        lambda facts: named_twice(facts.schedule),
    ),
    FormClause(
        "form.C2",
        "Every buffer that an item, a node, a place or the base of another buffer names is declared in the schedule.",
        "tinygrad.lazy: _replace_bufferops",
        some_leaf(uses_buffers),
    ),
    FormClause(
        "form.C3",
        "A schedule declares every device, variable, node, function, item and sequence that it names, and a kernel a "
        "value for its variables. Dtypes exist. A collective's algorithm is naive, one_shot, ring, all_to_all, "
        "direct, tree, ring to one, all_to_all to one, or left out.",
        "tinygrad.lazy: vars_from_ast",
        _names,
    ),
    FormClause(
        "form.C4",
        "A wait names a handle that an item earlier in the schedule has started.",
        "torch.inductor.comm_lowering: _wait_tensor",
        some_leaf(is_wait),
    ),
    FormClause(
        "form.C5",
        "The target of an assign is a buffer, a view of one by movement other than expand and pad, or an assign "
        "to such a target.",
        "tinygrad.schedule: fix_store_hazard",
        _assigns,
    ),
    FormClause(
        "form.C6",
        "No item is after itself or an item that is listed later, no node takes itself or a node that is listed "
        "later, no function calls itself, and no buffer is its own base, neither directly nor through others.",
        "tinygrad.schedule: get_kernel_graph",
        lambda facts: dependent(facts.schedule),
    ),
    FormClause(
        "form.C7",
        "All buffers of a kernel are on its device, or on devices of the collective that it is a part of; each access "
        "of a collective is on the participant that makes it; and sources are on the device of their node, but for "
        "copies, collectives and calls.",
        "tinygrad.schedule: split_store",
        some_leaf(uses_buffers),
    ),
    FormClause(
        "form.C8",
        "Buffers hold whole elements and their shape. Views, ranges and places lie inside buffers. An access has map "
        "or ranges, and parts only of a reduce. Maps have a stride per extent. Local memory has no base or place and "
        "is unreachable from outside. Bounds, alignments, phases are not negative.",
        "tinygrad.lazy: _replace_bufferops",
        some_buffer(lambda each: True),
    ),
    FormClause(
        "form.C9",
        "A collective has participants, each once, and a turn for each where it lists turns. It has either parts, "
        "which alone have edges and have no handles, or an access for each participant that reads in its operation, "
        "then one for each that writes, in order of positions.",
        "tinygrad.multi: all_reduce",
        some_collective(lambda each: True),
    ),
    FormClause(
        "form.C10",
        "A node of the graph of a schedule has the sources, the argument, the dtype and the shape that its operation, "
        "or the function that it calls, prescribes. A parameter stands in a function only. Buffers asked about are "
        "storages of their own, with data at first as asked.",
        "tinygrad.lazy: LazyBuffer.schedule",
        lambda facts: bool(facts.nodes),
    ),
    FormClause(
        "form.C11",
        "An instruction of a body takes only values of earlier instructions of that body, as many as its operation "
        "has, in dtypes that this accepts. It loads or stores by an access of the kernel, a read or a write, whose "
        "map begins with the extents of the body.",
        "tinygrad.schedule: add_ranges_to_store",
        some_body(lambda each: True),
    ),
    FormClause(
        "form.C12",
        "A call gives for each parameter of its sequence a buffer of the same dtype and device with at least as many "
        "bytes, and the items of the sequence name only its parameters and buffers of its own.",
        "tinygrad.schedule: resolve_function",
        lambda facts: facts.captured is not None and bool(facts.captured.sequences),
    ),
    FormClause(
        "form.C13",
        "A communicator has one set of members, but for messages; its buffers are on members, symmetric or registered. "
        "A lasting allocation is no part of a buffer. Each participant's algorithm is known. Thresholds are not "
        "negative. Traced strides fit the map. Pieces of a call agree in operation and turn.",
        "torch.inductor.comm_lowering: realize_as_comm_buffer",
        communicates,
    ),
)
