"""What a drawn graph is made with: its dtype, and the words that its swarm leaves on."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, get_args

import ml_dtypes
import numpy as np

from conformance.cases.graph.elementwise import ARITY, COMPARISONS, Fold
from conformance.cases.graph.graph import Movement
from conformance.cases.tensor.dtypes import NUMPY, Kind, kind
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.generate import choices
from conformance.generate.choices import Draw
from conformance.generate.graphs.vocabulary import DTYPES, taking
from conformance.reference.situations import dtype_word

RARE: Final = ("mod", "shl", "shr")
"""Operations that few engines have a word for; a swarm has them in one of ten draws, lest all others be refused."""

MOVES: Final = tuple(op for op in get_args(Movement) if op != "detach")

_FORCED: Final = (None, True)
_DTYPE: Final = choices.steered(DTYPES, ("dtype",), lambda dtype: (dtype_word(dtype),))


class Swarm(NamedTuple):
    """What a draw may use.

    ``dtype`` and ``other`` are those of buffers. ``meetings`` are collectives of the specification, and ``calls``
    functions.
    """

    dtype: str
    other: str
    unary: tuple[str, ...]
    binary: tuple[str, ...]
    folds: tuple[Fold, ...]
    moves: tuple[str, ...]
    converting: tuple[str, ...]
    meetings: bool
    calls: bool
    forced: tuple[bool | None, ...]


@choices.composite
def swarms(draw: Draw) -> Swarm:
    """Draw what a graph may use: about half of everything, but always something of each kind."""
    dtype = draw(_DTYPE)
    rare = draw(choices.integers(0, 9)) == 9
    every = tuple(word for word in ARITY if rare or word not in RARE)
    unary = taking(dtype, tuple(word for word in every if ARITY[word] == 1))
    binary = taking(dtype, tuple(word for word in every if ARITY[word] == 2 and word not in COMPARISONS))
    folds = taking(dtype, get_args(Fold))
    bits = kind(dtype) == "bool"
    folds = tuple(fold for fold in folds if fold not in (("add", "mul") if bits else ("and", "or", "xor")) or rare)
    return Swarm(
        dtype=dtype,
        other=draw(choices.sampled_from([each for each in DTYPES if each != dtype])),
        unary=tuple(draw(choices.subsets(unary))),
        binary=tuple(draw(choices.subsets(binary))),
        folds=tuple(draw(choices.subsets(folds))),  # type: ignore[arg-type]  # folds all
        moves=tuple(draw(choices.subsets(MOVES))),
        converting=tuple(draw(choices.subsets(("lt", "where", "cast", "eq", "ne", "bitcast")))),
        meetings=draw(choices.integers(0, 9)) == 9,
        calls=draw(choices.integers(0, 9)) == 9,
        forced=tuple(draw(choices.subsets(_FORCED))),
    )


def constant(draw: Draw, dtype: str) -> Tensor:
    """Draw a constant: a small number, or what is dangerous to fold."""
    values: dict[Kind, list[Any]] = {
        "bool": [True, False],
        "integer": [1, 2, 3, 0, 0, -1],
        "float": [1, 2, 0, 0, 0, -1, 0.5, -0.0, np.inf, np.nan],
        "complex": [1, 2, 1j, -1 + 2j],
    }
    held = NUMPY[dtype]
    value = draw(choices.sampled_from(values[kind(dtype)]))
    if value == -1 and kind(dtype) == "integer":
        value = int(ml_dtypes.iinfo(held).max) if ml_dtypes.iinfo(held).min == 0 else -1
    with np.errstate(all="ignore"):
        return from_array(np.array(value, np.float64 if isinstance(value, float) else None).astype(held))
