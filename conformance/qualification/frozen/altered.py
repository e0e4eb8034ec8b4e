"""Answers with one thing about them altered: a bit, a dtype, who answered, what was touched, what was said beside.

Each kind of alteration goes one step past what some clause permits, or stays within it; which of both, the clauses say.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final, get_args

import numpy as np
from msgspec.structs import replace

from conformance.cases.observation import Category, Observation, RankError, Touched
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.qualification.frozen.altered_elements import ELEMENTS, Alter, at, places, put, with_element
from conformance.qualification.frozen.structure import otherwise
from conformance.qualification.frozen.told_otherwise import TOLD

BESIDE: Final = ("layouts", "moved", "sizes", "realized", "types", "lowered")
"""What an answer says beside values."""


RARE: Final = ("another NaN", "sign of a zero", "one part NaN", "another byte of a bool", "afterwards")
"""Alterations of what few answers have: each result that has it is altered so."""

RESULTS: Final = 3
"""Results of an answer that are altered so, at most."""


def altered(seen: Observation, random: Random) -> Iterator[tuple[str, Observation]]:
    """Yield answers that differ from one in one way, each with the word for it, in an order that is drawn."""
    words = sorted(ALTERATIONS)
    random.shuffle(words)
    for word in words:
        made = ALTERATIONS[word](seen, random)
        if made is not None and made != seen:
            yield word, made


def rarely(seen: Observation, random: Random) -> Iterator[tuple[str, Observation]]:
    """Yield answers that differ in what few have, one for each result that has it."""
    for name in random.sample(sorted(seen.results), min(RESULTS, len(seen.results))):
        alone = replace(seen, results={name: seen.results[name]})
        for word in RARE:
            made = ALTERATIONS[word](alone, random)
            if made is not None and made != alone:
                yield word, replace(made, results={**seen.results, **made.results})


def _swapped(seen: Observation, random: Random) -> Observation | None:
    """Return the blocks of two ranks, or of two results, in each other's place."""
    found = places(seen)
    pairs = [(a, b) for a in found for b in found if a < b and at(seen, a) != at(seen, b)]
    if not pairs:
        return None
    first, second = random.choice(pairs)
    return put(put(seen, first, at(seen, second)), second, at(seen, first))


def _reshaped(seen: Observation, random: Random) -> Observation | None:
    found = places(seen)
    if not found:
        return None
    place = random.choice(found)
    one = at(seen, place)
    ways = [(1, *one.shape), (*one.shape, 1), one.shape[::-1], (int(np.prod(one.shape, dtype=int)),)]
    return put(seen, place, replace(one, shape=random.choice(ways)))


def _one_fewer(seen: Observation, random: Random) -> Observation | None:
    found = places(seen, lambda one: one.shape != () and 0 not in one.shape)
    if not found:
        return None
    place = random.choice(found)
    array = to_array(at(seen, place))
    return put(seen, place, from_array(array[:-1] if random.random() < 0.5 else array[..., 1:]))


OTHER: Final = {
    "bool": "uint8", "int32": "int64", "int64": "int32", "uint8": "int8", "int8": "uint8", "uint32": "int32",
    "float32": "float64", "float64": "float32", "bfloat16": "float16", "float16": "bfloat16",
    "complex64": "complex128", "complex128": "complex64",
}  # fmt: skip


def _other_dtype(seen: Observation, random: Random) -> Observation | None:
    found = places(seen)
    if not found:
        return None
    place = random.choice(found)
    one = at(seen, place)
    with np.errstate(all="ignore"):
        return put(seen, place, from_array(to_array(one).astype(NUMPY[OTHER.get(one.dtype, "float32")])))


def _byte_of_bool(seen: Observation, random: Random) -> Observation | None:
    found = places(seen, lambda one: one.dtype == "bool" and 0 not in one.shape)
    if not found:
        return None
    place = random.choice(found)
    return put(seen, place, replace(at(seen, place), bits=at(seen, place).bits.replace("01", "02", 1)))


def _missing(seen: Observation, random: Random) -> Observation | None:
    found = places(seen)
    return put(seen, random.choice(found), None) if found else None


def _unnamed(seen: Observation, random: Random) -> Observation | None:
    if not seen.results:
        return None
    gone = random.choice(sorted(seen.results))
    return replace(seen, results={name: each for name, each in seen.results.items() if name != gone})


def _extra(seen: Observation, random: Random) -> Observation | None:
    """Return a block where there was none, or else a result that nobody named."""
    empty = [(name, rank) for name, ranks in seen.results.items() for rank, one in enumerate(ranks) if one is None]
    found = places(seen)
    if not found:
        return None
    one = at(seen, random.choice(found))
    if empty:
        return put(seen, random.choice(empty), one)
    ranks = len(next(iter(seen.results.values())))
    return replace(seen, results={**seen.results, "unasked": (one,) * ranks})


