"""What is known before a mutant runs: the right answers, whether they pass, and which cases come to which code."""

from __future__ import annotations

import functools
import gc
import hashlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

import msgspec

from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec
from conformance.cases.case import Case
from conformance.qualification.auto.facts import facts
from conformance.qualification.auto.judged import SCHEDULES, asked, failing, key
from conformance.qualification.auto.pool import At, Ended, in_children
from conformance.qualification.auto.reach import Lines, traced
from conformance.qualification.auto.shadow import Family, changed_backend, source_of
from conformance.qualification.drawn import Drawn, kept
from conformance.qualification.mutant_module import MutantError
from conformance.runner.backend_run import outside
from conformance.runner.meaning import meaning
from conformance.runner.schedules import drawn as drawn_questions
from conformance.runner.worker.in_process import InProcess

T = TypeVar("T")


class Right(msgspec.Struct, frozen=True):
    """The digests of the unchanged backend's answers to the cases it claims, and the clause that one breaks, if any."""

    answers: dict[str, str]
    failed: str = ""


@dataclass(frozen=True)
class Ground:
    """A family's cases, what is right about them, and the lines of its code that each comes to."""

    family: Family
    drawn: tuple[Drawn, ...]
    right: Right
    lines: Lines


def ground(
    family: Family,
    drawn: tuple[Drawn, ...],
    name: str,
    *,
    known: Mapping[str, str] | None = None,
    control: bool = True,
    trace: bool = True,
) -> Ground:
    """Return what is known of a family on ``drawn``, which ``name`` tells from other cases; kept on disk.

    An answer whose digest is that of ``known`` is right, and need not be judged; without ``control`` none is.
    Without ``trace`` no lines are told.
    Raise ``MutantError`` when the unchanged backend does not start or does not get through.
    """
    label = f"{family.name}-{_sources(family)}-{name}"
    parts = _parts(len(drawn))

    def right() -> Right:
        made = _alone(partial(_right, family, drawn, known or {}, control=control), parts, family)
        answers = {name: answer for part in made for name, answer in part.answers.items()}
        return Right(answers, next((part.failed for part in made if part.failed), ""))

    def lines() -> dict[str, dict[int, str]]:
        made = _alone(partial(_lines, family, drawn), parts, family)
        found: dict[str, dict[int, int]] = {module: {} for module in family.changed}
        for (first, _), part in zip(parts, made, strict=True):
            for module, seen in part.items():
                for line, bits in seen.items():
                    found[module][line] = found[module].get(line, 0) | bits << first
        return {module: {line: f"{bits:x}" for line, bits in seen.items()} for module, seen in found.items()}

    answers = kept(f"right-{label}", Right, right)
    told = kept(f"lines-{label}", dict[str, dict[int, str]], lines) if trace else {}
    return Ground(
        family, drawn, answers, {name: {at: int(bits, 16) for at, bits in seen.items()} for name, seen in told.items()}
    )


_CACHE: Final = type(functools.cache(len))

PARTS: Final = 8
"""Pieces that cases are cut into, for as many processes."""


def _parts(count: int) -> list[tuple[int, int]]:
    size = -(-count // PARTS) or 1
    return [(first, min(first + size, count)) for first in range(0, count, size)]


def words_of(drawn: Sequence[Drawn], name: str) -> list[list[frozenset[str]]]:
    """Return the words of each collective of each case; kept on disk."""
    made = kept(
        f"words-{name}", list[list[list[str]]], lambda: [[sorted(w) for _, w in facts(one.case)] for one in drawn]
    )
    known: dict[str, str] = {}
    return [[frozenset(known.setdefault(word, word) for word in words) for words in each] for each in made]


def questions(seed: int, examples: int) -> tuple[Drawn, ...]:
    """Return the programs whose schedules are asked for; graphs are refused by the engine."""

    def draw() -> tuple[Drawn, ...]:
        asked_for = [each for each in drawn_questions(examples, seed)["programs"] if isinstance(each, Case)]
        return tuple(Drawn(case, SCHEDULES, "programs", at) for at, case in enumerate(asked_for))

    return kept(f"schedules-{seed}-{examples}", tuple[Drawn, ...], draw)


def _alone(run: Callable[[tuple[int, int], At], T], parts: list[tuple[int, int]], family: Family) -> list[T]:
    """Return what ``run`` returns of each part, in processes of their own: what is opened there is closed with it."""
    made: dict[tuple[int, int], T] = {}
    for part, found in in_children(parts, run, memory=None, cpu=family.cpu):
        if isinstance(found, Ended):
            raise MutantError(
                f"the unchanged {family.name} {found.how} in case {found.at}, so that its mutants prove nothing"
            )
        made[part] = found
    return [made[part] for part in parts]


def _right(
    family: Family, drawn: Sequence[Drawn], known: Mapping[str, str], part: tuple[int, int], at: At, *, control: bool
) -> Right:
    worker = _worker(family)
    claims, answers, failed = worker.ready.claims, {}, ""
    for number in range(*part):
        each = drawn[number]
        at.come_to(number)
        if outside(claims, meaning(each.case)) is not None:
            continue
        answer = asked(worker, each)
        broken = failing(worker, each) if control and known.get(key(each)) != answer else None
        if broken is None:
            answers[key(each)] = answer
        elif not failed:
            failed = f"{broken[0]} on {each.op} {each.name} of {each.suite}"
    return Right(answers, failed)


def _worker(family: Family) -> InProcess:
    return InProcess(BackendSpec(family.name, ()), backend=changed_backend(family, None)())


def _lines(family: Family, drawn: Sequence[Drawn], part: tuple[int, int], at: At) -> Lines:
    backend = changed_backend(family, None)()
    worker = InProcess(BackendSpec(family.name, ()), backend=backend)
    assert worker.ready
    files = {_origin(module): module for module in family.changed}
    caches = [each for each in gc.get_objects() if type(each) is _CACHE]
    ours = [each for each in caches if str(getattr(each, "__module__", "")).startswith(family.packages)]

    def run(number: int) -> object:
        at.come_to(number)
        for cache in ours:
            cache.cache_clear()
        forget(backend)
        return asked(worker, drawn[number])

    return traced([partial(run, number) for number in range(*part)], files)


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
