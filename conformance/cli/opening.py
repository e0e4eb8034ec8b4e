"""From the words of a command line to open workers and a place for what they leave."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final

import click

from conformance.backends.discovery import BackendSpec, find, installed, listed
from conformance.cases.escapes import printable
from conformance.cases.tensor.footprint import allowed
from conformance.cases.work import allowed_work
from conformance.cli.names import checked, unknown
from conformance.cli.own import OWN_PROCESS
from conformance.cli.parameter_types import Duration
from conformance.runner.dialects import further_clauses, operations
from conformance.runner.dialects import suites as suites_known
from conformance.runner.plan import PROFILES, Plan
from conformance.runner.worker.answers import Limits
from conformance.runner.worker.in_process import InProcess
from conformance.runner.worker.interface import Judgeable
from conformance.runner.worker.own_process import closed
from conformance.runner.worker.sandbox_trial import why_no_sandbox
from conformance.runner.worker.workers import Worker
from conformance.specification.sources import check_citations
from conformance.specs import every_clause

DEFAULT: Final = ("opencl",)
"""The embedded default: it needs no device and no root."""

SANDBOX: Final = click.option(
    "--sandbox", is_flag=True, help="Workers have processes, network, temporary files of their own (bubblewrap)."
)

LATE: Final = 8.0
"""Seconds past a time budget that a start is waited for: who starts so late is told of in a report, as not run."""

GRACE: Final = 0.5
"""Seconds past a time budget that an answer is waited for in the search for smallest cases."""

STOP_AFTER: Final = 3
"""Hangs or crashes after which an operation is given up."""

CASE_LIMIT: Final = click.option(
    "--case-limit",
    type=Duration(),
    default=Limits.case,
    show_default="20s",
    help="How long a case may go without an answer.",
)


def located(names: Sequence[str]) -> dict[str, BackendSpec]:
    """Return where each backend is; raise ``UsageError`` or ``BackendError`` before any is started."""
    known = [listing.name for listing in listed()]
    for name in names:
        if name.replace("-", "_").isidentifier() and name not in known:
            raise click.UsageError(
                f"{unknown('backend', name, known)}; "
                "a module:Class, exec:COMMAND or a path to an executable will also do"
            )
    return {name: find(name) for name in dict.fromkeys(names)}


def known_here(names: Iterable[str], place: Path) -> tuple[str, ...]:
    """Return the backends that a file names, each an installed one; raise ``UsageError`` for the first that is not.

    What only a file names is neither started nor imported: whoever made the file would say what runs here.
    """
    found = tuple(dict.fromkeys(names))
    for name in found:
        if not installed(name):
            raise click.UsageError(
                f"{place} names the backend {printable(name)!r}, which is not installed, and what a file alone names "
                "is not started; say with -b NAME which backend is meant"
            )
    return found


@contextmanager
def opened(
    names: Sequence[str],
    *,
    in_process: bool = False,
    case_limit: float = Limits.case,
    time_budget: float | None = None,
    sandbox: bool = False,
) -> Iterator[dict[str, Judgeable]]:
    """Yield a worker for each backend, and close them all; a case may go ``case_limit`` seconds without an answer.

    Nobody starts who is not there ``LATE`` seconds after the ``time_budget``, and no answer is waited for longer than
    ``GRACE`` after it. While there are workers the process of a command is closed to them
    (``runner/worker/own_process.py``). Raise ``UsageError`` where ``sandbox`` cannot be, and ``CaseError`` where the
    environment says wrongly how large a case may be.
    """
    if sandbox and in_process:
        raise click.UsageError("--in-process has no worker that could be in a sandbox; leave out --sandbox")
    if sandbox and (why := why_no_sandbox()):
        raise click.UsageError(f"--sandbox cannot work here: {why}")
    allowed()
    allowed_work()
    end = math.inf if time_budget is None else time.monotonic() + time_budget
    limits = Limits(case=case_limit, until=end + LATE, spent=end + GRACE, sandboxed=sandbox)
    found = located(names)
    with ExitStack() as stack:
        if is_own_process() and not in_process:
            stack.enter_context(closed())
        workers: dict[str, Judgeable] = {}
        for name, spec in found.items():
            if in_process:
                workers[name] = stack.enter_context(InProcess(spec))
            else:
                workers[name] = stack.enter_context(Worker(spec, limits))
        yield workers


def is_own_process() -> bool:
    """Return whether this process is a command's, and not one that called the command, as tests do."""
    context = click.get_current_context(silent=True)
    return context is not None and context.find_root().obj is OWN_PROCESS


def planned(
    ops: Sequence[str],
    suites: Sequence[str],
    *,
    profile: str = "default",
    examples: int | None = None,
    seed: int = 0,
    time_budget: float | None = None,
    case_limit: float = Limits.case,
    sandbox: bool = False,
    stop_after: int = STOP_AFTER,
    part: tuple[int, int] | None = None,
    decked: bool = False,
    times: int | None = None,
) -> Plan:
    """Return the plan for the operations and suites named (default: every one), each operation in one of the suites.

    A ``decked`` one asks the deck first, unless ``examples`` are asked for. Of a ``part`` the deck is dealt, too. All
    is asked so many ``times``, by default as often as the profile says.

    Raise ``UsageError`` for an unknown name, and where no operation named is in any suite named; ``SourceError`` for a
    clause that cites what is no source.
    """
    clauses = {**every_clause(), **further_clauses()}
    check_citations({name: clause.source for name, clause in clauses.items()})
    checked("profile", [profile], PROFILES)
    if not PROFILES[profile].explores and (examples or not decked):
        raise click.UsageError(f"--profile {profile} asks the deck and draws nothing: leave out --examples")
    chosen = checked("suite", suites, (*suites_known(), "all"))
    every = suites_known()
    picked = tuple(every) if not chosen or "all" in chosen else tuple(name for name in every if name in chosen)
    named = checked("operation", ops, operations()) or tuple(operations())
    names = tuple(name for name in named if any(name in every[suite].domains for suite in picked))
    if not names:
        raise click.UsageError(f"no operation of {', '.join(named)} is in the suites {', '.join(picked)}")
    return Plan(
        ops=names,
        examples=examples or PROFILES[profile].examples,
        seed=seed,
        suites=picked,
        profile=profile,
        time_budget=time_budget,
        case_limit=case_limit,
        sandbox=sandbox,
        stop_after=stop_after,
        slice=part,
        decked=decked and not examples,
        times=times or PROFILES[profile].times,
    )


def new_directory() -> Path:
    """Return ``runs/`` with the time of day, a folder that does not exist yet."""
    stem = Path("runs") / datetime.now().astimezone().strftime("%Y-%m-%dT%H-%M-%S")
    later = (stem.with_name(f"{stem.name}-{number}") for number in range(2, 1000))
    return stem if not stem.exists() else next(path for path in later if not path.exists())


@contextmanager
def output(directory: Path, option: str = "-o") -> Iterator[Path]:
    """Make the folder that ``option`` names before anything runs; take it away again if nothing came to be in it."""
    made = [path for path in (directory, *directory.parents) if not path.exists()]
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        wrong = "it is no folder" if directory.exists() and not directory.is_dir() else error.strerror
        raise click.UsageError(f"cannot write into {directory}: {wrong}; choose another folder with {option}") from None
    try:
        yield directory
    finally:
        with suppress(OSError):  # what a judged process made of them
            for path in made:
                if not path.is_dir() or any(path.iterdir()):
                    break
                path.rmdir()
