"""A case of the deck as a vector: its document, and its tensors as unsigned integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from conformance.cases.declarations.terms import Terms
from conformance.cases.tensor.dtypes import NUMPY, Array, logical
from conformance.cases.tensor.stored import container
from conformance.judging.keyed_values import KeyedSubject
from conformance.judging.subject import Subject
from conformance.reference.transforms.meaning import TypedMeaning
from conformance.runner.dialect import Trial
from conformance.runner.dialects import further_clauses
from conformance.specs import every_clause
from conformance.vector_files.document import Block, Expected, Refusal, ResultBlock, Vector
from conformance.vector_files.folded_values import program_results
from conformance.vector_files.keyed_values import keyed_results, typed_results
from conformance.vector_files.rules import RULES, RightBlock
from conformance.vectors.deck import FrozenCase

_TENSOR = {"dtype", "shape", "bits"}
_LOOSE = {
    "one of": "one_of",
    "between": "between",
    "between or nan": "between",
    "within": "between",
    "advised": "advised",
}
_ORDER = ("exact", "one_of", "between", "advised")


@dataclass
class Tensors:
    """The tensors of one vector, by key, as unsigned integers."""

    number: int
    found: dict[str, Array] = field(default_factory=dict)

    def keep(self, name: str, array: Array, dtype: str = "") -> str:
        """Keep a tensor; return its key."""
        key = f"{self.number}/{name}"
        holds, shape = container(dtype or logical(array.dtype), array.shape)
        self.found[key] = np.frombuffer(np.ascontiguousarray(array).tobytes(), holds).reshape(shape)
        return key


def vector(frozen: FrozenCase, one: Trial, number: int, catches: list[str], automatic: int) -> tuple[Vector, Tensors]:
    """Return a case of the deck with its meaning as a vector, and its tensors."""
    tensors = Tensors(number)
    case = msgspec.to_builtins(one.case.of if frozen.form.startswith("schedule") else one.case, order="deterministic")
    program, inputs = case, {}
    if frozen.form != "schedule of a graph":
        holds = case["of"] if frozen.form == "sharded" else case
        program = holds.pop("program" if "program" in holds else "graph")
        inputs = holds.pop("inputs" if "inputs" in holds else "buffers")
    rest = {} if program is case else case
    expected, how = _expected(one, tensors)
    made = Vector(
        number=number,
        name=frozen.name,
        form=frozen.form,
        suite=frozen.suite,
        op=frozen.op,
        how=how,
        program=_without_tensors(program, "program", tensors),
        inputs=_without_tensors(inputs, "inputs", tensors),
        rest=_without_tensors(rest, "rest", tensors),
        expected=expected,
        clauses=_clauses(one, how),
        catches=tuple(catches),
        automatic=automatic,
    )
    return made, tensors


def _clauses(one: Trial, how: str) -> tuple[str, ...]:
    """Return the clauses that speak about a case; of a schedule that is asked for all that it is held to."""
    if how != "unstated":
        return tuple(sorted(one.dialect.speaking(one.subject)))
    return tuple(sorted(clause.id for clause in one.dialect.own(one.facts.op, Terms())))


def _expected(one: Trial, tensors: Tensors) -> tuple[Expected, str]:
    subject = one.subject
    refused, types = None, {}
    results: Mapping[str, list[RightBlock | None]]
    if isinstance(subject, Subject):
        rejected = subject.rejected
        refused = None if rejected is None else _refused(rejected.clause, rejected.ranks)
        results = program_results(subject) if subject.expected else {}
    elif isinstance(subject, KeyedSubject):
        refused = None if subject.rejected is None else _refused(subject.rejected.clause)
        results = keyed_results(subject)
    elif isinstance(subject, TypedMeaning):
        why = subject.refused
        refused = None if why is None else _refused(why.clause)
        if subject.no_rule is not None:
            refused = _refused(min(one.dialect.speaking(subject), default=""))
        results = {} if refused is not None else typed_results(subject)
        types = {name: msgspec.to_builtins(each) for name, each in sorted(subject.types.items())} if results else {}
    else:
        return Expected(), "unstated"
    values = {
        name: tuple(None if each is None else _value(f"{name}/{rank}", each, tensors) for rank, each in enumerate(row))
        for name, row in sorted(results.items())
    }
    used = {rule for row in results.values() for each in row if each is not None for rule in each.used}
    how = max((_LOOSE.get(rule, "exact") for rule in used), key=_ORDER.index, default="exact")
    return Expected(refused=refused, results=values, types=types), "refused" if refused is not None else how


def _refused(clause: str, ranks: tuple[int, ...] | None = None) -> Refusal:
    known = {**every_clause(), **further_clauses()}
    return Refusal(clause=clause, requirement=known[clause].requirement if clause in known else "must", ranks=ranks)


def _value(name: str, right: RightBlock, tensors: Tensors) -> ResultBlock:
    array = np.asarray(right.array)
    dtype = logical(array.dtype)
    uniform = len(right.used) <= 1
    more: dict[str, str] = {}
    for what in ("choices", "first", "low", "high", "radius"):
        found = getattr(right, what)
        if found is not None:
            more[what] = tensors.keep(f"{name}/{what}", found)
    if not uniform:
        more["rules"] = tensors.keep(f"{name}/rules", right.rules)
    return ResultBlock(
        dtype=dtype,
        shape=array.shape,
        at=tensors.keep(name, array),
        rule=(right.used or (RULES[0],))[0] if uniform else None,
        **more,
    )


def _without_tensors(given: Any, where: str, tensors: Tensors) -> Any:
    """Return plain data with every tensor in it replaced by what says where its bits are."""
    if isinstance(given, dict):
        if given.keys() == _TENSOR and given["dtype"] in NUMPY:
            array = np.frombuffer(bytes.fromhex(given["bits"]), NUMPY[given["dtype"]]).reshape(given["shape"])
            return msgspec.to_builtins(
                Block(dtype=given["dtype"], shape=tuple(given["shape"]), at=tensors.keep(where, array, given["dtype"]))
            )
        return {name: _without_tensors(each, f"{where}/{name}", tensors) for name, each in given.items()}
    if isinstance(given, list | tuple):
        return [_without_tensors(each, f"{where}/{at}", tensors) for at, each in enumerate(given)]
    return given
