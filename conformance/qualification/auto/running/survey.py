"""What is known before a mutant runs: the right answers, and which cases come to which code and have which words."""

from __future__ import annotations

import functools
import gc
import hashlib
import importlib.util
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from operator import or_
from typing import Final

import msgspec

from conformance.backends.base import Backend, Claims
from conformance.backends.claim_limits import outside
from conformance.backends.discovery import BackendSpec
from conformance.qualification.auto.conditional.collective_words import Words, words_in
from conformance.qualification.auto.running.differences import asked, held
from conformance.qualification.auto.running.planning import unbuilt
from conformance.qualification.auto.running.pool import At, Ended, in_children
from conformance.qualification.auto.source.changes import Change
from conformance.qualification.auto.source.reach import Lines, lines_below, numbers, reached, traced
from conformance.qualification.auto.source.shadow import Family, changed_backend, source_of
from conformance.qualification.kept import folder, found, keep
from conformance.qualification.mutant_module import MutantError
from conformance.qualification.other_cases import AnyDrawn
from conformance.runner.dialects import dialect_of
from conformance.runner.worker.in_process import InProcess


class Survey(msgspec.Struct, frozen=True):
    """One pass of the unchanged code over cases: ``answers`` are digests, by the key of the case, of those it claims.

    ``lines`` are, by module, the cases that come to each line, where they were traced, and ``words`` the collectives
    that have each word, as bits in hex. ``places`` are the collectives: the number of the case and of the step. Of
    other dialects the values that are asked for are their places. ``planned`` are the lines that some case comes to
    before anything is built, where the engine was traced.
    """

    answers: dict[str, str]
    lines: dict[str, dict[int, str]] = {}
    words: dict[str, str] = {}
    places: tuple[tuple[int, int], ...] = ()
    planned: dict[str, list[int]] = {}


Part = tuple[int, int]
"""The number of the first of some cases, and of the first one after them."""


@dataclass(frozen=True)
class Ground:
    """A family's cases and what its unchanged code does on them."""

    family: Family
    drawn: tuple[AnyDrawn, ...]
    survey: Survey

    @cached_property
    def lines(self) -> Lines:
        """Return, by module and line, the cases that come to it."""
        return {name: {line: int(bits, 16) for line, bits in seen.items()} for name, seen in self.survey.lines.items()}

    @cached_property
    def words(self) -> dict[str, int]:
        """Return, by word, the collectives that have it."""
        return {word: int(bits, 16) for word, bits in self.survey.words.items()}

    def reaching(self, change: Change) -> Sequence[int]:
        """Return the numbers of the cases that come to a change."""
        return numbers(reached(change, self.lines, len(self.drawn)))

    def entering(self, module: str) -> Sequence[int]:
        """Return the numbers of the cases that come to any line of a module, or where none does, of its package."""
        own = reduce(or_, self.lines.get(module, {}).values(), 0)
        package = f"{module.rpartition('.')[0]}."
        beside = (seen for name, seen in self.lines.items() if name.startswith(package))
        return numbers(own or reduce(or_, (bits for seen in beside for bits in seen.values()), 0))

    def shown(self, change: Change) -> bool:
        """Return whether the plan of a case that comes to a change does, as far as the cases tell.

        Where none of them comes to the change, plans have to come to all of its module that cases come to.
        """
        come, plans = self.lines.get(change.module, {}).keys(), {*self.survey.planned.get(change.module, [])}
        own = come & change.lines
        return bool(own & plans) if own else come <= plans

    def meeting(self, words: Words) -> dict[int, list[int]]:
        """Return the collectives that have all of ``words``: their steps, by the number of the case."""
        met = (1 << len(self.survey.places)) - 1
        for word in words:
            met &= self.words.get(word, 0)
        steps: dict[int, list[int]] = {}
        for number in numbers(met):
            case, step = self.survey.places[number]
            steps.setdefault(case, []).append(step)
        return steps


