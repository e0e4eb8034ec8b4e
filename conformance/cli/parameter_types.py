"""What a person typed, as values: paths to write to, and times such as 90, 90s and 10m."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from conformance.cli.names import LONGEST


class WritablePath(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 only
    """Where to write: a path that is not empty and that a report can name."""

    name = "PATH"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path; fail on an empty one, and on one that is not UTF-8."""
        if not str(value):
            self.fail("names nothing; give a path", param, ctx)
        if os.fsencode(value).decode(errors="replace") != str(value):
            self.fail(f"{str(value)!r} is not UTF-8; give another path", param, ctx)
        return Path(value)


class Duration(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 only
    """A length of time: seconds, or a number with ``s``, ``m`` or ``h``."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return seconds; fail on anything that is no positive length of time."""
        text = str(value).strip().lower()
        unit = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:])
        try:
            seconds = float(text[:-1] if unit else text) * (unit or 1.0)
        except ValueError:
            seconds = -1.0
        if not 0 < seconds < float("inf"):
            self.fail(f"{value!r} is no length of time; write 90, 90s, 10m or 1h", param, ctx)
        if seconds > LONGEST:
            self.fail(f"{value!r} is more than 720h, which no run takes", param, ctx)
        return seconds


class Slice(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 only
    """A part of a run: K/N, with K from 1 to N."""

    name = "K/N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Return K and N; fail on anything that is no part."""
        if isinstance(value, tuple):
            return value
        from conformance.runner.slices.note import MOST_SLICES  # the engine, which commands without slices do without

        at, _, of = str(value).partition("/")
        if not (at.isdecimal() and of.isdecimal() and 1 <= int(at) <= int(of) <= MOST_SLICES):
            self.fail(f"{value!r} is no part of a run; write K/N, as 1/4 for the first of four", param, ctx)
        return int(at), int(of)
