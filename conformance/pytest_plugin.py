"""The pytest front door: ``pytest --conformance-backend NAME`` judges backends with the engine of ``conformance run``.

This module is loaded in every pytest run of an environment that has the suite installed, so it only names
options. What does the work is imported when a backend is named.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable
from importlib import import_module

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Name the options."""
    group = parser.getgroup("conformance", "conformance of multi-device tensor programs")
    group.addoption("--conformance-backend", metavar="NAME[,NAME]", help="judge these backends, an item a clause")
    group.addoption("--conformance-suite", metavar="NAME[,NAME]", default="all", help="only these suites")
    group.addoption("--conformance-op", metavar="NAME[,NAME]", help="only these operations")
    group.addoption(
        "--conformance-profile", metavar="NAME", default="default", help="how much: default, deck, quick or nightly"
    )
    group.addoption("--conformance-examples", metavar="N", type=_from(1), help="draws for each operation, and no deck")
    group.addoption("--conformance-seed", metavar="N", type=_from(0), default=0, help="same seed, same cases")
    group.addoption("--conformance-time-budget", metavar="TIME", help="ask no new case after so long: 90, 90s, 10m")
    group.addoption("--conformance-known", metavar="FILE", help="known failures, replayed and expected to fail")
    group.addoption("--conformance-run-dir", metavar="DIR", help="folder of the run log (default: runs/TIME)")


def _from(least: int) -> Callable[[str], int]:
    """Return what reads a number that is at least ``least``, as an option of the command line does."""

    def number(text: str) -> int:
        if (value := int(text)) < least:
            raise ArgumentTypeError(f"{value} is not in the range x>={least}")
        return value

    number.__name__ = "int"  # what argparse calls it where the text is no number
    return number


def pytest_configure(config: pytest.Config) -> None:
    """Bring in the items when a backend is named."""
    if config.getoption("--conformance-backend") is not None:
        judging = import_module("conformance.pytest_items")
        config.pluginmanager.register(judging.Judging(config), "conformance-judging")
