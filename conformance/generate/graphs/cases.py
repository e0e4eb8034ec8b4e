"""What graph cases grow from."""

from __future__ import annotations

from typing import Final

from conformance.cases.graph.case import GraphCase
from conformance.generate import choices
from conformance.generate.choices import Choice
from conformance.generate.graphs.graphs import random_graphs, several

KINDS: Final = (random_graphs(), *((several(),) * 2))


def graph_cases() -> Choice[GraphCase]:
    """Return the choice of a case of any kind."""
    return choices.one_of(*KINDS)
