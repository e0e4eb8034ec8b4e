"""``conformance doctor``: starts every installed backend and says what is missing and how to get it."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console

from conformance.backends.discovery import Listing, find, listed
from conformance.cli.opening import DEFAULT
from conformance.cli.progress import Progress, print_json, printer
from conformance.runner.log.environment import environment
from conformance.runner.worker.answers import StartError
from conformance.runner.worker.workers import Worker


def examine(listing: Listing) -> dict[str, Any]:
    """Return what the backend says of itself once started, or why it does not start."""
    if listing.problem is not None:
        return {"name": listing.name, "works": False, "problem": listing.problem}
    with Worker(find(listing.name)) as worker:
        try:
            ready = worker.ready
        except StartError as error:
            return {"name": listing.name, "works": False, "problem": str(error)}
    return {"name": listing.name, "works": True, "description": ready.description, "operations": sorted(ready.claims)}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(as_json: bool) -> int:
    """Say what is installed, which devices, what is missing and how to get it."""
    with Progress(quiet=as_json):
        found = [examine(listing) for listing in listed()]
    if as_json:
        print_json({"environment": environment(), "backends": found})
    else:
        _show(printer(), found)
    works = {entry["name"] for entry in found if entry["works"]}
    return 0 if set(DEFAULT) <= works else 3


def _show(console: Console, found: list[dict[str, Any]]) -> None:
    for name, value in environment().items():
        console.print(f"{name:>16}  {value}", markup=False)
    for entry in found:
        if entry["works"]:
            console.print(f"\n{entry['name']}: works; {', '.join(entry['operations'])}", markup=False)
            for name, value in entry["description"].items():
                console.print(f"{name:>16}  {value}", markup=False)
        else:
            console.print(f"\n{entry['name']}: does not work: {entry['problem']}", markup=False)
