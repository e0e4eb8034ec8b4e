"""``conformance doctor``: starts every installed backend and says what is missing and how to get it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import click
from rich.console import Console

from conformance.backends.discovery import InstalledBackend, find, listed
from conformance.backends.opencl.runtime import program_cache
from conformance.cli.estimate import estimate, told
from conformance.cli.opening import DEFAULT
from conformance.cli.progress import Progress, print_json, printer
from conformance.runner.log.environment import environment
from conformance.runner.worker.answers import StartError
from conformance.runner.worker.sandbox_trial import why_no_sandbox
from conformance.runner.worker.workers import Worker

WIDTH: Final = 110
"""Columns that a line may have: what a backend says of itself is cut there, and whole with ``--json``."""


def examine(listing: InstalledBackend) -> dict[str, Any]:
    """Return what the backend says of itself once started, or why it does not start."""
    if listing.problem is not None:
        return {"name": listing.name, "works": False, "problem": listing.problem}
    with Worker(find(listing.name)) as worker:
        try:
            ready = worker.ready
        except StartError as error:
            return {"name": listing.name, "works": False, "problem": str(error)}
    return {
        "name": listing.name,
        "works": True,
        "description": ready.description,
        "operations": sorted(ready.claims),
        "run": estimate(listing.name, ready.claims),
    }


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON, with all that backends say of themselves.")
def command(as_json: bool) -> int:
    """Say what is installed, which devices, what is missing and how to get it, and what to do next."""
    listings = list(listed())
    found = []
    with Progress(quiet=as_json) as progress:
        for number, listing in enumerate(listings):
            progress.tell(f"starting {listing.name}, {number + 1} of {len(listings)} backends")
            found.append(examine(listing))
    if as_json:
        data = {"environment": environment(), "backends": found, "programs": programs().split(maxsplit=1)[1]}
        print_json({**data, "sandbox": sandbox().split(maxsplit=1)[1]})
    else:
        _show(printer(), found)
    works = {entry["name"] for entry in found if entry["works"]}
    return 0 if set(DEFAULT) <= works else 3


def _show(console: Console, found: Sequence[Mapping[str, Any]]) -> None:
    """Print a line for the machine, one for each backend, and one that says what to do next."""
    console.print(_cut(", ".join(f"{name} {value}" for name, value in environment().items())), markup=False)
    for line in (*lines(found), *runs(found), programs(), sandbox()):
        console.print(line, markup=False)
    console.print(next_step(found), markup=False)


def lines(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for all backends that work and say the same, and one for all that lack the same."""
    for said, names in _alike(found, works=True, told=_said).items():
        yield _cut(f"  works    {', '.join(names)}: {said}")
    for problem, names in _alike(found, works=False, told=lambda entry: str(entry["problem"])).items():
        # The end of a problem is the command that mends it.
        told = problem if len(problem) <= 2 * WIDTH else f"{problem[:WIDTH]} ... {problem[-WIDTH:]}"
        yield f"  missing  {', '.join(names)}: {told}"


def runs(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield how long a run takes and what it sees, a line for each backend that was measured."""
    yield from (told(entry["name"], entry["run"]) for entry in found if entry["works"] and "seconds" in entry["run"])


def _alike(
    found: Sequence[Mapping[str, Any]], *, works: bool, told: Callable[[Mapping[str, Any]], str]
) -> dict[str, list[str]]:
    """Return the names of backends by what is told of them, on one line."""
    names: dict[str, list[str]] = {}
    for entry in found:
        if entry["works"] == works:
            names.setdefault(" ".join(told(entry).split()), []).append(entry["name"])
    return names


def _said(entry: Mapping[str, Any]) -> str:
    """Return how many operations a backend has, and the first two things that it says of itself."""
    first = [f"{name} {value}" for name, value in entry["description"].items()][:2]
    return "; ".join([f"{len(entry['operations'])} operations", *first])


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 4]} ..."


def programs(environ: Mapping[str, str] = os.environ) -> str:
    """Return the line about the programs that the native backend has built and keeps."""
    kept = program_cache.folder(environ)
    if kept is None:
        return f"  cache    none: {program_cache.FOLDER} is {program_cache.OFF!r}"
    return f"  cache    {program_cache.size(kept) / 2**20:.1f} MiB of OpenCL programs in {kept}"


def sandbox() -> str:
    """Return the line about ``conformance run --sandbox``: whether it can work here, and why not."""
    why = why_no_sandbox()
    return (
        f"  sandbox  none: {why}"
        if why
        else "  sandbox  works: `conformance run --sandbox` keeps workers in bubblewrap"
    )


def next_step(found: Sequence[Mapping[str, Any]]) -> str:
    """Return the sentence on what to do next."""
    works = [entry["name"] for entry in found if entry["works"]]
    if set(DEFAULT) <= set(works):
        return "next: `conformance run` judges the native backend; your own: `conformance new-backend NAME`"
    others = [name for name in works if name != "reference"]
    first = f"; or judge what works: `conformance run -b {others[0]}`" if others else ""
    return f"next: install what the default backend lacks: pip install 'mesh-conformance[opencl]'{first}"
