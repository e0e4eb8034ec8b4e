"""The page on types of mesh axes and on transposes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from conformance.cases.types import axis_type
from conformance.cases.types.starts import STARTS
from conformance.reference.transforms import batching, pushforward, transposes
from conformance.reference.transforms.pairing import COTANGENT, pairing
from conformance.reference.transforms.pullback import pullback
from conformance.reference.types import casts, collectives, compiled, local, lowering, started
from conformance.reference.types.check import paired_types
from conformance.specification.clause_table import clause_lines
from conformance.specification.functions import called_lines, function_lines
from conformance.specs.types.batches import BATCHES
from conformance.specs.types.clauses import TRANSPOSES, TYPES
from conformance.specs.types.compiled import COMPILED
from conformance.specs.types.lowering import LOWERING
from conformance.specs.types.pushes import PUSHES
from conformance.specs.types.starts import name_of_start

INTRODUCTION: Final = """\
A typed program has named inputs and a list of steps over a mesh. Each input has a dtype, a shape, and the mesh axes
along which it varies; along the others it is invariant. The step

```text
v = all_reduce(a, op="sum") over i
```

names its result, its operation, its operands, its attributes and mesh axes. Operations are all_gather, all_reduce (a
sum, a mean, a maximum or a minimum), all_to_all, axis_index, broadcast, permute, ragged_all_to_all, reduce_scatter
(of a sum) and shuffle of the [specification](specification.md), `cast` to a state, `done` of what is started, and
local operations, which every rank computes on its own blocks: `add`, `subtract`, `multiply`, `maximum`, `negate`, and
`sum` over an axis of the block. An all_gather has the further attribute `to`, the state of its result. The offsets
and sizes of a ragged_all_to_all are attributes here, with a row for each position in the group; its operands are
`operand` and `output`. A program may be mapped over some axes of the mesh alone, and then names no others. Casts are
automatic where a program does not say otherwise. Its results are blocks; of an unreduced one their sum, on all ranks
along the axis. The sign of a zero is free where a step computes it, and in cotangents. Before its steps a case lists
what holds for all of them:

| line | meaning |
| --- | --- |
| `types are not checked`, `no cast is automatic` | the two exceptions |
| `mapped over i` | the axes that the program may name, where these are not all |
| `level p = 2: axis 1 of a, axis 0 of each result` | a level, and its place in inputs and results |
| `a: float32[2] varying along i` | an input; one that says nothing of axes is invariant |
| `return the cotangents of a`, `return the tangents of v` | what is asked for, where it is not the results |
Each value has one state along each mesh axis:
"""

NOTATION: Final = """\
A rule is given the type of the operand, `given`, and the mesh axes that the step names. It returns `Typing(taken,
result)`: the type of the operand as the operation takes it, automatic casts included, and the type of the result; or
it raises `IllTyped`, and the program is refused. `given.state(axis)` is the state along an axis, and
`given.along(axes, state)` the same type with `state` along `axes`. Where `automatic` is false no operation casts its
operand by itself. A program that is not `checked` has no types.
"""

PULLBACK: Final = """\
Given cotangents of results, the cotangents of inputs are computed by the transposes of the steps in reverse order. A
result without a cotangent has zeros. A value that several steps take has the sum of the cotangents that come back
from them, also where one step takes it twice, and a result that is an input adds its own cotangent. An input that no
result depends on has zeros. An automatic cast is a step of its own, with its own transpose. Where types are not
checked every rank has a value and a cotangent of its own along every axis, whatever axes an input varies along. Each
function below is given the `act`, a step with its groups of ranks and the types and blocks of its operands, and the
cotangent of its result, `given`. It returns a cotangent for each operand. For example,

```text
v = reduce_scatter(a, op="sum", axis=0, tiled=True) over i        2 ranks, a of shape (2)
cotangent of v:  rank 0  [1]    rank 1  [5]
cotangent of a:  rank 0  [1 5]  rank 1  [1 5]                       the transpose is all_gather
```
"""

LEVELS: Final = """\
A program may be mapped over new axes, called levels, the outermost first. A level has a name, a size, for each input
that has the new axis its place in the block, and the place of the new axis in each result. Axes are counted in the
block as the levels outside leave it. An input that a level does not name is the same in each of its slices. The
meaning is that of the program on a mesh with the levels as further axes: each slice is a rank. A step may name a
level among its axes. The shapes of the program are those of a slice: the blocks of a mapped input have one axis more.
Every result has the new axis, also where its slices are all the same. For example, one level `p` of size 2 at axis 1
of `a`, and at axis 0 of the result of `v = add(a, a)`:

