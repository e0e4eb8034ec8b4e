"""Claims of faults hold only with claims of the sums that are asked for afterwards."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from conformance.backends import protocol
from conformance.backends.claim_limits import unhealthy
from conformance.backends.discovery import DeclarationError, find
from conformance.backends.mpi.claims import claims
from conformance.backends.reference import Reference
from conformance.runner.worker.workers import Worker

LATE = {"faults": ("late",)}


class Broadcasts(Reference):
    """Has ranks that may be late, and nothing to ask them for afterwards."""

    claims = {"broadcast": LATE}  # noqa: RUF012 - a property elsewhere


@pytest.mark.parametrize(
    ("sums", "limits", "left_out"),
    [
        ({"dtype": ("int32",), "op": ("sum",)}, {}, None),
        ({"dtype": ("float32",)}, {}, "dtype int32 is not claimed"),
        ({"op": ("max",)}, {}, "op sum is not claimed"),
        ({"world": ("2",)}, {}, "world of any size is not claimed"),
        ({"world": ("2", "3")}, {"world": ("2",)}, None),
        ({"groups": ("none", "even")}, {"groups": ("uneven", "invalid")}, "groups uneven is not claimed"),
        ({"axes": ("one",)}, {"axes": ("one",)}, "axes several is not claimed"),
    ],
)
def test_who_claims_faults_claims_an_all_reduce(
    sums: dict[str, Sequence[str]], limits: dict[str, Sequence[str]], left_out: str | None
) -> None:
    found = unhealthy({"broadcast": LATE | limits, "all_reduce": sums})
    assert found == (
        left_out
        and f"broadcast claims faults, after which ranks sum int32 where they have met, but all_reduce: {left_out}"
    )


def test_claims_without_faults_need_none() -> None:
    assert unhealthy({"broadcast": {}, "gather": {"effects": ("start",)}}) is None
    assert unhealthy(claims()) is None


def test_without_one_a_backend_does_not_start() -> None:
    with pytest.raises(ValueError, match="all_reduce is not claimed"):
        protocol.Ready(protocol=1, name="b", description={}, claims={"broadcast": {"faults": ["late"]}})
    with (
        Worker(find(f"{__name__}:Broadcasts")) as worker,
        pytest.raises(DeclarationError, match="all_reduce is not claimed"),
    ):
        worker.ready  # noqa: B018 - starts the backend