PARTS: Final = 8
LARGE: Final = 24
"""Pieces that cases are cut into, at least, and large cases of one piece, at most."""


def ground(
    family: Family,
    drawn: tuple[AnyDrawn, ...],
    name: str,
    *,
    lines: bool = True,
    words: bool = False,
    jobs: int = 0,
) -> Ground:
    """Return what is known of a family on ``drawn``, which ``name`` tells from other cases; kept on disk part by part.

    Without ``lines`` only the answers are known, to all cases: plans serve again, and pieces may be large.
    Raise ``MutantError`` when the unchanged backend does not start or does not get through.
    """
    label = f"survey-{family.name}-{_sources(family)}-{name}"
    run = partial(_surveyed, family, drawn, words=words) if lines else partial(_answered, family, drawn)
    made: dict[Part, Survey] = {}
    left: list[Part] = []
    there = on_disk(label)
    for part in _parts(drawn, family.piece if lines else len(drawn)):
        had, absent = _known(part, there)
        read = {each: found(f"{label}-{each[0]}-{each[1]}", Survey) for each in had}
        made |= {each: one for each, one in read.items() if one is not None}
        left += [*absent, *(each for each in had if each not in made)]
    while left:
        absent, left = left, []
        for part, one in in_children(absent, run, memory=family.memory, cpu=family.cpu, jobs=jobs):
            if isinstance(one, Ended):
                left += _halves(part, f"the unchanged {family.name} {one.how} in case {one.at}")
            else:
                keep(f"{label}-{part[0]}-{part[1]}", one)
                made[part] = one
    return Ground(family, drawn, _joined([(part[0], made[part]) for part in sorted(made)]))


def on_disk(label: str) -> frozenset[Part]:
    """Return the parts of a survey that are on disk."""
    stems = (path.stem.removeprefix(f"{label}-").split("-") for path in folder().glob(f"{label}-*-*.zlib"))
    return frozenset((int(stem[0]), int(stem[1])) for stem in stems if len(stem) == 2)


def _known(part: Part, there: Collection[Part]) -> tuple[list[Part], list[Part]]:
    """Return what is ``there`` of a part, whole or in halves, and what of it is not."""
    if part in there:
        return [part], []
    inside = [each for each in there if part[0] <= each[0] and each[1] <= part[1]]
    if not inside:
        return [], [part]
    (one, lacks), (other, lacking) = (_known(half, inside) for half in _halves(part, ""))
    return [*one, *other], [*lacks, *lacking]


def _halves(part: tuple[int, int], how: str) -> list[tuple[int, int]]:
    """Return a part in two, to be run again: what many programs leave behind in PoCL's compiler may end a process.

    Raise ``MutantError`` where it is one case.
    """
    first, last = part
    if last - first < 2:
        raise MutantError(f"{how}, so that its mutants prove nothing")
    middle = (first + last) // 2
    return [(first, middle), (middle, last)]


def _joined(parts: Sequence[tuple[int, Survey]]) -> Survey:
    lines: dict[str, dict[int, int]] = {}
    words: dict[str, int] = {}
    places: list[tuple[int, int]] = []
    for first, part in parts:
        for module, seen in part.lines.items():
            of = lines.setdefault(module, {})
            for line, bits in seen.items():
                of[line] = of.get(line, 0) | int(bits, 16) << first
        for word, has in part.words.items():
            words[word] = words.get(word, 0) | int(has, 16) << len(places)
        places += part.places
    answers = {name: answer for _, part in parts for name, answer in part.answers.items()}
    planned: dict[str, set[int]] = {}
    for _, part in parts:
        for module, come in part.planned.items():
            planned.setdefault(module, set()).update(come)
    numbered = {module: sorted(come) for module, come in planned.items()}
    return Survey(answers, _in_hex(lines), {word: f"{has:x}" for word, has in words.items()}, tuple(places), numbered)


def _in_hex(lines: Lines) -> dict[str, dict[int, str]]:
    return {module: {line: f"{bits:x}" for line, bits in seen.items()} for module, seen in lines.items()}


