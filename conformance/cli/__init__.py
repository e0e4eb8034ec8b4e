"""The command line: thin commands over the engine, each a module that is imported when its command runs.

Exit status: 0 conformant, 1 failures, 2 usage error, 3 incomplete. What a person did wrong is one line on
standard error; a traceback is a bug of the suite.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from conformance import SPECIFICATION_VERSION, __version__
from conformance.cases.escapes import printable
from conformance.cases.specification_error import SpecificationError
from conformance.cli.lazy_group import LazyGroup
from conformance.cli.own import OWN_PROCESS

USAGE, INCOMPLETE = 2, 3

LONGEST: Final = 2000
"""Characters of a line that complains: what a backend says of itself, or a name it quotes, may have millions."""

COMMANDS = {
    "doctor": "What is installed, which devices, what is missing and how to get it.",
    "backends": "What can be judged here.",
    "spec": "The specification: of everything, of an operation, or of a clause.",
    "smoke": "Under a minute: the worked examples; a failure here blames the adapter.",
    "run": "Judge backends and leave a report.",
    "merge": "The run that slices make together.",
    "replay": "One case on one backend: expected, observed, verdict.",
    "draw": "A drawn case again: of a seed and number, or of a record.",
    "explain": "What a backend makes of one case: kernels, their reasons, buffers, order.",
    "reproduce": "A failing case as a script of the framework alone.",
    "known": "The failures of a run as known failures, for `conformance run --known`.",
    "schedule": "Schedules, of a file or of backends, judged clause by clause.",
    "report": "Run logs in, a report out.",
    "site": "Static pages over many runs.",
    "bisect": "The version of a package that makes a case come out otherwise.",
    "history": "The history of many runs: added from their logs, and asked.",
    "diff": "What differs between two runs, and why.",
    "qualify": "The suite against deliberately broken backends: the kill matrix.",
    "types": "The checker of types beside a backend's, and the classes in which they differ.",
    "new-backend": "A backend that works, and its test, to begin with.",
    "certify": "A bundle that anybody can check again: every case of a profile, asked twice.",
    "verify": "A bundle checked again, without the product or with it.",
    "sign": "Another signature on a bundle.",
    "keygen": "A key to sign bundles with.",
    "vectors": "The deck as files that a program in any language judges by.",
    "harness": "A program that speaks the worker protocol, tried on the protocol itself.",
    "bench": "How fast collectives are and the suite judges, and what graphs become.",
}


@click.group(cls=LazyGroup, commands_of="conformance.cli.commands", summaries=COMMANDS)
@click.version_option(
    __version__, message=f"%(prog)s %(version)s, specification {SPECIFICATION_VERSION}", prog_name="conformance"
)
def group() -> None:
    """The conformance suite for multi-device tensor programs.

    `conformance run` judges the native OpenCL backend and leaves a report. Exit status: 0 conformant,
    1 failures, 2 usage error, 3 incomplete.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (``sys.argv`` by default) and return its exit status."""
    end_in_order()
    if arguments is None:
        _open_closed()
    try:
        return _status(arguments)
    except click.exceptions.Exit as end:
        return end.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _complain(
            "interrupted; with `--resume -o DIR` `conformance run` and `conformance qualify` go on with what DIR has",
            INCOMPLETE,
        )
    except (BrokenPipeError, SystemExit):
        # Whoever read our output has enough, of which click makes an exit with 1. Python would complain once more when
        # it flushes at exit.
        sys.stdout = None
        return INCOMPLETE
    except (click.UsageError, SpecificationError) as error:
        return _complain(error.format_message() if isinstance(error, click.UsageError) else str(error), USAGE)
    except Exception as error:  # noqa: BLE001 - what is a bug of the suite is raised again
        return _told(error)


def _told(error: Exception) -> int:
    """Complain of what a person can mend, and return the status; raise the error again where it is a bug."""
    if isinstance(error, MemoryError):  # which has no room for a module that is not loaded yet
        return _complain("this process may take no more memory: allow it more, or ask for less at once", INCOMPLETE)
    from conformance.cli.problems import problem

    found = problem(error)
    if found is None:
        raise error
    if isinstance(error, OSError) and error.filename is None:
        sys.stdout = None  # Nothing more can be printed there, at the end of the process either.
    return _complain(found.message, found.status)


def _status(arguments: Sequence[str] | None) -> int:
    try:
        Path.cwd()
    except OSError as error:
        raise click.UsageError(f"the current folder is no longer there: {error.strerror}; go to another one") from None
    own = OWN_PROCESS if arguments is None else None
    status = group.main(arguments, prog_name="conformance", standalone_mode=False, obj=own)
    if sys.stdout is not None:
        sys.stdout.flush()
    return status if isinstance(status, int) else 0


def _open_closed() -> None:
    """Open the standard streams that were closed (``>&-``): else a log would get their number, and what is printed."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def end_in_order() -> None:
    """Make the signals that end a process end it as an interrupt does: workers are closed, and the log is whole."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
                signal.signal(number, interrupt)


def _complain(message: str, status: int) -> int:
    line = printable(" ".join(message.split()))
    if len(line) > LONGEST:  # How to mend it stands at the end.
        line = f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"
    try:
        print("conformance:", line, file=sys.stderr)
    except OSError:  # a full disk, or a terminal that is gone; the status says it, too
        sys.stderr = None
    return status
