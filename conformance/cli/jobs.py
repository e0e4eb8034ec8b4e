"""``conformance run --jobs N`` and ``--scheduler ADDRESS``: slices taken from a queue, judged, and kept as files."""

from __future__ import annotations

import shutil
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Protocol

import msgspec

from conformance.cli.problems import Problem
from conformance.cli.slice_job import Job
from conformance.cli.slice_processes import LOST, JudgedSlice, dismiss, judge
from conformance.cli.slice_runner import CHANGED
from conformance.runner.explore import explore
from conformance.runner.log.environment import digests
from conformance.runner.log.reading import LogError
from conformance.runner.log.storage import LOG
from conformance.runner.plan import Plan
from conformance.runner.slices.handed import HandedSlice, read_handed
from conformance.runner.slices.note import FILE, MOST_SLICES, parsed, plan_digest, read_note
from conformance.runner.slices.units import most_slices
from conformance.runner.worker.interface import Judgeable
from conformance.runner.worker.unasked import UnaskedWorker

LOOK: Final = 0.5
"""Seconds between looks at whether whoever judges is still there."""

EACH: Final = 16
"""Slices for each that judges at a time. The last ones come to their end when half a slice is left to do, which is 3 %
of what each has. A slice costs 0.01 s of processor time beside its cases (measured on two cores)."""

LEAST: Final = 64
"""Slices of a run with few who judge, so that little is lost where one is."""

TRIES: Final = 3
"""How often a slice is begun whose process, or host, is lost."""

FOLDER: Final = "slices"
"""Where the slices of a run lie, in its folder."""


class Judges(Protocol):
    """Who starts processes that judge slices: this machine, or a cluster."""

    executor: Executor
    here: bool
    """Whether a slice's files are written where this process reads them."""

    def window(self) -> int:
        """Return how many slices are under way at a time; raise ``Problem`` where nobody is there any more."""

    def explained(self, error: BaseException) -> str | None:
        """Return how who judged was lost, where that is what ``error`` says; raise ``Problem`` where all are."""

    def dismiss(self, job: bytes) -> None:
        """End the processes of an encoded job."""


@dataclass
class Slices:
    """The slices of a run by folder, as they were handed over; those of others are read from their files.

    ``lost`` are those, by number, that came to no end, with what was seen; there are ``of``, of which so many were
    ``judged`` now.
    """

    of: int
    judged: int = 0
    handed: dict[Path, HandedSlice | None] = field(default_factory=dict)
    lost: dict[int, str] = field(default_factory=dict)


def run_slices(
    plan: Plan,
    names: Sequence[str],
    directory: Path,
    judges: Judges,
    width: int,
    *,
    resume: bool,
    tell: Callable[[str], None],
) -> Slices:
    """Judge every slice of a plan and return them; ``width`` of ``judges`` are at work at a time.

    A slice that is there and whole is not judged again where ``resume`` says so. Raise ``LogError`` where other slices
    are there, and ``Problem`` where a slice cannot be judged, or nobody is there any more to judge it; what was judged
    until then is kept.
    """
    there = _there(directory, plan, resume=resume)
    of = next(iter(there.values()), None) or min(most_slices(plan), max(LEAST, EACH * width), MOST_SLICES)
    found = Slices(of, handed=dict.fromkeys(there))
    specification, reference = digests()
    job = msgspec.json.encode(Job(tuple(names), plan, specification, reference))
    todo = deque(at for at in range(1, of + 1) if _folder(directory, at, of) not in there)
    for at in todo:
        shutil.rmtree(_folder(directory, at, of), ignore_errors=True)  # what a killed run left is no slice
    tries: Counter[int] = Counter()
    try:
        with closing(_judged(job, todo, of, directory, judges)) as each:
            for at, judged in each:
                folder = _folder(directory, at, of)
                if judged.status == LOST:
                    tries[at] += 1
                    shutil.rmtree(folder, ignore_errors=True)
                    if tries[at] < TRIES:
                        todo.append(at)
                    else:
                        found.lost[at] = judged.why
                    continue
                if judged.status not in (0, CHANGED):
                    where = "" if judges.here else f" on {judged.host}"
                    raise Problem(f"slice {at} of {of}{where}: {judged.why}", judged.status)
                found.handed[folder] = _kept(judged, folder, here=judges.here)
                found.judged += 1
                tell(f"{len(found.handed)} of {of} slices are judged")
    finally:
        judges.dismiss(job)
    return found


