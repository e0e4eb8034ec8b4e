"""A group of commands that knows their names and summaries, and imports a command only to run it."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """The command NAME is the ``command`` of the module NAME in the package ``commands_of``."""

    def __init__(self, *args: Any, commands_of: str, summaries: Mapping[str, str], **kwargs: Any) -> None:
        """Offer a command for each of ``summaries``, in that order."""
        super().__init__(*args, **kwargs)
        self.commands_of = commands_of
        self.summaries = summaries

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of the manual."""
        return list(self.summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command, or return ``None`` for an unknown name."""
        if cmd_name not in self.summaries:
            return None
        with uninterrupted():
            command = import_module(f"{self.commands_of}.{cmd_name.replace('-', '_')}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names; raise ``UsageError`` with the nearest known one."""
        name = args[0]
        if name not in self.summaries and not name.startswith("-"):
            from conformance.cli.names import unknown

            raise click.UsageError(unknown("command", name, self.summaries), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names and summaries; nothing is imported for it."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries.items()))


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let signals wait until the end: NumPy prints a traceback where one interrupts its import, and is half there."""
    mask = getattr(signal, "pthread_sigmask", None)
    if mask is None:  # Windows
        yield
        return
    before = mask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        mask(signal.SIG_SETMASK, before)
