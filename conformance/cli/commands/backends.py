"""``conformance backends``: what can be judged here."""

from __future__ import annotations

import click
from rich.markup import escape
from rich.table import Table

from conformance.backends.discovery import listed
from conformance.cli.progress import print_json, printer


@click.command("backends")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(as_json: bool) -> int:
    """List the installed backends; nothing of them is imported."""
    found = listed()
    if as_json:
        print_json({"backends": found})
        return 0
    table = Table("backend", "class", "state")
    for listing in found:
        table.add_row(escape(listing.name), escape(listing.target), escape(listing.problem or "installed"))
    console = printer()
    console.print(table)
    console.print("-b also takes a module:Class, exec:COMMAND, or a path to an executable that speaks the protocol")
    return 0
