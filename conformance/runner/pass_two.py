"""Pass 2: every way in which a backend fails is recorded, within its part of the time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from conformance.cases.whole_file import own_folder
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.budget import Deadline
from conformance.runner.clock import Clock
from conformance.runner.dialects import save_case
from conformance.runner.known.failures import ReplayedFailure, cover_drawn, cover_smallest, known_failures
from conformance.runner.plan import Plan
from conformance.runner.records.record import Failure, SequenceFailure, case_file
from conformance.runner.shrinking.confirmation import confirm, sequences, settle_unrepeated
from conformance.runner.shrinking.minimise import failures, ways_of
from conformance.runner.shrinking.search_progress import Search, Searching

CONFIRMED: Final = 0.3
"""The part of the search in which failing cases are run alone as they are: the smallest ones are so afterwards, too.
Ranks of Torch take four seconds to start, and it had some 60 ways to fail."""


def pass_two(
    plan: Plan,
    backend: BackendRun,
    replayed: Sequence[ReplayedFailure],
    directory: Path,
    write: Callable[[Failure | SequenceFailure], None],
    unwritten: dict[Path, str],
    until: Deadline,
    searching: Callable[[Searching], None],
    clock: Clock | None = None,
) -> Iterator[Failure | SequenceFailure]:
    """Record every way to fail: new ones minimised, known ones with all cases they cover, then sequences.

    ``unwritten`` takes the case files that could not be written, and why.
    """

    def store(name: str, case: Any) -> str:
        file = case_file(name)
        try:
            own_folder(directory / "cases")
            save_case(case, directory / file)
        except OSError as error:
            unwritten[directory / file] = error.strerror or type(error).__name__
        return file

    def found() -> Iterator[Failure | SequenceFailure]:
        cover_drawn(replayed, backend)
        confirm(backend, until.share(CONFIRMED))
        ways = {op: count for op in plan.ops if (count := ways_of(backend, op))}
        for op, count in ways.items():
            # Each has its part of the time that is left: what nobody needs is there for those that come later.
            left = sum(list(ways.values())[list(ways).index(op) :])
            mine = until.share(count / left)
            yield from failures(backend, op, store, mine, partial(cover_smallest, replayed, backend))
        yield from known_failures(replayed, backend, store)
        yield from sequences(backend, store, until)

    explained: set[str] = set()
    search = Search(backend.name, sum(1 for _ in backend.failures.left()), searching)
    backend.queries.heard = search.ask
    backend.transported = backend.worker.seconds.transport
    with (clock or Clock()).phase("minimising", backend.name):
        for failure in found():
            write(failure)
            search.explain(len(failure.explains))
            explained.update(failure.explains)
            yield failure
        if not until():
            settle_unrepeated(backend, explained)
