"""What a schedule must be to be judged at all; whoever reads one refuses what breaks these."""

from __future__ import annotations

from conformance.judging.schedules.clause import FormClause
from conformance.reference.schedule.facts import Facts
from conformance.specs.schedules.facts.subjects import (
    dependent,
    is_wait,
    named_twice,
    some_body,
    some_buffer,
    some_collective,
    some_leaf,
    uses_buffers,
)


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
        "No two items have one name, nor two buffers, two handles, or two nodes of one graph or function. The "
        "value of a node is said to be in one buffer at most at the end.",
        "tinygrad.schedule: bufferize_to_store",
        lambda facts: named_twice(facts.schedule),
    ),
    FormClause(
        "form.C2",
        "Every buffer that is used is declared.",
        "tinygrad.lazy: _replace_bufferops",
        some_leaf(uses_buffers),
    ),
    FormClause(
        "form.C3",
        "Every device, variable, node, function, item and sequence that a schedule names is declared in it, and "
        "every dtype exists. The algorithm of a collective is naive, one_shot, ring, all_to_all, direct, tree, ring "
        "to one, all_to_all to one, or left out.",
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
        "No item, node, function or base of a buffer depends on itself.",
        "tinygrad.schedule: get_kernel_graph",
        lambda facts: dependent(facts.schedule),
    ),
    FormClause(
        "form.C7",
        "All buffers of a kernel are on its device, or on devices of the collective that it is a part of; what a "
        "collective reads or writes is on its participants; and sources are on the device of their node, but for "
        "copies, collectives and calls.",
        "tinygrad.schedule: split_store",
        some_leaf(uses_buffers),
    ),
    FormClause(
        "form.C8",
        "Sizes, offsets, ranges, maps, views, parts and places fit the buffers and nodes that they refer to. "
        "Local memory is a storage of its own, which nobody outside sees. Variables and devices have limits that "
        "are possible.",
        "tinygrad.lazy: _replace_bufferops",
        some_buffer(lambda each: True),
    ),
    FormClause(
        "form.C9",
        "A collective has distinct participants, a turn for each where it lists turns, and either parts, which "
        "alone say what they are after, or an access for each participant that reads or writes in its operation. "
        "No part has a handle of its own.",
        "tinygrad.multi: all_reduce",
        some_collective(lambda each: True),
    ),
    FormClause(
        "form.C10",
        "A node fits its sources, its argument, its dtype and its shape.",
        "tinygrad.lazy: LazyBuffer.schedule",
        lambda facts: bool(facts.nodes),
    ),
    FormClause(
        "form.C11",
        "An instruction of a body takes only values of earlier instructions of that body, in dtypes that its "
        "operation accepts. It loads or stores by an access of the item whose map begins with the extents of the "
        "body.",
        "tinygrad.schedule: add_ranges_to_store",
        some_body(lambda each: True),
    ),
    FormClause(
        "form.C12",
        "A call gives a fitting buffer for each parameter of its sequence, and the sequence names only its "
        "parameters and buffers of its own.",
        "tinygrad.schedule: resolve_function",
        lambda facts: facts.captured is not None and bool(facts.captured.sequences),
    ),
)
