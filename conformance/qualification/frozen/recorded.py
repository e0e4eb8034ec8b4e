"""Observations of tests: what tests of clauses hand to the judge, right and wrong, recorded once.

    python -m pytest -n0 -m "" -p conformance.qualification.frozen.recorded tests/judging tests/specs

writes the file anew. Such tests are written where somebody had a doubt, so they stand nearer to clauses than draws.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, wraps
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from conformance.backends import protocol
from conformance.backends.reference import Reference
from conformance.cases.declarations.number_model import STANDARD, NumberModel
from conformance.cases.declarations.terms import Terms
from conformance.cases.observation import Observation
from conformance.cases.schedule.schedule import Schedule
from conformance.judging.graphs.verdict import judge_graph
from conformance.judging.schedules.clause import Relation
from conformance.judging.schedules.verdict import judge_pair, judge_schedule
from conformance.judging.sharded.verdict import judge_sharded
from conformance.qualification.deck.candidate import CampaignError, keep, kept
from conformance.qualification.frozen.asked import backend
from conformance.qualification.frozen.kind import Kind
from conformance.qualification.frozen.neighbours import judged, neighbours, other_schedules
from conformance.qualification.frozen.observation import FrozenObservation, frozen_answer
from conformance.qualification.frozen.verdicts import NEEDED, Judge
from conformance.qualification.mutant_module import MutantError
from conformance.reference.schedule.facts import Facts
from conformance.runner.meaning import NONE, verdict
from conformance.runner.worker.answers import Answer
from conformance.specs.types.verdict import judge as judge_typed
from conformance.vectors.stored import form_of, written

FILE: Final = Path(__file__).with_name("recorded.zlib")

LARGEST: Final = 1 << 13
"""Bytes up to which an observation is kept."""

ALTERED: Final = 6
"""Neighbours of each, at most, but for rare ones and near misses."""

_FOUND: Final[dict[str, FrozenObservation]] = {}


@cache
def recorded() -> tuple[FrozenObservation, ...]:
    """Return the observations of tests; raise ``MutantError`` where their file is cut."""
    try:
        return tuple(kept(FILE, list[FrozenObservation]))
    except CampaignError as error:
        raise MutantError(
            f"{FILE.name}, the observations of tests, cannot be read; record them anew, as {__name__} says"
        ) from error


def _with_neighbours(made: Sequence[FrozenObservation]) -> Iterator[FrozenObservation]:
    """Yield observations, each with its neighbours."""
    for each in judged(iter(made), Judge(*map(import_module, NEEDED))):
        yield each
        yield from other_schedules(each, ALTERED) if each.schedules else neighbours(each, ALTERED, 1)


RECORDED: Final = {
    "recorded": Kind(lambda: len(recorded()), 100, lambda part, _: _with_neighbours(recorded()[part])),
}
"""What tests gave."""


def pytest_collection_finish() -> None:
    """Have whoever calls the judge tell what it is given."""
    told: dict[Any, Callable[..., Any]] = {
        judge_schedule: _schedule, judge_pair: _pair, judge_graph: _graph, judge_sharded: _sharded,
        judge_typed: _typed, verdict: _program,
    }  # fmt: skip
    wrappers = {judge: _telling(judge, tell) for judge, tell in told.items()}
    for module in list(sys.modules.values()):
        for name, value in list(vars(module).items()) if module is not sys.modules[__name__] else ():
            if isinstance(value, FunctionType) and value in wrappers:
                setattr(module, name, wrappers[value])


def pytest_sessionfinish() -> None:
    """Write the file."""
    keep(FILE, [_FOUND[name] for name in sorted(_FOUND)])


def _telling(judge: Callable[..., Any], tell: Callable[..., FrozenObservation]) -> Callable[..., Any]:
    @wraps(judge)
    def called(*args: Any, **kwargs: Any) -> Any:
        made = judge(*args, **kwargs)
        with suppress(ValueError):  # terms that nobody can declare
            _take(tell(*args, **kwargs))
        return made

    return called


def _take(one: FrozenObservation) -> None:
    content = msgspec.json.encode(one)
    with suppress(msgspec.ValidationError):  # a test may give what no file holds
        msgspec.json.decode(content, type=FrozenObservation)
        if len(content) <= LARGEST:
            _FOUND.setdefault(hashlib.sha256(content).hexdigest(), one)


def _schedule(schedule: Schedule | Facts, *_: object) -> FrozenObservation:
    return _of_schedules((schedule,), None)


def _pair(schedules: tuple[Schedule | Facts, ...], relation: Relation, *_: object) -> FrozenObservation:
    return _of_schedules(schedules, relation)


def _of_schedules(schedules: tuple[Schedule | Facts, ...], relation: Relation | None) -> FrozenObservation:
    plain = tuple((each.captured or each.schedule) if isinstance(each, Facts) else each for each in schedules)
    name = hashlib.sha256(msgspec.json.encode(plain)).hexdigest()[:16]
    return FrozenObservation(
        name=name, by="tests", right=False, suite="schedules", op="schedule", schedules=plain, relation=relation,
        altered="recorded",
    )  # fmt: skip


def _graph(subject: Any, seen: Observation, _: object, numbers: NumberModel, follows: Any = ()) -> FrozenObservation:
    return _answered(subject.case, seen, Terms(follows=frozenset(follows), numbers=numbers))


def _sharded(subject: Any, seen: Observation, _: object, numbers: NumberModel) -> FrozenObservation:
    return _answered(subject.case, seen, Terms(numbers=numbers))


def _typed(meaning: Any, seen: Observation, follows: Any = ()) -> FrozenObservation:
    return _answered(meaning.case, seen, Terms(follows=frozenset(follows)))


def _program(subject: Any, answer: Answer, terms: Terms = NONE) -> FrozenObservation:
    return _answered(subject.case, answer, terms)


def _answered(case: Any, answer: Observation | Answer, terms: Terms) -> FrozenObservation:
    """Return what was given for a case by somebody of these terms; the clauses say whether it is right."""
    given = answer if isinstance(answer, Answer) else Answer(answer)
    ready = replace(
        _plain(), guarantees=tuple(sorted(terms.guarantees)), follows=tuple(sorted(terms.follows)),
        number_model=_declared(terms.numbers),
    )  # fmt: skip
    text = written(case)
    return FrozenObservation(
        name=hashlib.sha256(text).hexdigest()[:16], by="tests", right=False, suite="tests", op=form_of(case),
        form=form_of(case), text=text, ready=ready, answers=(frozen_answer(given),), altered="recorded",
    )  # fmt: skip


@cache
def _plain() -> protocol.Ready:
    return backend(Reference).terms


def _declared(numbers: NumberModel) -> dict[str, Any]:
    """Return what declares a number model: for each kind the word for each dtype, or each reduction of one."""
    made: dict[str, Any] = {}
    for where, kind, word in numbers.chosen if numbers != STANDARD else ():
        dtype, _, op = where.partition(":")
        of = made.setdefault(kind, {})
        if op:
            of.setdefault(dtype, {})[op] = word
        else:
            of[dtype] = word
    return made
