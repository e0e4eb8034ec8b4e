"""The digest of an observation: equal for the same answers given again, different for whatever a clause may see."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from conformance.cases.observation import Observation, RankError, Touched
from conformance.cases.tensor.tensor import Tensor
from conformance.runner.backend.observation_digest import observation_digest
from conformance.runner.worker.answers import Answer, Broken

ONE = Tensor(dtype="int32", shape=(1,), bits="01000000")
SEEN = Observation(results={"y": (ONE, None)}, errors=(None, None), seconds=0.25)


def digest(*results: Observation | Broken) -> str | None:
    return observation_digest(Answer(result, process=number) for number, result in enumerate(results))


def raised(message: str) -> Observation:
    return Observation(errors=(RankError(kind="ValueError", message=message, category="invalid_argument"),))


def test_times_and_processes_are_left_out() -> None:
    assert digest(SEEN) == digest(replace(SEEN, seconds=9.0, health=None))
    assert digest(replace(SEEN, health=SEEN)) == digest(replace(SEEN, health=replace(SEEN, seconds=1.0)))


@pytest.mark.parametrize(
    "other",
    [
        replace(SEEN, results={"y": (replace(ONE, bits="02000000"), None)}),
        replace(SEEN, results={"z": (ONE, None)}),
        replace(SEEN, touched=(Touched(input="x", rank=0, index=0, before="0", after="1"),)),
        replace(SEEN, realized={"y": True}),
        raised("no"),
        Broken("crashed", "it ended", error="SIGSEGV"),
    ],
)
def test_whatever_a_clause_may_see_makes_another_digest(other: Observation | Broken) -> None:
    assert digest(other) != digest(SEEN)


def test_of_a_message_the_words_count_and_addresses_do_not() -> None:
    assert digest(raised("at 0x7f01 in /tmp/a-81/x.py, process 81234")) == digest(
        raised("at 0x1 in /tmp/b/c, process 9999")
    )
    assert digest(raised("pair [127.0.0.1]:912$0")) == digest(raised("pair [127.0.0.1]:37797$0"))
    assert digest(raised("axis 3")) != digest(raised("axis 4"))


def test_how_a_process_broke_counts_and_what_it_wrote_does_not() -> None:
    assert digest(Broken("crashed", "a", "b", "SIGSEGV")) == digest(Broken("crashed", "c", "d", "SIGSEGV"))
    assert digest(Broken("crashed", "a", error="SIGSEGV")) != digest(Broken("crashed", "a", error="SIGABRT"))


def test_every_answer_counts_in_order_and_without_one_there_is_no_digest() -> None:
    assert digest(SEEN, raised("no")) != digest(raised("no"), SEEN)
    assert digest() is None
