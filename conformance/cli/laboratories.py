"""Backends opened to replay cases of two runs, each when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

import click

from conformance.backends.discovery import BackendError
from conformance.cli.opening import opened
from conformance.history.causes.laboratory import LiveLaboratory
from conformance.history.causes.search import Laboratories
from conformance.runner.worker.answers import Limits, StartError
from conformance.runner.worker.interface import Judgeable


@contextmanager
def laboratories(
    *, case_limit: float = Limits.case, in_process: bool = False, sandbox: bool = False
) -> Iterator[Laboratories]:
    """Yield what gives the laboratory of a backend, ``None`` for one that does not start here; close all at the end."""
    known: dict[str, LiveLaboratory | None] = {}
    with ExitStack() as stack:

        def open_one(name: str) -> LiveLaboratory | None:
            if name not in known:
                known[name] = None
                try:
                    worker = stack.enter_context(_worker(name, case_limit, in_process=in_process, sandbox=sandbox))
                    assert worker.ready
                except (BackendError, StartError, click.UsageError):
                    return None
                known[name] = LiveLaboratory(
                    name,
                    worker,
                    case_limit,
                    lambda limit: _worker(name, limit, in_process=in_process, sandbox=sandbox),
                    sandbox=sandbox,
                )
            return known[name]

        yield open_one


@contextmanager
def _opened(name: str, case_limit: float, *, in_process: bool, sandbox: bool) -> Iterator[Judgeable]:
    with opened([name], in_process=in_process, case_limit=case_limit, sandbox=sandbox) as workers:
        yield workers[name]


def _worker(name: str, case_limit: float, *, in_process: bool, sandbox: bool) -> AbstractContextManager[Judgeable]:
    return _opened(name, case_limit, in_process=in_process, sandbox=sandbox)
