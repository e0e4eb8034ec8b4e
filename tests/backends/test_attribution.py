"""Whose an exception is: the framework's, or that of the lines which adapt it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.backends.attribution import adapter, framework
from conformance.backends.base import Backend, Refused, Unsupported, alone
from conformance.cases.case import Case
from conformance.cases.program.program import Step
from conformance.judging.verdict import Verdict
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer

Make = Callable[..., Case]


def jit(function: Callable[[], object]) -> object:
    """Stand for a framework that traces a function of its user's."""
    return function()


def refuse() -> None:
    raise ValueError("no such axis")


def slip() -> None:
    raise KeyError("a name of ours")


@framework()
def in_the_framework() -> None:
    refuse()


@framework()
def traced() -> None:
    jit(adapter()(slip))


@framework()
def traced_call() -> None:
    jit(adapter()(in_the_framework))


@framework()
def wrapped() -> None:
    try:
        jit(adapter()(slip))
    except KeyError as error:
        raise RuntimeError("while tracing") from error


def misspelt() -> None:
    with framework():
        jit(lambda: no_such_variable)  # type: ignore[name-defined]  # noqa: F821 - that is the slip


def after_the_framework() -> None:
    try:
        in_the_framework()
    except ValueError:
        slip()


def unsupported() -> None:
    raise Unsupported("there is no such operation")


def judged(case: Case, raising: Callable[[], None], *, adapts: bool = True) -> Verdict:
    class Adapter(Backend):
        def all_gather(self, blocks: list[object], *, axis: int, tiled: bool, groups: object) -> list[object]:
            raising()
            return blocks

    Adapter.adapts = adapts
    return verdict(meaning(case), Answer(Adapter().execute(case)))


@pytest.mark.parametrize(
    ("raising", "outcome"),
    [
        (in_the_framework, "errored"),
        (traced_call, "errored"),
        (unsupported, "errored"),
        (slip, "adapter_error"),
        (traced, "adapter_error"),
        (wrapped, "adapter_error"),
        (after_the_framework, "adapter_error"),
        (misspelt, "adapter_error"),
    ],
)
def test_only_what_passes_out_of_a_call_into_the_framework_is_its_failure(
    one: Make, raising: Callable[[], None], outcome: str
) -> None:
    assert judged(one("all_gather", 2, axis=0, tiled=True), raising).outcome == outcome


def test_an_exception_of_the_adapter_does_not_count_as_a_refusal(one: Make) -> None:
    illegal = one("all_gather", 2, axis=5, tiled=True)
    assert judged(illegal, in_the_framework).outcome == "passed"
    seen = judged(illegal, slip)
    assert (seen.outcome, seen.blame, seen.clauses) == ("adapter_error", None, {})
    assert seen.detail is not None
    assert seen.detail.startswith(
        "rank 0: the adapter's own lines raised KeyError: 'a name of ours' (test_attribution.py, line "
    )


def test_a_parameter_with_a_default_is_no_operand_and_a_barrier_may_return_nothing(one: Make) -> None:
    class Adapter(Backend):
        def all_gather(
            self, blocks: list[object], begin: str = "", *, axis: int, tiled: bool, groups: object
        ) -> object:
            assert not begin
            assert isinstance(blocks, list)
            return [np.concatenate(blocks, axis)] * len(blocks)

        def barrier(self, *, groups: object) -> None:
            """Wait for nobody."""

    case = one("all_gather", 2, axis=0, tiled=True)
    assert not Adapter().execute(case).raised
    waiting = Step(op="barrier", inputs=(), outputs=(), axes=("i",))
    assert (
        not Adapter().execute(replace(case, program=replace(case.program, steps=(waiting, *case.program.steps)))).raised
    )


def test_axes_that_the_mesh_lacks_are_no_question_to_a_framework(one: Make) -> None:
    case = one("all_gather", 2, axis=0, tiled=True)
    step = replace(case.program.steps[0], axes=("nowhere",))
    illegal = replace(case, program=replace(case.program, steps=(step,)))
    assert judged(illegal, slip).outcome == "unsupported"
    assert judged(illegal, slip, adapts=False).outcome == "passed"


def test_whatever_raises_in_an_implementation_that_adapts_nothing_is_its_own(one: Make) -> None:
    assert judged(one("all_gather", 2, axis=0, tiled=True), slip, adapts=False).outcome == "errored"


def test_a_group_of_one_that_means_nothing_is_refused_without_asking_anybody() -> None:
    import numpy as np

    with pytest.raises(Refused):
        alone([np.zeros(1), np.zeros(2)])
