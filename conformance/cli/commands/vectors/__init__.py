"""``conformance vectors``: the deck as files that a program in any language judges by.

Here: the two commands, and what they print.
Not here: what a folder of vectors holds and how it is made (``vector_files``).
"""

from __future__ import annotations

import click

from conformance.cli.lazy_group import LazyGroup

COMMANDS = {
    "export": "The deck as JSON and safetensors, with what is right.",
    "check": "A folder of vectors, made again and compared byte for byte.",
}


@click.group("vectors", cls=LazyGroup, commands_of=__name__, summaries=COMMANDS)
def command() -> None:
    """Cases with their inputs and all right results, for programs that know nothing of this suite."""
