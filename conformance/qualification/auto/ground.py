"""What is known before a mutant runs: the right answers, whether they pass, and which cases come to which code."""

from __future__ import annotations

import functools
import gc
import hashlib
import importlib.util

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec
from conformance.cases.case import Case

from conformance.qualification.auto.drawn import Drawn, kept
from conformance.qualification.auto.facts import facts
from conformance.qualification.auto.judged import SCHEDULES, asked, failing, key
from conformance.qualification.auto.pool import At, Ended, in_children
from conformance.qualification.auto.reach import Lines, traced
from conformance.qualification.auto.shadow import Family, changed_backend, source_of
from conformance.qualification.mutant_module import MutantError
from conformance.runner.in_process import InProcess
from conformance.runner.lane import outside
from conformance.runner.meaning import meaning
from conformance.runner.schedules import drawn as drawn_questions


class Right(msgspec.Struct, frozen=True):
    """The digests of the unchanged backend's answers to the cases it claims, and the clause that one breaks, if any."""

    answers: dict[str, str]
    guarantees: tuple[str, ...]
    failed: str = ""


@dataclass(frozen=True)
class Ground:
    """A family's cases, what is right about them, and the lines of its code that each comes to."""

    family: Family
    drawn: tuple[Drawn, ...]
    right: Right
    lines: Lines


def ground(family: Family, drawn: tuple[Drawn, ...], name: str) -> Ground:
    """Return what is known of a family on ``drawn``, which ``name`` tells from other cases; kept on disk.

    Raise ``MutantError`` when the unchanged backend does not start or does not get through.
    """
    label = f"{family.name}-{_sources(family)}-{name}"
    right = kept(f"right-{label}", Right, lambda: _alone(lambda at: _right(family, drawn, at), family))
    lines = kept(f"lines-{label}", dict[str, dict[int, str]], lambda: _alone(lambda at: _lines(family, drawn, at), family))
    return Ground(family, drawn, right, {m: {line: int(bits, 16) for line, bits in seen.items()} for m, seen in lines.items()})


def words_of(drawn: Sequence[Drawn], name: str) -> list[list[frozenset[str]]]:
    """Return the words of each collective of each case; kept on disk."""
    made = kept(f"words-{name}", list[list[list[str]]], lambda: [[sorted(w) for _, w in facts(one.case)] for one in drawn])
    known: dict[str, str] = {}
    return [[frozenset(known.setdefault(word, word) for word in words) for words in each] for each in made]


def questions(seed: int, examples: int) -> tuple[Drawn, ...]:
    """Return the programs whose schedules are asked for; graphs are refused by the engine."""
    def draw() -> tuple[Drawn, ...]:
        asked_for = [each for each in drawn_questions(examples, seed)["programs"] if isinstance(each, Case)]
        return tuple(Drawn(case, SCHEDULES, "programs", at) for at, case in enumerate(asked_for))

    return kept(f"schedules-{seed}-{examples}", tuple[Drawn, ...], draw)


def _alone(run: Callable[[At], Any], family: Family) -> Any:
    """Return what ``run`` returns in a process of its own: what is opened there is closed with it."""
    for _, made in in_children([0], lambda _, at: run(at), jobs=1, memory=None):
        if isinstance(made, Ended):
            raise MutantError(f"the unchanged {family.name} {made.how} in case {made.at}, so that its mutants prove nothing")
        return made
    raise AssertionError


def _right(family: Family, drawn: Sequence[Drawn], at: At) -> Right:
    backend = changed_backend(family, None)()
    worker = InProcess(BackendSpec(family.name, ()), backend=backend)
    claims, guarantees = worker.ready.claims, worker.ready.guarantees
    answers, failed = {}, ""
    for number, each in enumerate(drawn):
        at.come_to(number)
        if outside(claims, meaning(each.case)) is not None:
            continue
        broken = failing(worker, each, guarantees)
        if broken is not None and not failed:
            failed = f"{broken[0]} on {each.op} {each.name} of {each.suite}"
        if broken is None:
            answers[key(each)] = asked(worker, each)
    return Right(answers, tuple(guarantees), failed)


def _lines(family: Family, drawn: Sequence[Drawn], at: At) -> dict[str, dict[int, str]]:
    backend = changed_backend(family, None)()
    worker = InProcess(BackendSpec(family.name, ()), backend=backend)
    assert worker.ready
    files = {_origin(module): module for module in family.changed}
    caches = [each for each in gc.get_objects() if isinstance(each, functools._lru_cache_wrapper)]  # noqa: SLF001
    ours = [each for each in caches if str(getattr(each, "__module__", "")).startswith(family.packages)]

    def run(number: int, each: Drawn) -> object:
        at.come_to(number)
        for cache in ours:
            cache.cache_clear()
        forget(backend)
        return asked(worker, each)

    found = traced([functools.partial(run, number, each) for number, each in enumerate(drawn)], files)
    return {module: {line: f"{bits:x}" for line, bits in seen.items()} for module, seen in found.items()}


def forget(backend: Backend) -> None:
    """Let an engine drop its plans, so that each case comes to all of the code that it needs."""
    engine = vars(backend).get("engine")
    if engine is not None:
        engine.forget()


def _origin(module: str) -> str:
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return spec.origin


def _sources(family: Family) -> str:
    total = hashlib.sha256()
    for module in family.changed:
        total.update(source_of(module).encode())
    return total.hexdigest()[:12]