```text
a = [[1 2] [3 4] [5 6]]            slices [1 3 5] and [2 4 6]
v = [[2 6 10] [4 8 12]]            a row for each slice
```
"""


STARTED: Final = """\
An operation can be started where the table has it, in states along the axes that it names; without types the
first of its operation stands for all.
"""

LOWERED: Final = (
    "What a compiler makes of a step: the ranks that meet, rank by rank, or the numbers of an index. What only one "
    "kind of device has is not judged: by JAX's documentation all groups have one size on TPUs."
)

Shown = tuple[Callable[..., Any], ...]

RULES: Final[Shown] = (
    casts.cast,
    casts.one_state,
    casts.made_varying,
    collectives.all_reduce,
    collectives.all_gather,
    collectives.reduce_scatter,
    collectives.moved,
    collectives.broadcast,
    local.taken,
    local.local,
)
STARTING: Final = (started.refuse_pending, name_of_start)
TRANSPOSING: Final[Shown] = (pullback, paired_types, pairing, *dict.fromkeys(transposes.TRANSPOSES.values()))
TANGENTS: Final = (pushforward.pushforward, pushforward.tangent)
MAPPING: Final = (batching.batched, batching.sliced, batching.stacked)
LOWERINGS: Final = (lowering.lowered, lowering.by_step)
COMPILATION: Final = (compiled.compiled, compiled.cut_off, compiled.comes, compiled.reached)
"""The functions of each chapter."""

SHOWN: Final[Shown] = (*RULES, *STARTING, *TRANSPOSING, *TANGENTS, *MAPPING, *LOWERINGS, *COMPILATION)
"""The functions of all chapters."""

OPERATION_MODULES: Final = ("operations.", "reductions", "groups", "graph.")
"""Modules whose code the page on operations shows."""


def type_lines() -> list[str]:
    """Return the lines of the page, below its title."""
    return [
        *_states(),
        *_rules(),
        *_starts(),
        *_heading("Clauses of types"),
        *clause_lines(TYPES),
        *_cotangents(),
        *_heading("Clauses of transposes"),
        *clause_lines(TRANSPOSES),
        *_heading("Tangents"),
        *function_lines(TANGENTS),
        *_heading("Clauses of tangents"),
        *clause_lines(PUSHES),
        *_heading("Mapping over new axes", LEVELS),
        *function_lines(MAPPING),
        *_heading("Clauses of mapping"),
        *clause_lines(BATCHES),
        *_heading("Lowering", LOWERED),
        *function_lines(LOWERINGS),
        *_heading("Clauses of lowering"),
        *clause_lines(LOWERING),
        "## Compiled programs",
        "",
        "What is left of the steps of a program when it is compiled, and what cannot be left out.",
        "",
        *function_lines(COMPILATION),
        "## Clauses of compiled programs",
        "",
        *clause_lines(COMPILED),
        "## Functions that these call",
        "",
        "Functions of operations, and what they call, are in [specification.md](specification.md).",
        *called_lines(SHOWN, OPERATION_MODULES),
    ]


def _states() -> list[str]:
    said = " ".join((axis_type.__doc__ or "").split("\n\n")[1].split()).replace("``", "`")
    casts_of = [f"| {old} | {new} | there is one |" for old, new in sorted(casts.TABLE)]
    return [*_heading("States", INTRODUCTION), said, "", *_table("from | to | cast", casts_of)]


def _rules() -> list[str]:
    return [*_heading("Rules", NOTATION), *function_lines(RULES)]


def _starts() -> list[str]:
    rows = [f"| {name} | {s.op} | {s.operand or '-'} | {s.result or '-'} | {s.op} |" for name, s in STARTS.items()]
    return [
        *_heading("Starts", STARTED),
        *_table("start | operation | operand | result | done", rows),
        *function_lines(STARTING),
    ]


def _cotangents() -> list[str]:
    rows = [f"| {state} | {other} |" for state, other in COTANGENT.items()]
    return [
        *_heading("Transposes", PULLBACK),
        "A value and its cotangent have these states along an axis:",
        "",
        *_table("value | cotangent", rows),
        *function_lines(TRANSPOSING),
    ]


def _heading(title: str, text: str = "") -> list[str]:
    """Return a heading and the text below it."""
    return [f"## {title}", "", *([*text.splitlines(), ""] if text else [])]


def _table(head: str, rows: list[str]) -> list[str]:
    """Return a table with these words at its head, separated by bars."""
    return [f"| {head} |", "| " + " | ".join("---" for _ in head.split("|")) + " |", *rows, ""]
