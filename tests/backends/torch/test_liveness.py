"""Ranks of Torch that are late, die or call different things, and what is left of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace

from conformance.backends.reference import Reference
from conformance.backends.torch import Torch, TorchChecked
from conformance.cases.case import Case, Fault
from conformance.cases.observation import Observation
from conformance.cases.program.health import health_case

MakeCase = Callable[..., Case]


@pytest.fixture(scope="module")
def checked() -> Iterator[TorchChecked]:
    backend = TorchChecked()
    yield backend
    backend.close()


def categories(seen: Observation) -> list[str | None]:
    return [error and error.category for error in seen.errors]


def healthy(backend: Torch, case: Case) -> bool:
    afterwards = health_case(case)
    return backend.execute(afterwards).results == Reference().execute(afterwards).results


def test_c2_a_late_rank_is_waited_for(torch: Torch, case: MakeCase) -> None:
    late = replace(case("all_reduce", 2, op="sum"), faults=(Fault(rank=1, before=0, delay=0.1),))
    seen = torch.execute(late)
    assert not seen.raised
    assert seen.seconds > 0.1
    assert seen.results == torch.execute(replace(late, faults=())).results


def test_c13_who_waits_for_a_dead_rank_raises(torch: Torch, case: MakeCase) -> None:
    dead = replace(case("all_reduce", 3, op="sum"), faults=(Fault(rank=1, before=0),))
    assert categories(torch.execute(dead)) == ["internal", "no_answer", "internal"]
    assert healthy(torch, dead)


def test_c4_members_meet_in_steps_of_their_own(torch: Torch, case: MakeCase) -> None:
    whole = case("all_reduce", 2, op="sum")
    step = whole.program.steps[0]
    steps = (replace(step, ranks=(0,)), replace(step, ranks=(1,), outputs=("z",)))
    split = replace(whole, program=replace(whole.program, steps=steps, results=("y", "z")))
    seen, (one, two) = torch.execute(split), torch.execute(whole).results["y"]
    assert seen.results == {"y": (one, None), "z": (None, two)}


def test_c5_checked_ranks_do_not_call_different_operations(checked: TorchChecked, case: MakeCase) -> None:
    whole = case("all_reduce", 2, op="sum")
    step = replace(whole.program.steps[0], ranks=(0,))
    other = replace(step, op="broadcast", attrs={"root": 0}, ranks=(1,), outputs=("z",))
    unlike = replace(whole, program=replace(whole.program, steps=(step, other), results=("y", "z")))
    assert categories(checked.execute(unlike)) == ["invalid_argument", "invalid_argument"]
    assert healthy(checked, unlike)
