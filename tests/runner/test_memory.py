"""What the runner keeps of a case: an id of some twenty bytes, and where failing ones came from."""

from __future__ import annotations

import ctypes
import gc
import sys
from functools import _lru_cache_wrapper
from pathlib import Path
from weakref import ref

import msgspec
import numpy as np
import psutil
import pytest

from conformance.backends.discovery import find
from conformance.backends.released_memory import BYTES, CASES, ReleasedMemory, give_back
from conformance.judging.numbers.classes import classes_of
from conformance.judging.numbers.column import MOST_COLUMNS, column
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.backend.processes import Packed
from conformance.runner.deck import JudgedDeckCases
from conformance.runner.dialects import trial
from conformance.runner.draws import numbered
from conformance.runner.ids import HELD, Ids, _Held
from conformance.runner.log.copy import Copy
from conformance.runner.log.reading import read
from conformance.runner.offering import draw_and_offer
from conformance.runner.origins import NUMBERS
from conformance.runner.plan import Plan
from conformance.runner.records.record import CaseRecord, Footer, Header
from conformance.runner.worker.in_process import InProcess
from conformance.vectors.power import deck_kills


@pytest.mark.parametrize("held", [HELD, 100], ids=["in memory", "in a file"])
def test_an_id_takes_few_bytes_and_is_found_again(held: int) -> None:
    ids = Ids(held)
    assert all(ids.add(f"all_gather/float32-4/{number:012x}") for number in range(5000))
    assert not any(ids.add(f"all_gather/float32-4/{number:012x}") for number in range(5000))
    assert (len(ids), "barrier/none-4/000000000000" in ids) == (5000, False)
    assert 8 * len(ids._places) <= 24 * 5000
    assert isinstance(ids._places, _Held) == (held == HELD)


def test_ids_are_held_in_memory_where_there_is_no_room_for_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**rest: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    ids = Ids(100)
    assert all(ids.add(str(number)) for number in range(1000))
    assert all(str(number) in ids for number in range(1000))


def test_origins_of_a_process_are_told_in_order_and_take_less_than_a_byte() -> None:
    packed, origins = Packed(), [*range(-3, 50_000), *range(NUMBERS, NUMBERS + 50_000, 3)]
    for origin in origins:
        packed.append(origin)
    assert (len(packed), packed.first(60_000)) == (len(origins), tuple(origins[:60_000]))
    assert sum(map(len, packed._packs)) < len(origins)


def test_the_copy_of_a_log_has_its_records_and_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    gc.collect()  # which may close what tests before it have left
    files = len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0
    copy = Copy()
    footers = [Footer(finished=str(number), seconds=1.0, counts={}) for number in range(3000)]
    for each in footers:
        copy.write(msgspec.json.encode(each) + b"\n")
    assert list(copy) == footers
    assert list(copy) == footers
    assert len(copy) < sum(len(msgspec.json.encode(each)) for each in footers) / 5
    assert not list(tmp_path.iterdir())
    assert (len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0) == files


def test_a_long_copy_lies_in_a_file_without_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    copy = Copy(held=100)
    footers = [Footer(finished=f"{number * 7919:x}", seconds=1.0, counts={}) for number in range(3000)]
    for each in footers:
        copy.write(msgspec.json.encode(each) + b"\n")
    assert len(copy._packed) <= 100 < copy._filed
    assert list(copy) == list(copy) == footers
    assert not list(tmp_path.iterdir())


def test_a_copy_is_held_in_memory_where_there_is_no_room_for_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**rest: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    copy = Copy(held=100)
    footers = [Footer(finished=f"{number * 7919:x}", seconds=1.0, counts={}) for number in range(3000)]
    for each in footers:
        copy.write(msgspec.json.encode(each) + b"\n")
    assert (copy._filed, list(copy)) == (0, footers)


def test_of_judged_cases_the_names_of_the_deck_alone_are_kept() -> None:
    judged = JudgedDeckCases()
    (first, *_) = deck_kills().cases
    for case in (first, "broadcast/int8-2/000000000000"):
        record = {"backend": "it", "case": case, "op": "broadcast", "dtype": "int8", "outcome": "passed"}
        judged.heed(CaseRecord(**record, world=2, clauses={}, seconds=0.0))
    assert judged.names["it"] == {first}


