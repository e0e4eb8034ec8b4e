"""What company hides, measured: broken compiled adapters, asked about cases alone and in company.

``python -m conformance.qualification.company -b jax,stablehlo [--cases N] [--mutants N]`` breaks an adapter in one
operation at a time, where it writes that down for its compiler: always, or under a condition on the result. A mutant
that some case alone kills and no company of the same cases is named, and the exit status is 1.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import Any, Final

import click

from conformance.backends.base import Backend, Claims
from conformance.backends.companies import joint
from conformance.backends.discovery import find, load
from conformance.backends.introduction import introduce
from conformance.backends.observing import graph_observation
from conformance.cases.case import Case
from conformance.cases.observation import Joint, Observation
from conformance.runner.backend.conversation import asked
from conformance.runner.deck import meant
from conformance.runner.dialect import Trial
from conformance.runner.dialects import dialects
from conformance.runner.worker.answers import Answer
from conformance.runner.worker.workers import Worker
from conformance.vectors.best_order import best_order
from conformance.vectors.deck import deck

CASES: Final = 16
"""Cases that a mutant is asked about, one company: a mutant dies by one of the first three of its operation, mostly."""


FAILS: Final = "fails"
"""What a process says before the number of cases that its mutant fails."""


@dataclass(frozen=True)
class Table:
    """Where an adapter writes operations down: functions by name in a ``module``, and how what one makes is spoilt."""

    module: str
    name: str
    kind: str
    spoilt: Callable[[Any], Any]


def _array_spoilt(value: Any) -> Any:
    """Return the value of a framework with one more everywhere; of bools the others."""
    return ~value if "bool" in str(value.dtype) else value + 1


def _text_spoilt(made: Any) -> Any:
    """Return an operation of StableHLO followed by one that gives its complement."""
    text, value = made
    other = type(value)(f"{value.name}_spoilt", value.dtype, value.shape)
    word = "not" if value.dtype == "bool" or "int" in value.dtype else "negate"
    return f'{text}\n{other.name} = "stablehlo.{word}"({value.name}) : ({value.type}) -> {value.type}', other


TABLES: Final = {
    "jax": (
        Table("conformance.backends.jax.collectives", "MAPPED", "programs", _array_spoilt),
        Table("conformance.backends.jax.graphs", "TABLE", "graphs", _array_spoilt),
    ),
    "jax-vmap": (Table("conformance.backends.jax.collectives", "MAPPED", "programs", _array_spoilt),),
    "stablehlo": (Table("conformance.backends.stablehlo.collectives", "COLLECTIVES", "programs", _text_spoilt),),
}

CONDITIONS: Final[dict[str, Callable[[Any], bool]]] = {
    "always": lambda _: True,
    "of floats": lambda value: "float" in str(value.dtype),
    "of blocks with two axes": lambda value: len(value.shape) > 1,
    "of three along an axis": lambda value: 3 in tuple(value.shape),
}


@dataclass(frozen=True)
class Mutant:
    """An operation that is written down wrongly under a condition on its result."""

    table: Table
    op: str
    condition: str

    def __str__(self) -> str:
        """Return what is wrong."""
        return f"{self.op} {self.condition}"

    @contextmanager
    def broken(self) -> Iterator[None]:
        """Break the adapter meanwhile."""
        functions: Any = getattr(import_module(self.table.module), self.table.name)
        right, holds = functions[self.op], CONDITIONS[self.condition]

        def wrong(*args: Any, **options: Any) -> Any:
            made = right(*args, **options)
            several = self.table.kind == "programs" and isinstance(args[0], tuple) and isinstance(made, tuple)
            return tuple(map(one_wrong, made)) if several else one_wrong(made)

        def one_wrong(made: Any) -> Any:
            value = made[1] if isinstance(made, tuple) else made
            return self.table.spoilt(made) if holds(value) else made

        functions[self.op] = wrong
        try:
            yield
        finally:
            functions[self.op] = right


def mutants(backend: str) -> Iterator[Mutant]:
    """Yield the mutants of an adapter, all operations under one condition after the other."""
    for condition in CONDITIONS:
        for table in TABLES[backend]:
            for op in getattr(import_module(table.module), table.name):
                yield Mutant(table, op, condition)


def cases_of(claims: Claims, mutant: Mutant, count: int) -> list[Trial]:
    """Return the first cases of the deck, in the best order, that may be in company and have the operation."""
    frozen = deck()
    suites = tuple(suite for dialect in dialects().values() for suite in dialect.suites)
    order = best_order(frozen, claims, suites, tuple(claims))
    found = (meant(frozen.cases[number]) for number in order if _has(frozen.cases[number].case, mutant))
    companions = (one for one in found if (of := one.dialect.company(one.subject)) and of.kind == mutant.table.kind)
    return list(islice(companions, count))


def _has(case: Any, mutant: Mutant) -> bool:
    if isinstance(case, Case):
        return mutant.table.kind == "programs" and any(step.op == mutant.op for step in case.program.steps)
    nodes = getattr(getattr(case, "graph", None), "nodes", ())
    return mutant.table.kind == "graphs" and any(mutant.op in (node.op, node.arg) for node in nodes)


def kills(backend: Backend, cases: Sequence[Trial], *, together: bool) -> set[str]:
    """Return the cases that do not hold, asked one by one or as companies; all of a company that fails as a whole."""
    terms = introduce(backend).terms

    def holds(one: Trial, seen: Observation) -> bool:
        dialogue = one.dialect.dialogue(one.subject, terms)
        next(dialogue)
        try:
            dialogue.send(Answer(seen))
        except StopIteration as end:
            return bool(end.value.outcome == "passed")
        return False

    def alone(one: Trial) -> Observation:
        return backend.execute(one.case) if isinstance(one.case, Case) else graph_observation(backend, one.case)

    backend.close()  # what was compiled of another mutant is dropped
    if not together:
        return {one.name for one in cases if not holds(one, alone(one))}
    found: set[str] = set()
    for devices in dict.fromkeys(_devices(one) for one in cases):
        members = [one for one in cases if _devices(one) == devices]
        seen = joint(backend, [one.case for one in members])
        each = seen.together if isinstance(seen, Joint) else ()
        found |= {one.name for one, its in zip(members, each, strict=False) if not holds(one, its)}
        found |= {one.name for one in members[len(each) :]}
    return found


def _devices(one: Trial) -> object:
    of = one.dialect.company(one.subject)
    return of and of.devices


def _child(name: str, number: int, names: Sequence[str], *, together: bool) -> None:
    """Print how many of some cases a mutant fails; the adapter may end this process."""
    backend = load(find(name))
    mutant = next(islice(mutants(name), number, None))
    chosen = [meant(each) for each in deck().cases if each.name in names]
    with mutant.broken():
        print(FAILS, len(kills(backend, chosen, together=together)), flush=True)


def dead(name: str, number: int, cases: Sequence[Trial], *, together: bool) -> bool:
    """Return whether a mutant dies, in a process of its own; who ends that process dies."""
    way = "--together" if together else "--alone"
    command = [sys.executable, "-m", "conformance.qualification.company", "-b", name, "--child", str(number), way]
    asked = "\n".join(one.name for one in cases)
    told = subprocess.run(command, input=asked, capture_output=True, text=True, check=False)
    return told.stdout.split() != [FAILS, "0"]


class Sound:
    """Which cases hold on an unbroken adapter, asked in processes that it may end."""

    def __init__(self, worker: Worker) -> None:
        """Ask ``worker``."""
        self._worker = worker
        self._known: dict[str, bool] = {}

    def of(self, cases: Sequence[Trial]) -> list[Trial]:
        """Return those of ``cases`` that hold."""
        for one in cases:
            if one.name not in self._known:
                dialogue = one.dialect.dialogue(one.subject, self._worker.ready.terms)
                self._known[one.name] = asked(dialogue, self._worker)[0].outcome == "passed"
        return [one for one in cases if self._known[one.name]]


def _measured(name: str, cases: int, most: int | None) -> Iterator[str]:
    """Yield the mutants of an adapter that company hides; tell of each what it came to."""
    judged = killed = found = 0
    with Worker(find(name)) as worker:
        sound = Sound(worker)
        for number, mutant in enumerate(islice(mutants(name), most)):
            chosen = sound.of(cases_of(worker.ready.claims, mutant, cases))
            if len(chosen) < 2:
                continue
            alone = dead(name, number, chosen, together=False)
            company = alone and dead(name, number, chosen, together=True)
            judged, killed, found = judged + 1, killed + alone, found + company
            told = "dies alone and in company" if company else "dies alone, and not in company" if alone else "lives"
            click.echo(f"{name}: {mutant}: {told}, {len(chosen)} cases")
            if alone and not company:
                yield f"{name}: {mutant}"
    click.echo(f"{name}: {judged} mutants asked, {killed} die alone, {found} of those in company")


@click.command()
@click.option("-b", "--backend", "names", required=True, help="Adapters, with commas.")
@click.option("--cases", default=CASES, show_default=True, help="Cases that a mutant is asked about.")
@click.option("--mutants", "most", type=int, help="Mutants of each adapter at most [default: all].")
@click.option("--child", type=int, hidden=True)
@click.option("--together/--alone", default=False, hidden=True)
def main(names: str, cases: int, most: int | None, child: int | None, *, together: bool) -> None:
    """Say which mutants of compiled adapters die alone, and which of them company hides."""
    for name in names.split(","):
        if name not in TABLES:
            raise click.UsageError(f"{name!r} is no adapter with company; known are {', '.join(TABLES)}")
    if child is not None:
        _child(names, child, sys.stdin.read().split("\n"), together=together)
        return
    hidden = [one for name in names.split(",") for one in _measured(name, cases, most)]
    for one in hidden:
        click.echo(f"hidden by company: {one}", err=True)
    raise SystemExit(1 if hidden else 0)


if __name__ == "__main__":
    main()