def _worded(drawn: Sequence[AnyDrawn], part: tuple[int, int]) -> tuple[dict[str, str], tuple[tuple[int, int], ...]]:
    """Return the words of every collective of a part of the cases, and the collectives."""
    places: list[tuple[int, int]] = []
    listed: dict[str, int] = {}
    for number in range(*part):
        for step, words in words_in(drawn[number].case):
            for word in words:
                listed[word] = listed.get(word, 0) | 1 << len(places)
            places.append((number, step))
    return {word: f"{has:x}" for word, has in listed.items()}, tuple(places)


_CACHE: Final = type(functools.cache(len))


def _parts(drawn: Sequence[AnyDrawn], most: int) -> list[tuple[int, int]]:
    """Return pieces of at most an eighth of the cases and of ``most``, and of at most 24 large ones, the last."""
    small = sum(not each.large for each in drawn)
    size = min(-(-len(drawn) // PARTS) or 1, most)
    cuts = [*range(0, small, size), *range(small, len(drawn), LARGE)]
    return list(zip(cuts, [*cuts[1:], len(drawn)], strict=True))


def _surveyed(family: Family, drawn: Sequence[AnyDrawn], part: tuple[int, int], at: At, *, words: bool) -> Survey:
    files = {_origin(module): module for module in family.changed}
    started: list[tuple[Backend, InProcess, Claims]] = []
    before = traced([(0, lambda: started.append(_started(family)))], files)
    ((backend, worker, claims),) = started
    caches = [each for each in gc.get_objects() if type(each) is _CACHE]
    ours = [each for each in caches if str(getattr(each, "__module__", "")).startswith(family.packages)]
    answers: dict[str, str] = {}

    def run(number: int) -> None:
        each = drawn[number]
        at.come_to(number)
        for cache in ours:
            cache.cache_clear()
        forget(backend)
        answers[each.name] = asked(worker, each)

    # The reference claims everything, and what a small case means is the dearest part of it.
    everything = family.memory is not None
    claimed = [number for number in range(*part) if everything or _claimed(claims, drawn[number].case)]
    lines = traced([(number - part[0], partial(run, number)) for number in claimed], files)
    planned = _planned(family, drawn, claimed, files, at) if family.plans else {}
    # On functions that are called as it is imported and started every case depends.
    every = sum(1 << (number - part[0]) for number in claimed)
    for module, seen in before.items():
        lines[module] |= dict.fromkeys(seen.keys() & lines_below(source_of(module)), every)
    told, places = _worded(drawn, part) if words else ({}, ())
    return Survey(answers, _in_hex(lines), told, places, planned)


def _started(family: Family) -> tuple[Backend, InProcess, Claims]:
    backend = held(changed_backend(family, None)())
    worker = InProcess(BackendSpec(family.name, ()), backend=backend)
    return backend, worker, worker.ready.claims


def _planned(
    family: Family, drawn: Sequence[AnyDrawn], claimed: Sequence[int], files: Mapping[str, str], at: At
) -> dict[str, list[int]]:
    """Return the lines of each module that plans of cases come to, of code that was asked for none of the cases yet."""
    backend, worker, _ = _started(family)

    def plan(number: int) -> None:
        at.come_to(number)
        with unbuilt(backend):
            asked(worker, drawn[number])

    plans = traced([(0, partial(plan, number)) for number in claimed], files)
    return {module: sorted(come) for module, come in plans.items()}


def _answered(family: Family, drawn: Sequence[AnyDrawn], part: Part, at: At) -> Survey:
    _, worker, _ = _started(family)
    answers: dict[str, str] = {}
    for number in range(*part):
        at.come_to(number)
        answers[drawn[number].name] = asked(worker, drawn[number])
    return Survey(answers)


def _claimed(claims: Claims, case: object) -> bool:
    dialect = dialect_of(case)
    return outside(claims, dialect.facts(dialect.mean(case)).features) is None


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