def test_equal_clauses_of_a_log_are_in_memory_once(tmp_path: Path) -> None:
    line = (
        b'{"type":"case","backend":"b","case":"c","op":"o","dtype":"d","world":1,"outcome":"passed",'
        b'"clauses":{"o.C1":"held"},"seconds":0.1}\n'
    )
    head = Header(
        format=1, suites=(), spec_digest="", reference_digest="", seed=0, profile="", examples=1, ops=(), started="",
        environment={}, backends=(),
    )  # fmt: skip
    lines = (msgspec.json.encode(head) + b"\n", line, line, line.replace(b"held", b"broken"))
    (tmp_path / "run.jsonl").write_bytes(b"".join(lines))
    one, other, broken = (each.clauses for each in read(tmp_path / "run.jsonl") if isinstance(each, CaseRecord))
    assert one is other
    assert broken == {"o.C1": "broken"}
    assert next(iter(broken)) is next(iter(one))


def test_what_is_found_out_about_columns_is_let_go() -> None:
    terms = [np.array([1.5 + number, 2.0**-20], np.float32).tobytes() for number in range(6 * MOST_COLUMNS)]
    known = []
    for each in terms:
        known.append(ref(column("float32", "sum", 1.0, each)))
        classes_of("float32", "sum", 1.0, each, each[:4], exact=False)
    assert sum(each() is not None for each in known) <= 3 * MOST_COLUMNS


@pytest.mark.parametrize(("suite", "op"), [("collectives", "all_reduce"), ("async", "permute"), ("liveness", "reduce")])
def test_what_a_case_means_goes_when_nobody_has_it(suite: str, op: str) -> None:
    # Its garbage waited for a collection: a run drew long cases beside 700 MB of what earlier ones had meant.
    domain = Plan(ops=(op,), examples=1).of(suite, op).domain
    gc.disable()
    try:
        for number in range(1, 5):
            one = trial(numbered(domain, 0, number)[0], suite)
            assert one is not None
            one.dialect.speaking(one.subject)
            gone = ref(one.subject)
            del one
            assert gone() is None
    finally:
        gc.enable()


def test_only_the_last_long_column_is_kept() -> None:
    known = [ref(column("float32", "sum", 1.0, np.full(40_000, number, np.float32).tobytes())) for number in range(3)]
    assert [each() is not None for each in known] == [False, False, True]


def test_no_cache_keeps_what_is_found_out_about_cases_for_ever() -> None:
    judges = [each for each in gc.get_objects() if type(each) is _lru_cache_wrapper
              and str(each.__module__).startswith("conformance.judging.numbers")]  # fmt: skip
    assert {each.__name__ for each in judges if each.cache_info().maxsize is None} <= {"precision", "_runs", "_parts"}


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or not hasattr(ctypes.CDLL(None), "malloc_trim"),
    reason="the allocator of glibc alone can be asked",
)
def test_memory_that_a_few_large_cases_took_goes_back() -> None:
    held = [bytearray(100_000) for _ in range(2000)]
    below = bytearray(1000)
    large = psutil.Process().memory_info().rss
    del held
    give_back()
    assert psutil.Process().memory_info().rss < large - 150_000_000
    assert below


def test_memory_goes_back_after_so_many_cases_or_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    monkeypatch.setattr("conformance.backends.released_memory.give_back", lambda: given.append(number))
    freed = ReleasedMemory()
    for number in range(2 * CASES):
        freed.add(BYTES if number == 9 else 1)
    assert given == [9, 9 + CASES]


class Slow(InProcess):
    """Answers once in a thousand times that it is looked at."""

    looks = most = 0

    def advance(self) -> None:
        self.looks, self.most = self.looks + 1, max(self.most, self.outstanding)
        if not self.looks % 1000:
            super().advance()


def test_a_slow_worker_is_asked_about_few_cases_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.runner.offering.MOST_ASKED", 64)
    with Slow(find("reference")) as worker:
        run = BackendRun("reference", worker, lambda record: None)
        draw_and_offer(Plan(ops=("all_gather",), examples=150, suites=("collectives",)), [run], lambda: False)
        assert worker.most == 64
        assert run.records.tally.outcomes["passed"] > 2 * 64


def test_the_bytes_of_cases_are_counted_until_they_are_judged() -> None:
    draws = Plan(ops=("all_gather",), examples=8).of("collectives", "all_gather")
    cases = [numbered(draws.domain, 0, number)[0] for number in range(8)]
    with InProcess(find("reference")) as worker:
        run = BackendRun("reference", worker, lambda record: None)
        for case in cases:
            one = trial(case)
            assert one is not None
            run.offer(one)
        given = [block for case in cases for operand in case.inputs.values() for block in operand.blocks]
        assert run.dialogues.bytes == sum(len(block.bits) // 2 for block in given)
        while run.dialogues.outstanding:
            run.collect()
        assert run.dialogues._bytes == 0
