"""``conformance bench``: how fast things are."""

from __future__ import annotations

import click

from conformance.cli.lazy import LazyGroup


@click.group("bench", cls=LazyGroup, commands_of=__name__, summaries={"suite": "Cases judged a second, and why not more."})
def command() -> None:
    """Measure how fast the suite judges."""
