"""How a row of the table of names is executed: what the framework gives, and what the reference gives of our form.

A row's function runs on every rank, in a process that has the framework; what it returns becomes text, so that values
of all frameworks are compared alike: ``int32 [1, 2]``, ``raises ValueError``, ``nothing``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import starmap
from pathlib import Path
from typing import Any

import numpy as np

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Axis, Groups, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.reference.rejection import Rejected
from conformance.reference.spmd import evaluate

WORLD = 4

ANYTHING_ELSE = "anything else"
"""What a row gives that is not always the same, and never what our form gives."""

Ours = Callable[[], list[str]]


@dataclass(frozen=True)
class Row:
    """What runs on a rank, what the reference gives on each rank, and what the framework is known to give otherwise."""

    run: Callable[[int], Any]
    ours: Ours
    theirs: list[str] | None


@dataclass
class Rows:
    """The executed rows of one framework, by the name and the aspect of the row."""

    framework: str
    rows: dict[str, Row] = field(default_factory=dict)

    def __call__(
        self, name: str, aspect: str = "", *, ours: Ours, theirs: str | list[str] | None = None
    ) -> Callable[[Callable[[int], Any]], Callable[[int], Any]]:
        """Return the decorator of a row's function; one text of ``theirs`` is that of every rank."""

        def entered(run: Callable[[int], Any]) -> Callable[[int], Any]:
            key = f"{name}, {aspect}" if aspect else name
            assert key not in self.rows, key
            self.rows[key] = Row(run, ours, [theirs] if isinstance(theirs, str) else theirs)
            return run

        return entered

    def observe(self, rank: int, file: Path) -> None:
        """Run every row on a rank and write what it gives to a file."""
        found = {}
        for key, row in self.rows.items():
            try:
                with quiet():
                    found[key] = text(row.run(rank))
            except Exception as error:  # noqa: BLE001 - what a framework raises is what it gives
                found[key] = f"raises {type(error).__name__}"
                if "--why" in sys.argv:
                    print(key, rank, type(error).__name__, str(error)[:300], file=sys.stderr)
        file.write_text(json.dumps(found))


@contextmanager
def quiet() -> Iterator[None]:
    """Keep warnings of deprecated names out of the output."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def reference(
    operation: str,
    /,
    *operands: list[Any],
    dtype: str = "int32",
    groups: Groups | None = None,
    mesh: dict[str, int] | None = None,
    over: tuple[str, ...] = (),
    **attrs: Any,
) -> Ours:
    """Return what gives the reference's result of a call on each rank, or the clause that rejects it."""

    def given() -> list[str]:
        world = len(operands[0]) if operands else WORLD
        axes = tuple(starmap(Axis, (mesh or {"i": world}).items()))
        inputs = {
            f"x{number}": Operand(
                blocks=tuple(from_array(np.array(block, dtype)) for block in blocks), layouts=("contiguous",) * world
            )
            for number, blocks in enumerate(operands)
        }
        named = over or tuple(axis.name for axis in axes)
        step = Step(op=operation, inputs=tuple(inputs), outputs=("y",), axes=named, groups=groups, attrs=attrs)
        case = Case(program=Program(mesh=axes, steps=(step,), results=("y",)), inputs=inputs)
        try:
            return [text(block) for block in evaluate(case)["y"]]
        except Rejected as rejected:
            return [f"rejected by {rejected.clause}"] * world

    return given


def says(*values: Any) -> Ours:
    """Return what gives these values, one a rank or one for all, where no call of the reference is meant."""
    return lambda: [each if isinstance(each, str) else text(each) for each in values]


def text(value: Any) -> str:
    """Return a value as text with its dtype; of several values the texts of all."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float | complex):
        return f"{type(value).__name__} {value}"
    if isinstance(value, list | tuple):
        return "; ".join(map(text, value))
    array = np.asarray(value)
    return f"{array.dtype} {array.tolist()}"


def spread(found: list[str], world: int) -> list[str]:
    """Return one text for each rank."""
    return found * world if len(found) == 1 else found
