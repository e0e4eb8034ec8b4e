"""How a flat block is cut for the ring and for direct exchange.

The rule is that of ``tinygrad.multi: all_reduce``: at multiples of the largest power of two up to 32 that divides it,
as evenly as that allows, longer chunks first, empty chunks dropped.
"""

from __future__ import annotations

import itertools
import math


def chunks(elements: int, members: int) -> tuple[tuple[int, int], ...]:
    """Return ``(start, stop)`` of each chunk of a flat block."""
    factor = math.gcd(elements, 32)
    base, left = divmod(elements // factor, members)
    sizes = [(base + 1) * factor] * left + [base * factor] * (members - left)
    bounds = [0, *itertools.accumulate(size for size in sizes if size)]
    return tuple(itertools.pairwise(bounds))
