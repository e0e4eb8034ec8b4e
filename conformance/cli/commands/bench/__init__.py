"""``conformance bench``: how fast things are.

Here: a command for each thing that is measured, its options and its table.
Not here: what is run and timed (``bench``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import click

from conformance.cli.lazy_group import LazyGroup
from conformance.cli.problems import Problem

COMMANDS = {
    "collectives": "How fast collectives are, next to others and to a memory copy.",
    "graphs": "How fast graphs of tensor operations are, and how many kernels they become.",
    "overlap": "How well communication hides behind computation in steps of training.",
    "sharded": "How fast programs on sharded tensors are, next to frameworks.",
    "suite": "Cases judged a second, and where the time goes.",
}


@click.group("bench", cls=LazyGroup, commands_of=__name__, summaries=COMMANDS)
def command() -> None:
    """Measure how fast the suite judges, how fast collectives are, and what graphs become."""


def present(
    asked: Sequence[str], missing: Callable[[str], str | None], *, named: bool
) -> tuple[list[str], dict[str, str]]:
    """Return who of ``asked`` can be timed here, and what keeps each of the others from it.

    Raises ``Problem`` where nobody can be, and where one cannot who was named.
    """
    absent = {name: how for name in asked if (how := missing(name)) is not None}
    if absent and (named or len(absent) == len(asked)):
        raise Problem("; ".join(f"{name} cannot be timed here: {how}" for name, how in absent.items()))
    return [name for name in asked if name not in absent], absent


def not_installed(name: str) -> str | None:
    """Return how the packages of a backend are installed, or ``None`` where they are, or where no backend is needed."""
    from conformance.backends.discovery import BackendError, find

    if name in ("numpy", "copy"):
        return None
    try:
        find(name)
    except BackendError as error:
        return str(error)
    return None
