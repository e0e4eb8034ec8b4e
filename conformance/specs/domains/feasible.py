"""Which pairs of words of the table of case features can meet in one collective.

What an operation has no attribute for is read off its row. ``feasible.json`` has, for each word, the others that no
default draw of the seeds 0 and 1 brought it together with. Why most of them cannot meet is in docs/drawing.md.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from conformance.reference.operations import TABLE
from conformance.reference.situations import COUNT, FEATURES, NUMBER

FILE: Final = Path(__file__).with_name("feasible.json")


_SAID_BY: Final = {
    "reduction": {"op"},
    "axis": {"axis", "split_axis"},
    "local": {"local_axes"},
    "tiled": {"tiled"},
    "root": {"root"},
}
"""Features, and the attributes of which an operation has one where they say anything."""


def _by_rows() -> frozenset[tuple[str, str]]:
    """Return the pairs of an operation and what it has no attribute for, or groups that it does not allow."""
    found = {
        (f"operation={op}", f"{feature}={word}")
        for op, row in TABLE.items()
        for feature, attributes in _SAID_BY.items()
        for word in FEATURES[feature]
        if word != "none" and attributes.isdisjoint(row.attributes)
    }
    uneven = {(f"operation={op}", "groups=uneven") for op, row in TABLE.items() if row.groups == "equal"}
    return frozenset(found | uneven)


@cache
def infeasible() -> frozenset[tuple[str, str]]:
    """Return the pairs of words that cannot meet, each as ``feature=word``, in the order of the table."""
    listed = json.loads(FILE.read_text(encoding="utf-8"))["infeasible"]
    return frozenset((one, other) for one, others in listed.items() for other in others) | _by_rows()


@cache
def rare() -> tuple[dict[str, str], ...]:
    """Return the pairs that default draws without steering towards them met seldom, each as words by feature."""
    listed = json.loads(FILE.read_text(encoding="utf-8"))["rare"]
    return tuple(dict(word.split("=") for word in pair) for pair in listed)


@cache
def feasible_pairs() -> NDArray[np.bool_]:
    """Return, for the numbers of two words of which the first's feature comes before the other's, if they can meet."""
    features = [list(FEATURES).index(feature) for feature, _ in NUMBER]
    found = np.less.outer(features, features)
    number = {f"{feature}={word}": each for (feature, word), each in NUMBER.items()}
    for one, other in infeasible():
        found[number[one], number[other]] = False
    assert found.shape == (COUNT, COUNT)
    return found