def _twice(seen: Observation, random: Random) -> Observation | None:
    """Return two elements of two results altered, of which one may be made of the other."""
    one = ALTERATIONS["sign bit"](seen, random)
    return None if one is None else ALTERATIONS["high bit"](one, random)


def _every(seen: Observation, random: Random) -> Observation | None:
    """Return every block of a result, or of all, altered in its last element."""
    names = sorted(seen.results)
    if not names:
        return None
    chosen = names if random.random() < 0.5 else [random.choice(names)]
    made = seen
    for place in places(seen, lambda one: 0 not in one.shape):
        if place[0] in chosen:
            one = at(made, place)
            index = int(np.prod(one.shape, dtype=int)) - 1
            element = to_array(one).reshape(-1)[index : index + 1]
            flipped = bytes([*element.tobytes()[:-1], element.tobytes()[-1] ^ 0x40])
            made = put(made, place, with_element(one, index, flipped))
    return made


def _error(random: Random) -> RankError:
    category: Category = random.choice(get_args(Category))
    return RankError(kind="ValueError", message="the shape does not fit", category=category)


def _ranks(seen: Observation) -> int:
    return max([len(seen.errors), *(len(each) for each in seen.results.values())], default=0)


def _raised_on_one(seen: Observation, random: Random) -> Observation | None:
    count = _ranks(seen)
    if not count:
        return None
    errors = [*seen.errors, *[None] * (count - len(seen.errors))]
    rank = random.randrange(count)
    errors[rank] = _error(random)
    results = {
        name: tuple(None if at == rank else one for at, one in enumerate(ranks)) for name, ranks in seen.results.items()
    }
    return replace(seen, errors=tuple(errors), results=results if random.random() < 0.7 else seen.results)


def _raised(seen: Observation, random: Random) -> Observation:
    return replace(seen, errors=(_error(random),) * max(1, _ranks(seen)), results={})


def _not_raised(seen: Observation, random: Random) -> Observation | None:
    """Return no error of one rank that raised, or of all."""
    if not seen.raised:
        return None
    if random.random() < 0.5:
        return replace(seen, errors=())
    rank = random.choice([at for at, error in enumerate(seen.errors) if error is not None])
    return replace(seen, errors=(*seen.errors[:rank], None, *seen.errors[rank + 1 :]))


def _other_complaint(seen: Observation, random: Random) -> Observation | None:
    if not seen.raised:
        return None
    return replace(seen, errors=tuple(None if each is None else _error(random) for each in seen.errors))


def touching(names: tuple[str, ...]) -> Alter:
    """Return what tells of an input that was changed, or of storage around a buffer; ``names`` are those of inputs."""

    def alter(seen: Observation, random: Random) -> Observation | None:
        if not names:
            return None
        touch = Touched(
            input=random.choice(names), rank=random.randrange(max(1, _ranks(seen))), index=random.randrange(3),
            before="0", after="1", inside=random.random() < 0.5,
        )  # fmt: skip
        return replace(seen, touched=(*seen.touched, touch))

    return alter


def _untouched(seen: Observation, _: Random) -> Observation | None:
    return replace(seen, touched=()) if seen.touched else None


def _health(seen: Observation, random: Random) -> Observation | None:
    if seen.health is None:
        return None
    word = random.choice(("none", "raised", *VALUES))
    if word == "none":
        return replace(seen, health=None)
    made = _raised(seen.health, random) if word == "raised" else ALTERATIONS[word](seen.health, random)
    return None if made is None else replace(seen, health=made)


def _beside(seen: Observation, random: Random) -> Observation | None:
    made = otherwise(seen, random, of=BESIDE)
    return None if made is None else made[1]


VALUES: Final = ("low bit", "sign bit", "high bit", "neighbour", "missing", "other shape", "other dtype")

ALTERATIONS: Final[dict[str, Alter]] = {
    **ELEMENTS,
    **TOLD,
    "blocks exchanged": _swapped,
    "other shape": _reshaped,
    "one fewer": _one_fewer,
    "other dtype": _other_dtype,
    "another byte of a bool": _byte_of_bool,
    "missing": _missing,
    "unnamed": _unnamed,
    "extra": _extra,
    "two values": _twice,
    "every block": _every,
    "raised on one": _raised_on_one,
    "raised": _raised,
    "not raised": _not_raised,
    "another complaint": _other_complaint,
    "untouched": _untouched,
    "afterwards": _health,
    "beside": _beside,
    "beside, again": _beside,
}
"""By a word for each: what is altered. ``None`` where an answer has nothing of the kind."""
