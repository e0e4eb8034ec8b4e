"""``conformance bench``: how fast things are."""

from __future__ import annotations

import click

from conformance.cli.lazy_group import LazyGroup

COMMANDS = {
    "collectives": "How fast collectives are, next to others and to a memory copy.",
    "graphs": "How fast graphs of tensor operations are, and how many kernels they become.",
    "sharded": "How fast programs on sharded tensors are, next to frameworks.",
    "suite": "Cases judged a second, and where the time goes.",
}


@click.group("bench", cls=LazyGroup, commands_of=__name__, summaries=COMMANDS)
def command() -> None:
    """Measure how fast the suite judges, how fast collectives are, and what graphs become."""
