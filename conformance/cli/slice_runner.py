"""A process that judges slices one after another, as it is asked: ``python -m conformance.cli.slice_runner PIPE``.

It keeps its backends between slices, so that a slice costs no start. What it says goes to the descriptor ``PIPE``,
which no judged process has. It ends when its standard input does, and so when whoever asks is gone, and by itself when
it is not asked for a minute.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Final

import msgspec

from conformance import __version__
from conformance.cli import end_in_order
from conformance.cli.opening import opened
from conformance.cli.problems import problem
from conformance.cli.reporting import restored
from conformance.cli.slice_job import Job, SliceEnd, SliceRequest
from conformance.runner.explore import explore
from conformance.runner.log.environment import digests
from conformance.runner.log.log import line_of
from conformance.runner.worker.interface import Judgeable
from conformance.runner.worker.own_process import closed

IDLE: Final = 60.0
"""Seconds without a question after which the process ends: of a cluster whose client was killed nobody says the end."""

CHANGED: Final = 1
"""The status of a slice whose log somebody changed before its end."""

LONGEST: Final = 1 << 20
"""Bytes of a line with a job or a question: a job names operations and suites."""


def main(arguments: list[str]) -> int:
    """Judge what is asked on standard input; return the exit status of the process."""
    pipe = int(arguments[0])
    os.set_inheritable(pipe, False)
    end_in_order()
    with os.fdopen(os.dup(0), "rb", buffering=0) as told, os.fdopen(pipe, "wb") as tells:
        lines = _lines(told)
        try:
            job = msgspec.json.decode(next(lines, b""), type=Job)
            _check_alike(job)
            limit, sandbox = job.plan.case_limit, job.plan.sandbox
            with closed(), opened(job.names, case_limit=limit, sandbox=sandbox) as workers:
                judging = threading.Event()
                threading.Thread(target=_end_with, args=(told.fileno(), judging), daemon=True).start()
                for line in lines:
                    judging.set()
                    _judge(job, msgspec.json.decode(line, type=SliceRequest), workers, tells)
                    judging.clear()
        except KeyboardInterrupt:
            return 3
        except Exception as error:
            found = problem(error)
            if found is None:
                raise
            _say(tells, SliceEnd(found.status, " ".join(found.message.split())))
            return found.status
    return 0


def _check_alike(job: Job) -> None:
    """Raise ``UsageError`` where the specification or the reference here is not that of who asks."""
    import click

    if (job.specification, job.reference) != digests():
        raise click.UsageError(
            f"mesh-conformance {__version__} here has another specification or reference than where the run was "
            "started; install the same one on every host"
        )


def _judge(job: Job, ask: SliceRequest, workers: Mapping[str, Judgeable], tells: IO[bytes]) -> None:
    folder = Path(ask.folder)
    folder.mkdir(parents=True, exist_ok=True)
    # A record leaves out a suite that is the very string of its default, which what was read is not.
    suites = tuple(map(sys.intern, job.plan.suites))
    result = explore(replace(job.plan, slice=(ask.at, ask.of), suites=suites), workers, folder)
    content = b"".join((result.note, b"\n", *map(line_of, result.records)))
    whole = restored(folder, result.records, result.digest, result.length)
    _say(tells, SliceEnd(0 if whole else CHANGED, length=len(content)), content)


def _say(tells: IO[bytes], said: SliceEnd, content: bytes = b"") -> None:
    tells.write(msgspec.json.encode(said) + b"\n" + content)
    tells.flush()


def _lines(told: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines that come, until there are no more or none came for ``IDLE`` seconds."""
    rest = b""
    while len(rest) <= LONGEST:
        line, newline, after = rest.partition(b"\n")
        if newline:
            rest = after
            yield line
        elif select.select([told], [], [], IDLE)[0] and (part := os.read(told.fileno(), 1 << 16)):
            rest += part
        else:
            return


def _end_with(descriptor: int, judging: threading.Event) -> None:
    """End this process in order when nobody holds the other end any more, though it is ``judging``."""
    ended = select.poll()
    ended.register(descriptor, 0)  # the end of the other side is told unasked
    ended.poll()
    if judging.is_set():
        os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
