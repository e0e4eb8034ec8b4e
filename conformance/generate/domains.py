"""What the cases of the dialects of graphs, sharded tensors and types are drawn from, operation by operation.

Programs of collectives have a file for each suite (``generate.suites``).
"""

from __future__ import annotations

from typing import Final

from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import Graph
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.types.typed_case import TypedCase
from conformance.generate.choices import Choice, one_of
from conformance.generate.covering import rows
from conformance.generate.deal import dealing
from conformance.generate.graphs.graphs import illegal as illegal_graphs
from conformance.generate.graphs.graphs import random_graphs
from conformance.generate.graphs.graphs import several as several_graphs
from conformance.generate.graphs.motifs import motif_in_turn
from conformance.generate.graphs.packing import packed
from conformance.generate.sharded.expressions import several
from conformance.generate.sharded.folds import folds
from conformance.generate.sharded.hazards import hazards
from conformance.generate.sharded.illegal_programs import illegal_in_turn
from conformance.generate.tables.graphs import TABLE_OF_GRAPHS
from conformance.generate.tables.sharded import TABLE_OF_SHARDED
from conformance.generate.tables.typed import TABLE_OF_TYPED
from conformance.generate.types import data

PACK: Final = 8
"""Rows of the table of graphs in a case: side by side they hide nothing, and cost little more than one of them."""

GRAPHS: Final[Choice[GraphCase]] = dealing(
    "graphs graph",
    one_of(random_graphs(), *[several_graphs()] * 2),
    row=rows(TABLE_OF_GRAPHS, PACK, packed),
    motif=motif_in_turn(),
    illegal=illegal_graphs(),
)

SINGLE_ROUNDS: Final = TABLE_OF_GRAPHS.limited(
    "one round", asked=("last", "both"), written=("never", "view before", "view after")
)

TABLE_GRAPHS: Final[Choice[Graph]] = rows(SINGLE_ROUNDS, PACK, lambda cases: packed(cases).graph)
"""Graphs of rows of the table that are asked for once."""

SHARDED: Final[Choice[ShardedCase]] = dealing(
    "sharding sharded",
    one_of(folds(), *[several()] * 13, *[hazards()] * 2),
    row=rows(TABLE_OF_SHARDED),
    illegal=illegal_in_turn(),
)


def _typed(
    op: str, asked: str, grown: Choice[TypedCase], illegal: Choice[TypedCase] | None = None
) -> Choice[TypedCase]:
    return dealing(op, grown, row=rows(TABLE_OF_TYPED.limited(asked, asked=(asked,))), illegal=illegal)


TYPES: Final[dict[str, Choice[TypedCase]]] = {
    "typed_program": _typed("types typed_program", "types", data.typed_cases(), data.ill_typed_cases()),
    "transposed_program": _typed("transforms transposed_program", "transposed", data.transposed_cases()),
    "batched_program": _typed("transforms batched_program", "batched", data.batched_cases()),
    "pushed_program": _typed("transforms pushed_program", "pushed", data.pushed_cases()),
    "lowered_program": _typed("lowering lowered_program", "lowered", data.lowered_cases()),
    "compiled_program": _typed("lowering compiled_program", "compiled", data.compiled_cases()),
}
