"""``conformance harness``: for who writes a program that speaks the worker protocol.

Here: the command, and what it prints of each check.
Not here: the checks and the conversation with the program (``runner.harness``).
"""

from __future__ import annotations

import click

from conformance.cli.lazy_group import LazyGroup

COMMANDS = {"check": "A program tried on the worker protocol itself."}


@click.group("harness", cls=LazyGroup, commands_of=__name__, summaries=COMMANDS)
def command() -> None:
    """Help whoever writes a harness: a program that speaks the worker protocol."""
