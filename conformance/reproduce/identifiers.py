"""The identifiers of a script: the values of a program bear names of ours there, whatever their own are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import replace as changed
from typing import TypeVar

from msgspec.structs import replace

from conformance.cases.case import Case
from conformance.cases.program.program import Step
from conformance.reproduce.symptom import Symptom

Told = TypeVar("Told")


@dataclass(frozen=True)
class Renamed:
    """A ``case`` whose values bear the names of a script, and those ``names`` by what the values are called in the case."""

    case: Case
    names: Mapping[str, str]

    @property
    def originals(self) -> dict[str, str]:
        """Return what each value is called in the case, by its name in the script."""
        return {own: name for name, own in self.names.items()}

    def of(self, shown: Symptom) -> Symptom:
        """Return a symptom in the names of the script; results that the program does not have are left out."""
        return changed(
            shown,
            expected=self._table(shown.expected),
            observed=self._table(shown.observed),
            loose=tuple(self.names[name] for name in shown.loose if name in self.names),
        )

    def _table(self, results: Mapping[str, Told]) -> dict[str, Told]:
        return {self.names[name]: each for name, each in results.items() if name in self.names}


def renamed(case: Case) -> Renamed:
    """Return a case whose values are ``value_0`` and so on, in the order in which inputs and steps name them."""
    program = case.program
    made = (name for step in program.steps for name in step.outputs)
    found = dict.fromkeys((*case.inputs, *made))
    names = {name: f"value_{number}" for number, name in enumerate(found)}

    def step_of(step: Step) -> Step:
        return replace(
            step, inputs=_each(step.inputs, names), outputs=_each(step.outputs, names), into=_each(step.into, names)
        )

    plain = replace(
        case,
        program=replace(program, steps=tuple(map(step_of, program.steps)), results=_each(program.results, names)),
        inputs={names[name]: operand for name, operand in case.inputs.items()},
    )
    return Renamed(plain, names)


def _each(given: Iterable[str], names: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(names[name] for name in given)