def left_out(slices: Slices, plan: Plan, workers: Mapping[str, Judgeable], directory: Path) -> dict[Path, HandedSlice]:
    """Return the slices that were lost, by their folders, with a record of each case: it was not run, and why."""
    found: dict[Path, HandedSlice] = {}
    for at, why in sorted(slices.lost.items()):
        told = f"slice {at} of {slices.of} was begun {TRIES} times and lost: {why}"
        unasked = {name: UnaskedWorker(worker, told) for name, worker in workers.items()}
        folder = _folder(directory, at, slices.of)
        with TemporaryDirectory(prefix="conformance-slice-") as made:
            result = explore(replace(plan, slice=(at, slices.of)), unasked, Path(made))
            found[folder] = HandedSlice(parsed(result.note, str(folder)), result.records, "", 0)
    return found


def unfinished(directory: Path) -> bool:
    """Return whether a run has slices in its folder, so that it may go on with those that it lacks."""
    return any((directory / FOLDER).glob(f"*/{FILE}"))


def _folder(directory: Path, at: int, of: int) -> Path:
    return directory / FOLDER / f"{at}-of-{of}"


def _there(directory: Path, plan: Plan, *, resume: bool) -> dict[Path, int]:
    """Return the folders of slices that are there and whole, and of how many each is one; raise ``LogError``."""
    found: dict[Path, int] = {}
    for note in sorted((directory / FOLDER).glob(f"*/{FILE}")):
        said = read_note(note.parent)
        if not resume:
            raise LogError(f"{note.parent} is a slice: go on with it by --resume, or choose another folder with -o")
        if said.plan != plan_digest(plan) or note.parent != _folder(directory, said.at, said.of):
            raise LogError(f"{note.parent} is a slice of another run; choose another folder with -o")
        found[note.parent] = said.of
    if len(set(found.values())) > 1:
        raise LogError(f"{directory / FOLDER} has slices of several numbers of slices; choose another folder with -o")
    return found


def _judged(
    job: bytes, todo: deque[int], of: int, directory: Path, judges: Judges
) -> Generator[tuple[int, JudgedSlice], None, None]:
    """Yield the number of each slice and what came of it, while as many as the window has are under way."""
    waiting: dict[Future[JudgedSlice], int] = {}
    try:
        while todo or waiting:
            window = judges.window()
            while todo and len(waiting) < window:
                at = todo.popleft()
                folder = str(_folder(directory, at, of)) if judges.here else None
                waiting[judges.executor.submit(judge, job, at, of, folder)] = at
            done, _ = wait(waiting, LOOK, FIRST_COMPLETED)
            for one in done:
                yield waiting.pop(one), _result(one, judges)
    finally:
        for one in waiting:
            one.cancel()


def _result(future: Future[JudgedSlice], judges: Judges) -> JudgedSlice:
    try:
        return future.result()
    except (Exception, CancelledError) as error:
        why = judges.explained(error)
        if why is None:
            raise
        return JudgedSlice(LOST, why)


def _kept(judged: JudgedSlice, folder: Path, *, here: bool) -> HandedSlice | None:
    """Return a slice as it was handed over; one that another host wrote is written to files, by which it is read."""
    if here:
        handed = read_handed(judged.content, str(folder))
        # What lies there now its process wrote again, and says that somebody had changed it.
        return replace(handed, digest="") if judged.status == CHANGED else handed
    note, _, log = judged.content.partition(b"\n")
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    (part / LOG).write_bytes(log)
    (part / FILE).write_bytes(note)
    part.rename(folder)
    return None


class _Here:
    """So many processes on this machine."""

    here = True

    def __init__(self, executor: Executor, jobs: int) -> None:
        self.executor, self._jobs = executor, jobs

    def window(self) -> int:
        return self._jobs

    def explained(self, error: BaseException) -> str | None:
        return None

    def dismiss(self, job: bytes) -> None:
        dismiss(job)


@contextmanager
def processes_here(jobs: int) -> Iterator[Judges]:
    """Yield so many processes on this machine."""
    with ThreadPoolExecutor(jobs, "slice") as executor:
        yield _Here(executor, jobs)
