"""The campaign: draws of several seeds, and cases that are enumerated, each with what it shows and costs."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.generate.covering import covering
from conformance.generate.small_calls import DRAWN_SMALL
from conformance.generate.table import Table
from conformance.generate.tables.graphs import TABLE_OF_GRAPHS
from conformance.generate.tables.programs import TABLE_OF_PROGRAMS
from conformance.generate.tables.sharded import TABLE_OF_SHARDED
from conformance.generate.tables.typed import TABLE_OF_TYPED
from conformance.qualification.asking import beside
from conformance.qualification.deck.candidate import DECISIVE, FAMILIES, Candidate, features_of, keep
from conformance.qualification.deck.decisive import calls as decisive_calls
from conformance.qualification.deck.decisive import graphs as decisive_graphs
from conformance.qualification.deck.decisive import sharded as decisive_sharded
from conformance.qualification.deck.decisive import typed as decisive_typed
from conformance.qualification.deck.plain_calls import calls_on_nothing, plain_calls, uneven_calls
from conformance.qualification.legal_schedules.engine import Scheduler
from conformance.qualification.small_calls import apart_calls, small_calls
from conformance.reference.operations import OPERATIONS
from conformance.runner.dialect import Trial
from conformance.runner.dialects import dialects, operations, trial
from conformance.runner.dialects.schedule import ScheduleSubject
from conformance.runner.draws import numbered
from conformance.runner.plan import Plan
from conformance.runner.worker.in_process import InProcess
from conformance.vectors.shown_values import parts_of
from conformance.vectors.stored import form_of, written

LARGEST: Final = 1 << 15
"""Characters of a case's text, at most: 2,000 cases have 4 MB in the wheel, and their text packs to a tenth."""

ALIKE: Final = 3
"""Enumerated cases of a source that show the same, at most: of 60,000 small calls most do."""

SECONDS: Final = 4
"""Schedules that are judged of a case: the first one, and those that have to agree with it."""

NEVER: Final = ("long",)
"""Suites that stay drawn: their blocks have 64 KiB and more."""


TABLES: Final = (
    ("collectives", "collectives", "all_reduce", TABLE_OF_PROGRAMS),
    ("graphs", "graphs", "graph", TABLE_OF_GRAPHS),
    ("sharding", "sharding", "sharded", TABLE_OF_SHARDED),
    ("types", "types", "typed_program", TABLE_OF_TYPED),
)
"""Family, suite and operation of each table; the operation of a case is its own."""

DECIDING: Final = (
    ("collectives", "collectives", "all_reduce", "attributes", decisive_calls.attributes),
    ("collectives", "collectives", "all_reduce", "reductions", decisive_calls.reductions),
    ("collectives", "async", "all_reduce", "collectives waited for twice", decisive_calls.waited_twice),
    ("collectives", "collectives", "ragged_all_to_all", "ragged exchange", decisive_calls.ragged),
    ("graphs", "graphs", "graph", "operations", decisive_graphs.operations),
    ("graphs", "graphs", "graph", "operations of one element", decisive_graphs.of_one_element),
    ("graphs", "graphs", "graph", "conversions", decisive_graphs.conversions),
    ("graphs", "graphs", "graph", "operations of constants", decisive_graphs.of_constants),
    ("graphs", "graphs", "graph", "folds", decisive_graphs.folds),
    ("graphs", "graphs", "graph", "folds that devices meet in", decisive_graphs.met_on_devices),
    ("sharding", "sharding", "sharded", "folds across devices", decisive_sharded.folds),
    ("sharding", "sharding", "sharded", "operations of parts", decisive_sharded.operations),
    ("types", "types", "typed_program", "starts waited for twice", decisive_typed.waited_twice),
)
"""Family, suite and operation of what is enumerated for pairs that draws seldom make, what it is, and its cases."""


@dataclass(frozen=True)
class Source:
    """Cases of one suite and operation, in order, each with where it is from, under the ``name`` of their file.

    They are ``drawn`` as those of a run are, or all ``small`` calls of the operation, or enumerated in another way. Of
    a ``whole`` one the deck has every case.
    """

    name: str
    suite: str
    op: str
    cases: Callable[[], Iterator[tuple[str, Any]]]
    drawn: bool = False
    small: bool = False
    whole: bool = False


def drawn(seeds: Sequence[int], examples: int, families: Sequence[str]) -> list[Source]:
    """Return the draws of some seeds, as the default profile would share out so many ``examples``."""
    found = []
    for dialect in dialects().values():
        if FAMILIES[dialect.name] not in families:
            continue
        suites = tuple(suite for suite in dialect.suites if suite not in NEVER)
        for draws in Plan(ops=dialect.ops, examples=examples, suites=suites).draws():
            for seed in seeds:
                name = f"{draws.suite}-{draws.op}-{seed}-{draws.examples}"
                found.append(
                    Source(name, draws.suite, draws.op, _draws(draws.domain, seed, draws.examples), drawn=True)
                )
    return found


