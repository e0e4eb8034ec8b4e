"""A pattern: a function that lists a few nodes and returns those to ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from conformance.cases.graph.graph import Node
from conformance.specs.graphs.domain.listing import Edge

Pattern = Callable[[Edge], list[Node]]

COUNTED: Final = np.arange(12).reshape(3, 4) % 5
"""What buffers of patterns hold in which any numbers do."""

TIES: Final = (2**53 + 1, 2**62 + 2**38 + 1, -(2**53) - 1, 2**55 + 2**31 + 1, 2**60 + 2**36 + 1, 16777217)
"""Integers beyond what a double holds, and above a tie of float32 by less than a double tells."""
