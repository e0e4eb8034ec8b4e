"""The reference of graphs, sharded tensors and types, wrong wherever a value meets a condition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from random import Random
from typing import Any, Final

from msgspec.structs import replace

from conformance.backends.base import Types
from conformance.backends.case_arrays import tensors
from conformance.backends.exceptions import rank_error
from conformance.backends.observing import typed
from conformance.backends.reference import Reference
from conformance.cases.graph.case import GraphCase
from conformance.cases.observation import Observation
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import Tensor, from_array, to_array
from conformance.cases.types.typed_case import Level, TypedCase
from conformance.cases.types.typed_program import TypedProgram
from conformance.qualification.auto.conditional.faulty_collectives import REFUSAL, Fault
from conformance.qualification.auto.conditional.value_words import ILLEGAL, KINDS, LEGAL, Valued, values
from conformance.qualification.auto.conditional.wrong_results import RESULTS
from conformance.qualification.other_cases import other_cases
from conformance.runner.dialects import operations, suites

Blocks = Mapping[str, list[Array]]

SAID: Final[Mapping[str, Callable[[Observation, str, int], Observation]]] = {
    "another state along an axis": lambda seen, name, at: replace(seen, types=_retyped(seen, name, at)),
    "two devices' places exchanged": lambda seen, name, at: replace(seen, layouts=_placed(seen, name, at)),
}
"""What may be wrong about what is said of a value."""

EFFECTS: Final = tuple(
    sorted({*RESULTS, *SAID, "refused", "refused as unsupported"} - {"the operand instead of the result"})
)
"""What may be wrong about a legal case; of an illegal one that it is not refused."""


class FaultyValues(Reference):
    """The reference with one fault. ``applied`` counts how often it changed anything."""

    name = "faulty"

    def __init__(self, fault: Fault) -> None:
        """Hold the fault."""
        self.fault, self.applied = fault, 0

    def graph(self, case: GraphCase) -> Observation:
        """Run a graph case with the fault."""
        return self._wrong(case, super().graph(case))

    def sharded(self, case: ShardedCase) -> Observation:
        """Run a program on sharded tensors with the fault."""
        return self._wrong(case, super().sharded(case))

    def typed(self, program: TypedProgram, inputs: Blocks) -> tuple[Types, dict[str, list[Array]]]:
        """Return types and values with the fault."""
        seen = self._typed(TypedCase(program=program, inputs=_stored(inputs)))
        return seen.types, _arrays(seen)

    def pullback(self, program: TypedProgram, inputs: Blocks, cotangents: Blocks) -> dict[str, list[Array]]:
        """Return cotangents with the fault."""
        case = TypedCase(program=program, inputs=_stored(inputs), cotangents=_stored(cotangents))
        return _arrays(self._typed(case))

    def batched(self, program: TypedProgram, levels: Sequence[Level], inputs: Blocks) -> dict[str, list[Array]]:
        """Return mapped results with the fault."""
        case = TypedCase(program=program, inputs=_stored(inputs), batch=tuple(levels))
        return _arrays(self._typed(case))

    def _typed(self, case: TypedCase) -> Observation:
        seen = self._wrong(case, typed(Reference(), case))
        error = next((error for error in seen.errors if error is not None), None)
        if error is not None:
            raise (NotImplementedError if error.category == "unsupported" else ValueError)(error.message)
        return seen

    def _wrong(self, case: Valued, seen: Observation) -> Observation:
        """Return what was seen of a case with the fault in the values that meet the condition."""
        effect = self.fault.effect
        met = [name for name, words in values(case) if self.fault.met(words)]
        if not met or seen.raised != (REFUSAL.get(effect) is True):
            return seen
        if effect in REFUSAL:
            self.applied += 1
            return Observation() if REFUSAL[effect] else _refused(effect)
        for name in met:
            made = SAID[effect](seen, name, self.fault.rank) if effect in SAID else self._spoilt(seen, name)
            self.applied += made != seen
            seen = made
        return seen

    def _spoilt(self, seen: Observation, name: str) -> Observation:
        blocks = [None if block is None else to_array(block) for block in seen.results[name]]
        made = RESULTS[self.fault.effect](blocks, [], self.fault.rank, self.fault.element)
        return seen if made is None else replace(seen, results=seen.results | tensors({name: made}))


def _arrays(seen: Observation) -> dict[str, list[Array]]:
    """Return the blocks of every result; those of a rank without any are left out, as nothing else is like that."""
    return {name: [to_array(block) for block in blocks if block is not None] for name, blocks in seen.results.items()}


def _refused(effect: str) -> Observation:
    raised: Exception = ValueError("refused") if effect == "refused" else NotImplementedError("refused")
    return Observation(errors=(rank_error(raised),))


def _retyped(seen: Observation, name: str, at: int) -> Any:
    given = seen.types.get(name)
    axes = sorted(given.by_axis) if given is not None else []
    if given is None or not axes:
        return seen.types
    axis = axes[at % len(axes)]
    return seen.types | {name: given.along((axis,), "invariant")}


def _placed(seen: Observation, name: str, at: int) -> Any:
    layout = seen.layouts.get(name)
    if layout is None:
        return seen.layouts
    one, other = at % len(layout.boxes), (at + 1) % len(layout.boxes)
    boxes = list(layout.boxes)
    boxes[one], boxes[other] = boxes[other], boxes[one]
    return seen.layouts | {name: replace(layout, boxes=tuple(boxes))}


def _stored(blocks: Blocks) -> dict[str, tuple[Tensor, ...]]:
    return {name: tuple(map(from_array, each)) for name, each in blocks.items()}


WITNESSES: Final = 7_000_003
"""What the seed of the cases that conditions are taken from is above that of the mutants."""


def value_faults(random: Random, seed: int) -> Iterator[Fault]:
    """Yield faults, each with one to three words of a value of a drawn case of another seed, in which it shows.

    So every condition is one that some legal case meets.
    """
    by_op: dict[str, list[Valued]] = {}
    for each in other_cases(seed + WITNESSES, 60, tuple(suites()), tuple(operations())):
        if isinstance(each.case, KINDS):
            by_op.setdefault(each.op, []).append(each.case)
    for _ in count():
        case = random.choice(by_op[random.choice(sorted(by_op))])
        listed = values(case)
        if not listed:  # a lowering is asked for, and no value
            continue
        _, words = random.choice(listed)
        fault = _fault(random, words)
        # The lowest bit of what is rounded is nobody's duty.
        if (fault.effect != "lowest bit flipped" or not _rounded(words)) and _shows(fault, case):
            yield fault


def _fault(random: Random, words: frozenset[str]) -> Fault:
    effect = random.choice(EFFECTS) if LEGAL in words else "not refused"
    fixed = {word for word in words if word in (LEGAL, ILLEGAL) or word.startswith("dialect=")}
    others = sorted(words - fixed)
    chosen = random.sample(others, min(len(others), random.choice((1, 2, 3))))
    return Fault(effect, frozenset({*fixed, *chosen}), random.choice((0, 1, -1)), random.choice((0, 1, -1)))


def _rounded(words: frozenset[str]) -> bool:
    return any("float" in word.partition(" dtype ")[2] for word in words)


def _shows(fault: Fault, case: Valued) -> bool:
    """Return whether a fault changes something in a case."""
    backend = FaultyValues(fault)
    if isinstance(case, TypedCase):
        typed(backend, case)
    elif isinstance(case, GraphCase):
        backend.graph(case)
    else:
        backend.sharded(case)
    return backend.applied > 0
