"""The parts of runs: what one suite draws for one operation; which were asked for, and which were cut short."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from conformance.report.inputs.run import Run
from conformance.report.inputs.specification import ClauseText
from conformance.runner.dialects import operations, suites
from conformance.runner.log.header import DECK
from conformance.runner.plan import DECK as THE_DECK
from conformance.runner.plan import Plan

Part = tuple[str, str]
"""A suite and an operation; the deck is one, too, of no operation."""


def asked_for(run: Run) -> Mapping[Part, int]:
    """Return how many cases a run was to draw of each part; of what this version does not know, its examples."""
    header = run.header
    ops = header.ops or tuple(operations())
    known = tuple(op for op in ops if op in operations())
    named = header.suites or tuple(suites())
    plan = Plan(known, header.examples, suites=tuple(suite for suite in named if suite in suites()))
    found = {(draws.suite, draws.op): draws.examples for draws in plan.draws()}
    strange = [(suite, op) for suite in named for op in ops if suite not in suites() or op not in operations()]
    decked = {(THE_DECK, ""): 0} if DECK in header.environment else {}
    return {**found, **dict.fromkeys(strange, header.examples), **decked}


def cut_short(run: Run) -> frozenset[Part]:
    """Return the parts of a run that it did not draw to the end: all of one that never ended."""
    if run.footer is None:
        return frozenset(asked_for(run))
    named = (name.partition(" of ") for name in run.footer.undrawn)
    return frozenset((suite, op) for suite, _, op in named)


def owed(runs: Sequence[Run]) -> frozenset[Part]:
    """Return the parts that a run cut short, and that no other one of them drew as far as that was to."""
    cut = [(asked_for(run), cut_short(run)) for run in runs]
    return frozenset(
        part
        for asked, short in cut
        for part in short
        if not any(part not in other and has.get(part, -1) >= asked.get(part, 0) for has, other in cut)
    )


def whole(specification: Iterable[ClauseText]) -> frozenset[Part]:
    """Return the parts that all of a specification is asked for by: every operation in each suite that draws for it."""
    texts = tuple(specification)
    named = {text.op for text in texts if not text.shared}
    found = {(text.suite, text.op) for text in texts if not text.shared and text.op not in operations()}
    for suite in {text.suite for text in texts} & set(suites()):
        domains = suites()[suite].domains
        found |= {(suite, op) for op in domains if op in named or operations()[op].name != "spmd"}
    return frozenset(found)