def _draws(domain: Any, seed: int, count: int) -> Callable[[], Iterator[tuple[str, Any]]]:
    def cases() -> Iterator[tuple[str, Any]]:
        for number in range(count):
            yield f"seed {seed} draw {number}", numbered(domain, seed, number)[0]

    return cases


def enumerated(families: Sequence[str]) -> list[Source]:
    """Return what is enumerated: a covering array over each table, and all small calls of each collective."""
    tables = [
        Source(f"table-{table.name}".replace(" ", "-"), suite, op, _rows(table))
        for family, suite, op, table in TABLES
        if family in families
    ]
    tables += [
        Source(f"decisive-{what}".replace(" ", "-"), suite, op, _numbered(f"{DECISIVE} {what}", cases), whole=True)
        for family, suite, op, what, cases in DECIDING
        if family in families
    ]
    if "collectives" not in families:
        return tables
    apart = _numbered("small program of ranks apart", apart_calls)
    plain = _numbered("plain call", plain_calls)
    nothing = _numbered("call on nothing", calls_on_nothing)
    uneven = _numbered("uneven call", uneven_calls)
    calls = [
        Source(
            f"small-{op}",
            suite_of(op, "collectives"),
            op,
            _numbered(f"small call of {op}", partial(small_calls, op)),
            small=True,
        )
        for op in OPERATIONS
        if op not in DRAWN_SMALL
    ]
    return [
        *tables,
        Source("small-apart", "liveness", "all_reduce", apart, small=True),
        Source("plain-calls", "collectives", "all_reduce", plain),
        Source("calls-on-nothing", "collectives", "all_reduce", nothing),
        Source("uneven-calls", "collectives", "all_to_all_uneven", uneven),
        *calls,
    ]


def _numbered(what: str, cases: Callable[[], Iterator[Any]]) -> Callable[[], Iterator[tuple[str, Any]]]:
    return lambda: ((f"{what}, number {number}", case) for number, case in enumerate(cases()))


def _rows(table: Table) -> Callable[[], Iterator[tuple[str, Any]]]:
    def cases() -> Iterator[tuple[str, Any]]:
        for number, (_, case) in enumerate(covering(table).cases):
            yield f"table of {table.name}, row {number}", case

    return cases


def campaign(folder: Path, sources: Sequence[Source], tell: Callable[[str], None]) -> None:
    """Make the candidates of every source that are not on disk, a file for each source."""
    judge = Costs()
    for number, source in enumerate(sources):
        path = folder / f"{source.name}.zlib"
        if path.exists():
            continue
        found: dict[str, Candidate] = {}
        alike: Counter[bytes] = Counter()
        for origin, case in source.cases():
            one = _candidate(case, source.suite, origin, judge)
            if one is None:
                continue
            shown = hashlib.blake2b(msgspec.msgpack.encode((one.parts, one.features))).digest()
            alike[shown] += 1
            if source.drawn or source.whole or alike[shown] <= ALIKE:
                found.setdefault(one.name, one)
        keep(path, list(found.values()))
        tell(f"{number + 1} of {len(sources)}: {len(found)} candidates of {source.name}")


def _candidate(case: Any, suite: str, origin: str, costs: Costs) -> Candidate | None:
    began = time.process_time()
    one = trial(case, suite)
    meant = time.process_time() - began
    if one is None:
        return None
    text = written(case)
    return made(one, text, origin, meant + costs.seconds(one)) if len(text) <= LARGEST else None


def made(one: Trial, text: bytes, origin: str, seconds: float) -> Candidate:
    """Return a case with its meaning as a candidate."""
    subject = one.subject.graph if isinstance(one.subject, ScheduleSubject) else one.subject
    parts = [(sorted(part.clauses), sorted(part.words)) for part in parts_of(subject) if part.clauses and part.words]
    return Candidate(
        name=one.name,
        family=FAMILIES[one.dialect.name],
        suite=one.suite,
        op=one.facts.op,
        origin=origin,
        form=form_of(one.case),
        seconds=round(seconds, 5),
        features=features_of(one),
        parts=parts,
        text=text,
        valued=one.facts.legal and one.dialect.valued(one.subject),
    )


class Costs:
    """What it takes to ask the reference about a case and to judge its answer."""

    def __init__(self) -> None:
        """Have one reference for all; it makes no schedules, of which plain ones are judged."""
        self._reference, self._scheduler = (
            InProcess(BackendSpec(backend.__qualname__, ()), backend=backend()) for backend in (Reference, Scheduler)
        )

    def seconds(self, one: Trial) -> float:
        """Return the seconds of the processor."""
        schedules = isinstance(one.subject, ScheduleSubject)
        worker = self._scheduler if schedules else self._reference
        terms, began = worker.ready.terms, time.process_time()
        beside(one, worker.ask, terms, None)
        return (SECONDS if schedules else 1) * (time.process_time() - began)


def suite_of(op: str, likely: str) -> str:
    """Return a suite that has cases of an operation: ``likely``, where it has."""
    suites = operations()[op].suites
    return likely if likely in suites and op in suites[likely].domains else next(iter(suites))
