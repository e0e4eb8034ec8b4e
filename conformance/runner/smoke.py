"""The first cases of the deck, and the plainest there are: worked examples, and draws that nobody finds hard."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from inspect import signature
from itertools import islice
from time import monotonic
from typing import Any, Final

import numpy as np

from conformance.cases.case import Case, Operand, case_id
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array
from conformance.generate.claims import Claimed
from conformance.generate.operations import DOMAINS
from conformance.judging.subject import Subject
from conformance.reference.operations import OPERATIONS
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.deck import meant
from conformance.runner.dialect import Trial
from conformance.runner.dialects import trial
from conformance.runner.draws import numbered
from conformance.runner.meaning import meaning
from conformance.runner.records.record import CaseRecord
from conformance.runner.worker.interface import Judgeable
from conformance.specs import OPS
from conformance.specs.op import Example, Op
from conformance.vectors.best_order import best_order
from conformance.vectors.deck import Deck, deck
from conformance.vectors.deck_error import NothingLeftError

PLAIN: Final = 3
"""Plain draws for each operation: with the examples, seconds in all even where each case is compiled."""

DRAWS: Final = 100
"""Draws an operation among which the plain ones are looked for; of every operation one in four is plain."""

WORDS: Final[Claimed] = {
    "layout": ["contiguous"], "size": ["one", "many"], "values": ["plain"], "groups": ["none", "even"], "axes": ["one"],
    "operands": ["one", "none"], "dtype": ["int32", "float32", "none"], "calls": ["legal"],
    "world": ["2", "3", "4", "5", "6", "7", "8"],
}  # fmt: skip
"""What a plain program has, by feature; one without blocks has no words for them."""


FIRST: Final = 64
"""Cases of the deck that are asked. JAX takes half a second for one on a plain machine."""

SECONDS: Final = 40.0
"""Seconds after which nothing more is asked, so that all of it takes less than a minute."""

AHEAD: Final = 8
"""Cases that are under way at once: those are what is waited for after that."""


def smoke(name: str, worker: Judgeable, watch: Callable[[CaseRecord], None]) -> None:
    """Judge ``worker`` on the first cases of the deck within its claims, and on what is plain of the rest of them.

    ``watch`` sees each record. Worked examples and plain draws are those of claimed operations that the deck had no
    case of. Raise ``StartError`` when it does not start, and ``DeckError`` where the deck does not fit the suite.
    """
    backend = BackendRun(name, worker, watch)
    began = monotonic()
    frozen = deck()
    try:
        order = best_order(frozen, backend.scope.claims)
    except NothingLeftError:
        order = []
    _ask(backend, (meant(frozen.cases[number]) for number in order[:FIRST]), began)
    judged = {op for (_, op), count in backend.records.tally.judged.items() if count}
    left = [op for op in OPS if op in backend.scope.claims and op not in judged]
    _ask(backend, (one for op in left for one in _of(op, frozen, order)), monotonic())


def _of(op: str, frozen: Deck, order: Sequence[int]) -> Iterator[Trial]:
    """Yield the first case of an operation that the deck has, and the plain ones where it has none."""
    first = next((number for number in order if frozen.cases[number].op == op), None)
    if first is not None:
        yield meant(frozen.cases[first])
        return
    for case in plain_cases(op):
        one = trial(case)
        assert one is not None  # every program is a case
        yield one


def _ask(backend: BackendRun, cases: Iterable[Trial], began: float) -> None:
    for one in cases:
        while backend.dialogues.outstanding >= AHEAD:
            backend.collect(1.0)
        if monotonic() - began > SECONDS:
            break
        backend.offer(one)
    while backend.dialogues.outstanding:
        backend.collect(1.0)


@cache
def smoke_cases() -> tuple[Case, ...]:
    """Return the worked examples and the plain draws of every operation, each case once."""
    cases = (case for op in OPS for case in plain_cases(op))
    return tuple({case_id(case): case for case in cases}.values())


@cache
def plain_cases(op: str) -> tuple[Case, ...]:
    """Return the worked examples and the plain draws of one operation."""
    return (*(example_case(op, example) for example in OPS[op].examples), *_plain(OPS[op]))


def example_case(op: str, example: Example) -> Case:
    """Return a worked example as a case of one step."""
    world = len(example.results)
    operands = example.blocks if isinstance(example.blocks, tuple) else (example.blocks,)
    names = [p.name for p in signature(OPERATIONS[op]).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    one: Layout = "contiguous"
    plain = (one,) * world
    names = names if len(names) > 1 else ["x"][: len(names)]
    inputs = {
        name: Operand(blocks=tuple(from_array(np.array(block, example.dtype)) for block in blocks), layouts=plain)
        for name, blocks in zip(names, operands, strict=True)
    }
    step = Step(
        op=op, inputs=tuple(inputs), outputs=("y",), axes=("i",), groups=example.groups, attrs=dict(example.attrs)
    )
    return Case(program=Program(mesh=(Axis("i", world),), steps=(step,), results=("y",)), inputs=inputs)


def _plain(op: Op) -> Iterator[Case]:
    found: dict[str, Case] = {}
    for number in range(DRAWS):
        case, _ = numbered(DOMAINS[op.name], 0, number, WORDS)
        if _is_plain(meaning(case)):
            found.setdefault(case_id(case), case)
    yield from islice(found.values(), PLAIN)


def _is_plain(subject: Subject) -> bool:
    """Return whether a program has the words above alone, and sends nobody a message of its own."""
    found = subject.features.words
    plain = all(found.get(name, frozenset()) <= {*words} for name, words in WORDS.items())
    return subject.legal and plain and not any(map(_to_itself, subject.case.program.steps))


def _to_itself(step: Step) -> bool:
    pairs: Any = step.attrs.get("pairs", ())
    sources: Any = step.attrs.get("sources", ())
    return any(source == place for source, place in (*pairs, *enumerate(sources)))
