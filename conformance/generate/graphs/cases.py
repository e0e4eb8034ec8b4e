"""What graph cases grow from."""

from __future__ import annotations

from typing import Final

from conformance.cases.graph.case import GraphCase
from conformance.generate import choices
from conformance.generate.choices import Choice
from conformance.generate.graphs.graphs import (
    bits_kept,
    meetings,
    random_graphs,
    several,
    single,
    wide_fan,
)

KINDS: Final = (
    *((random_graphs(),) * 13),
    *((several(),) * 39),
    *((meetings(),) * 6),
    *((single(),) * 12),
    bits_kept(),
    *((wide_fan(),) * 2),
)


def graph_cases() -> Choice[GraphCase]:
    """Return the choice of a case of any kind."""
    return choices.one_of(*KINDS)
