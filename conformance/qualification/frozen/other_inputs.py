"""What the reference answers where an input has another element: all that is made of that element follows it.

Clauses speak of one element at a time; whether what is made of a wrong, or of a freely chosen one is blamed too, only
such answers show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from random import Random
from typing import Final

from msgspec.structs import replace

from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.cases.case_error import CaseError
from conformance.cases.graph.case import GraphCase
from conformance.cases.observation import Observation
from conformance.cases.tensor.tensor import Tensor
from conformance.qualification.frozen.altered_elements import ELEMENTS
from conformance.qualification.frozen.asked import backend
from conformance.qualification.frozen.observation import FrozenObservation, Given, frozen_answer
from conformance.reference.rejection import Rejected

WORDS: Final = ("no NaN", "sign of a zero", "no infinity", "a NaN", "low bit")
"""How elements are altered, what few inputs have first."""

Blocks = tuple[Tensor, ...]


def of_other_inputs(frozen: FrozenObservation, random: Random) -> Iterator[FrozenObservation]:
    """Yield what the reference answers of another element, where a case has several steps of which it answered."""
    case, (first, *_) = frozen.case, frozen.answers
    if not isinstance(first, Given) or first.seen.raised or not _of_several(case):
        return
    given = Observation(results=_inputs(case))
    for word in WORDS:
        made = ELEMENTS[word](given, random)
        if made is None:
            continue
        with suppress(CaseError, Rejected, ValueError):
            answer = frozen_answer(backend(Reference).ask(_with(case, made.results)))
            if isinstance(answer, Given) and answer.seen != first.seen and not answer.seen.raised:
                yield replace(frozen, answers=(answer, *frozen.answers[1:]), altered=f"of other inputs: {word}")


def _of_several(case: object) -> bool:
    if isinstance(case, GraphCase):
        return True
    return isinstance(case, Case) and not case.troubled and len(case.program.steps) > 1


def _inputs(case: Case | GraphCase) -> dict[str, tuple[Tensor | None, ...]]:
    if isinstance(case, GraphCase):
        return {name: (held,) for name, held in case.buffers.items()}
    return {name: operand.blocks for name, operand in case.inputs.items()}


def _with(case: Case | GraphCase, inputs: Mapping[str, tuple[Tensor | None, ...]]) -> Case | GraphCase:
    blocks: dict[str, Blocks] = {name: tuple(filter(None, each)) for name, each in inputs.items()}
    if isinstance(case, GraphCase):
        return replace(case, buffers={name: held for name, (held,) in blocks.items()})
    return replace(case, inputs={name: replace(each, blocks=blocks[name]) for name, each in case.inputs.items()})
