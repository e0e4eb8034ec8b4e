"""Near misses: of elements, or parts, with a bound, the last value that is permitted, and the first that is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

import numpy as np

from conformance.cases.observation import Observation
from conformance.cases.tensor.dtypes import NUMPY, Array, kind
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.qualification.frozen.altered_elements import at, put

MOST_STEPS: Final = 1 << 20
"""Steps from one number to the next that are gone; elements that may be farther off are bound by nothing."""

ELEMENTS: Final = 3
"""Elements of an answer whose bound is looked for."""


def near_misses(
    seen: Observation, random: Random, permitted: Callable[[Observation], bool]
) -> Iterator[tuple[str, Observation]]:
    """Yield answers with one element just inside and just outside what is permitted, where more than one value is."""
    places = [
        (name, rank, index)
        for name, ranks in sorted(seen.results.items())
        for rank, one in enumerate(ranks)
        if one is not None and kind(one.dtype) in ("float", "complex")
        for index in range(_parts(to_array(one)).size)
    ]
    for name, rank, index in random.sample(places, min(ELEMENTS, len(places))):
        tensor = at(seen, (name, rank))
        whole, side = to_array(tensor), random.choice((1, -1))
        flat = _parts(whole)

        def off(steps: int, flat: Array = flat, index: int = index, side: int = side) -> Observation | None:
            other = _moved(flat[index : index + 1], side * steps)
            if other is None:
                return None
            array = flat.copy()
            array[index] = other[0]
            made = array.view(whole.dtype).reshape(tensor.shape)  # noqa: B023 - called here alone
            return put(seen, (name, rank), from_array(made))  # noqa: B023 - as above

        yield from _both_sides(off, permitted)


def _parts(array: Array) -> Array:
    """Return the elements in a row, of complex numbers the parts."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _both_sides(
    off: Callable[[int], Observation | None], permitted: Callable[[Observation], bool]
) -> Iterator[tuple[str, Observation]]:
    inside, outside = 0, 1
    while outside <= MOST_STEPS and (made := off(outside)) is not None and permitted(made):
        inside, outside = outside, 2 * outside
    if not inside or outside > MOST_STEPS or off(outside) is None:
        return
    while outside - inside > 1:
        middle = (inside + outside) // 2
        made = off(middle)
        assert made is not None  # between two numbers
        inside, outside = (middle, outside) if permitted(made) else (inside, middle)
    for word, steps in (("just inside", inside), ("just outside", outside)):
        made = off(steps)
        assert made is not None  # as above
        yield word, made


def _moved(element: Array, steps: int) -> Array | None:
    """Return the number so many steps away from zero, or towards it; ``None`` past zero and what is finite."""
    width = NUMPY[from_array(element).dtype].itemsize
    raw = int.from_bytes(element.tobytes(), "little")
    sign = 1 << (8 * width - 1)
    size = (raw & ~sign) + steps
    if not 0 <= size < sign:
        return None
    made = np.frombuffer((size | raw & sign).to_bytes(width, "little"), element.dtype)
    with np.errstate(all="ignore"):
        return made if np.isfinite(made).all() and np.isfinite(element).all() else None
