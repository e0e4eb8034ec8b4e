"""The protocol of an implementation under test.

The smallest backend is a subclass with one method for each operation it supports. A method takes the
operands, each a list of arrays with one block a rank, and by keyword ``groups`` (tuples of ranks) and the
operation's attributes; it returns one block a rank, or raises.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from conformance.cases.case import Case
from conformance.cases.dtypes import Array
from conformance.cases.features import Features
from conformance.cases.layout import place
from conformance.cases.observation import Category, Observation, RankError, Touched
from conformance.cases.program import rank_groups
from conformance.cases.tensor import Tensor, from_array, to_array

Claims = Mapping[str, Mapping[str, Sequence[str]]]
Placed = dict[str, list[tuple[Array, Array]]]


class Unsupported(NotImplementedError):
    """The implementation has no such operation, dtype or option, and says so."""


class Backend:
    """An implementation under test. Subclass it; every method below has a default."""

    name: ClassVar[str] = ""

    @property
    def claims(self) -> Claims:
        """Return, for each supported operation, the features it is limited to (``conformance.cases.features``).

        ``{"all_reduce": {"op": ["sum"], "dtype": ["float32"]}}``; a feature not named is not limited.
        By default every public method is an operation without limits.
        """
        own = {name for name in dir(type(self)) if not name.startswith("_")} - set(dir(Backend))
        return {name: {} for name in sorted(own) if callable(getattr(self, name))}

    def describe(self) -> dict[str, str]:
        """Return what is needed to reproduce a run: versions, devices, drivers."""
        return {}

    def execute(self, case: Case) -> Observation:
        """Run the program of ``case`` on placed inputs and return what happened; never raise."""
        start = time.perf_counter()
        placed = place_inputs(case)
        try:
            results = self._walk(case, placed)
        except Exception as error:  # noqa: BLE001 - whatever an implementation raises is its observation
            return Observation(
                errors=(rank_error(error),) * case.program.world,
                touched=touched(case, placed),
                seconds=time.perf_counter() - start,
            )
        seconds = time.perf_counter() - start
        return Observation(results=results, touched=touched(case, placed), seconds=seconds)

    def execute_many(self, cases: Sequence[Case]) -> Iterable[Observation]:
        """Yield one observation a case, in order; override it where a batch is cheaper."""
        for case in cases:
            yield self.execute(case)

    def close(self) -> None:
        """Release processes and devices."""

    def _walk(self, case: Case, placed: Placed) -> dict[str, tuple[Tensor | None, ...]]:
        """Run the steps in order: each operand of a method that takes one, all at once for a method that takes more."""
        values: dict[str, Any] = {name: [view for _, view in ranks] for name, ranks in placed.items()}
        for step in case.program.steps:
            method = getattr(self, step.op, None)
            if method is None:
                raise Unsupported(f"{type(self).__name__} has no {step.op}")
            groups = rank_groups(case.program.mesh, step.axes, step.groups)
            operands = [values[name] for name in step.inputs]
            if _operands(method) != 1:
                result = method(*operands, **step.attrs, groups=groups)
                values.update(zip(step.outputs, [result], strict=False))
                continue
            for operand, target in zip(operands, step.outputs, strict=True):
                values[target] = method(operand, **step.attrs, groups=groups) if step.axes else _alone(operand)
        return tensors({name: values[name] for name in case.program.results})


def _alone(blocks: list[Array]) -> list[Array]:
    """Return what an operation over no axis gives, for there is nobody to meet and nothing to ask of a method."""
    kinds = {(block.dtype, block.shape) for block in blocks}
    if len(kinds) > 1:
        raise ValueError(f"ranks hold different dtypes or shapes: {sorted(map(str, kinds))}")
    return [block.copy() for block in blocks]


def _operands(method: Callable[..., Any]) -> int:
    """Return how many operands a method takes: all that are not by keyword."""
    return sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in inspect.signature(method).parameters.values())


def tensors(results: Mapping[str, Sequence[Any]]) -> dict[str, tuple[Tensor | None, ...]]:
    """Return results, a block or ``None`` for each rank, as data."""
    return {
        name: tuple(None if block is None else from_array(np.asarray(block)) for block in blocks)
        for name, blocks in results.items()
    }


def supported(claims: Claims, ops: Iterable[str], facts: Features) -> str | None:
    """Return ``None`` when the claims cover a case, else the first claim that leaves it out."""
    for op in ops:
        if op not in claims:
            return f"{op} is not claimed"
        for feature, allowed in claims[op].items():
            outside = facts.get(feature, frozenset()) - set(allowed)
            if outside:
                return f"{op}: {feature} {', '.join(sorted(outside))} is not claimed"
    return None


def place_inputs(case: Case) -> Placed:
    """Return ``(storage, view)`` for each input and rank, laid out as the case says."""
    return {
        name: [place(to_array(block), layout) for block, layout in zip(operand.blocks, operand.layouts, strict=True)]
        for name, operand in case.inputs.items()
    }


def touched(case: Case, placed: Placed) -> tuple[Touched, ...]:
    """Return the first changed storage element of every input that is not, byte for byte, what it was."""
    return tuple(_changes(case, placed))


def _changes(case: Case, placed: Placed) -> Iterator[Touched]:
    for name, before in place_inputs(case).items():
        for rank, ((old, _), (new, _)) in enumerate(zip(before, placed[name], strict=True)):
            if old.tobytes() != new.tobytes():
                width = old.dtype.itemsize
                different = (old.view(np.uint8) != new.view(np.uint8)).reshape(-1, width).any(axis=1)
                index = int(different.argmax())
                one = slice(index, index + 1)
                yield Touched(
                    input=name, rank=rank, index=index, before=old[one].tobytes().hex(), after=new[one].tobytes().hex()
                )


def rank_error(error: BaseException) -> RankError:
    """Return an exception as data, classed by its Python type."""
    return RankError(kind=type(error).__name__, message=str(error)[:2000], category=category_of(error))


def category_of(error: BaseException) -> Category:
    """Return whose fault an exception says it is, by its type alone."""
    if isinstance(error, NotImplementedError):
        return "unsupported"
    if isinstance(error, ValueError | TypeError | LookupError | NameError):
        return "invalid_argument"
    return "internal"
