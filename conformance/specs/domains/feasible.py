"""Which pairs of words of the table of case features can meet in one collective.

``feasible.json`` has, for each word, the words that no default draw of the seeds 0 and 1 brought it
together with. Why most of them cannot meet is in docs/drawing.md.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from conformance.reference.situations import COUNT, FEATURES, NUMBER

FILE: Final = Path(__file__).with_name("feasible.json")


@cache
def infeasible() -> frozenset[tuple[str, str]]:
    """Return the pairs of words that cannot meet, each as ``feature=word``, in the order of the table."""
    listed = json.loads(FILE.read_text(encoding="utf-8"))["infeasible"]
    return frozenset((one, other) for one, others in listed.items() for other in others)


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
