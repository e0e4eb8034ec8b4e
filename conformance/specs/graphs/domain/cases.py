"""What the draws of the suite ``graphs`` are of."""

from __future__ import annotations

from typing import Final

from conformance.cases.graph.case import GraphCase
from conformance.specs.domains import choices
from conformance.specs.domains.choices import Draw
from conformance.specs.domains.steering.chained import chained
from conformance.specs.graphs.domain.chains import chains
from conformance.specs.graphs.domain.edges.edge_cases import edge_case
from conformance.specs.graphs.domain.graphs import (
    bits_kept,
    illegal,
    long_chain,
    meetings,
    random_graphs,
    several,
    single,
    wide_fan,
)
from conformance.specs.graphs.domain.neighbours.table import neighbour_case

KINDS: Final = (
    *((random_graphs(),) * 13),
    *((several(),) * 39),
    *((meetings(),) * 6),
    *((single(),) * 12),
    bits_kept(),
    *((illegal(),) * 12),
    *((wide_fan(),) * 2),
    long_chain((300,)),
    long_chain((2000, 10_000)),
)
"""What the draws are of that have neither a chain dealt nor patterns."""


@choices.composite
def graph_cases(draw: Draw) -> GraphCase:
    """Draw a case of any kind: at some numbers of draws a chain that is dealt, patterns, or a part of whole tables."""
    listed = edge_case(draw) or neighbour_case(draw)
    if listed is not None:
        return listed
    classes = chained(draw)
    return draw(chains(classes) if classes else draw(choices.sampled_from(KINDS)))
