"""Which results of a program hold numbers that arithmetic made, so that any NaN is as good as another."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.cases.program.program import COMPUTING, Program, Step


def arithmetic(program: Program) -> frozenset[str]:
    """Return the names whose elements came, at some step, out of a reduction, or was computed.

    Over no axis a reduction folds nothing, and returns its operand unchanged (``collective.C21``, ``C30``).
    Storage is one, whatever view of it is written: what is read of a buffer counts when any part of it does.
    """
    made: set[str] = set()
    storage: dict[str, str] = {}
    for _ in _followed(program, made, storage):
        pass
    return frozenset(name for name in {*storage, *made} if storage.get(name, name) in made)


def given_operands(program: Program) -> Iterator[tuple[Step, tuple[str, ...]]]:
    """Yield each step with those operands of it that hold, when it reads them, no element that arithmetic made."""
    made: set[str] = set()
    storage: dict[str, str] = {}
    for step in _followed(program, made, storage):
        yield step, tuple(name for name in step.inputs if storage.get(name, name) not in made)


def _followed(program: Program, made: set[str], storage: dict[str, str]) -> Iterator[Step]:
    """Yield the steps, and thereafter note of each what it makes by arithmetic and which names are one storage."""
    for step in program.steps:
        yield step
        if step.op in ("buffer", "view"):
            storage[step.outputs[0]] = storage.get(step.inputs[0], step.outputs[0])
        targets = (*step.inputs[:1], *step.outputs) if step.op == "assign" else (*step.into, *step.outputs)
        for target, output in zip(step.into, step.outputs, strict=False):
            storage[output] = storage.get(target, target)
        if step.op == "done":
            storage |= {new: storage[old] for old, new in zip(step.inputs, step.outputs, strict=True) if old in storage}
        read = step.inputs[1:] if step.op == "assign" else step.inputs
        folds = "op" in step.attrs and not step.idle
        if folds or step.op in COMPUTING or any(storage.get(name, name) in made for name in read):
            made |= {storage.get(name, name) for name in targets}
