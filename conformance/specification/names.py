"""What names mean that shown code uses and no page shows the code of, and where the pages stop showing code."""

from __future__ import annotations

from typing import Final

ELSEWHERE: Final = {
    "Array": "a NumPy array",
    "Axis": "a mesh axis: its `name` and its `size`",
    "AxisType": "the type of a value, with the axes along which it is `varying`, `unreduced` and `reduced`",
    "Attr": "the value of an attribute",
    "Block": "what a rank holds of a value: its `dtype` and its `shape`",
    "Case": "a program, its inputs and its `faults`; `troubled` where a step is for some ranks alone or something "
    "befalls a rank, and `dying` are the ranks that die",
    "CaseError": "the case is malformed: an error of whoever wrote it, about which no clause speaks",
    "Graph": "the `nodes` of a graph in program order, and its `functions`",
    "COMPUTING": "the steps that compute on each rank alone",
    "EFFECTS": "the steps that make storage, write it, end it or wait",
    "GraphCase": "a graph with what its `buffers` hold, and its `rounds`: what each writes from outside beforehand, "
    "which nodes are `asked` for and which buffers are `read`; `listed(number)` are the nodes that round lists, and "
    "`bound(number)` the values of variables in it",
    "Groups": "tuples of whole numbers",
    "INVARIANT": "the type that is invariant along every axis",
    "LEAVES": "the nodes without sources: `buf`, `const`, `iota`, `param`, `var`",
    "LOCAL": "the local operations",
    "Level": "a new axis: its `name`, its `size`, for each of `inputs` that has it which axis of the block it is, and "
    "which axis of each `result`",
    "MOVEMENT": "the nodes that are movement, `detach` among them",
    "NUMPY": "by the name of a dtype, the NumPy or ml_dtypes type of its elements",
    "Node": "a node: `op`, `shape`, `dtype`, `device`, the names `of` its sources, and its argument `arg` in the table "
    "of nodes; the `fold` of a reduce or an all_reduce, and the dtype `acc` that a reduce accumulates in; the "
    "`members` and `attrs` of a collective",
    "Program": "its `mesh`, its `steps` and the names of its `results`; its `world` is the number of ranks",
    "ScheduleError": "the graph is malformed",
    "Reals": "an array of float64, an element a number",
    "Slack": "which elements have one right value only, and how far apart right ones may be; `slack_of`, `exact` and "
    "`unsettled` compute and ask it, and change no value",
    "State": "a state along a mesh axis",
    "Step": "a step: `op`, its `inputs` and `outputs` by name, the mesh `axes`, the `groups` of positions, `attrs`, "
    "the targets `into`, whether it is a `start`, and the `ranks` that have it; it is `idle` over no mesh axis and no "
    "local one",
    "TABLE": "what is said of each operation beside its function: how many `operands` it has, in what the blocks of an "
    "operand may `differ`, whether its result is `sized` by the group, which operand it is written `over` in place, "
    "whose blocks are read (`readers`), who has a result (`writers`), of what kind (`result`), and what it `folds`",
    "Tensor": "an array as a case stores it; `to_array` gives the NumPy array",
    "TypedProgram": "a program: `mesh`, `inputs`, `steps`, `results`; its `names` are the axes that it may name, and "
    "its `started` the operations under way, by what starting them gave",
    "TypedStep": "a step: `op`, `inputs`, `output`, the mesh `axes` that it names, `attrs`, `groups`, and whether it "
    "is a `start`",
    "Values": "the value of each variable",
    "asked_key": "the key of a value that a round asks for; `read_key` that of a buffer that it reads",
    "cast_to": "`typing.cast`, which changes nothing",
    "changed": "`msgspec.structs.replace`: the same value with other fields",
    "check_step": "the attributes of a step, defaults filled in",
    "cleared": "the array with zeros in the bits of its bytes that its dtype does not use",
    "ends_of": "the least and the greatest right value of each element; see `Slack`",
    "exact": "see `Slack`",
    "exchanges": "the module of the operation that has the function: all_to_all and ragged_all_to_all",
    "gathers": "the module of the operation all_gather",
    "kind": "the family of a dtype, in the table of dtypes: bool, integer, float or complex",
    "leaf": "the node of what a rank holds of a value",
    "lines": "see [How a function is written](specification.md#how-a-function-is-written)",
    "logical": "the name of the dtype of a NumPy type",
    "moves": "the module of the operation permute",
    "of": "the type with these states by axis, which is invariant along every other axis",
    "operation": "see [How a function is written](specification.md#how-a-function-is-written)",
    "nodes": "a step that computes as nodes of a graph, in order: its value is the last",
    "names": "what each name of a program is; it finds steps that are malformed",
    "rank_groups": "see [How a function is written](specification.md#how-a-function-is-written)",
    "read_key": "see `asked_key`",
    "row": "see `TABLE`",
    "scatters": "the module of the operation reduce_scatter",
    "sizes": "extents as numbers: those that are variables, or expressions of variables, by the values of these",
    "slack_after": "see `Slack`",
    "slack_of": "see `Slack`",
    "Span": "see `Slack`",
    "sums": "the module of the operation all_reduce",
    "to_array": "see `Tensor`",
    "unsettled": "see `Slack`",
    "window": "a view of a block by the attributes of a step `view`",
    "validate_graph": "the nodes that do not fit their sources, each with the problem",
    "misfit_kind": "the kind of such a node, a key of `UNFIT`",
    "MOVES": "the kind of movement that leaves its source",
    "ASSIGNS": "the kind of an assign whose value does not fit its target",
    "CALLS": "the kind of a call that does not fit its function",
    "MEETS": "the kind of an operation on values of several devices",
}
"""Names that the pages tell of in words."""

TOLD: Final = frozenset({"spmd.check_step"})
"""Definitions of the reference that the table tells of in words: it looks after the types of attributes."""

CUT: Final = frozenset(
    {
        "exactness",
        "graph.bounds",
        "graph.complex_arithmetic",
        "graph.real_arithmetic",
        "graph.rounding",
        "graph.rounding_operations",
        "graph.slack",
    }
)
"""Modules of the reference that say which elements have more than one right value. ``graph.C3`` says it in words."""

WRITTEN_OUT: Final = frozenset(
    {
        "conformance.cases.graph.promotion",
        "conformance.cases.types.lowered",
        "conformance.cases.types.starts",
        "conformance.specs.types.starts",
    }
)
"""Modules outside the reference that are shown with it."""
