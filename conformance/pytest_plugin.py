"""The pytest front door: ``pytest --conformance-backend NAME`` judges backends with the engine of ``conformance run``.

This module is loaded in every pytest run of an environment that has the suite installed, so it only names
options. What does the work is imported when a backend is named.
"""

from __future__ import annotations

from importlib import import_module

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Name the options."""
    group = parser.getgroup("conformance", "conformance of multi-device tensor programs")
    group.addoption("--conformance-backend", metavar="NAME[,NAME]", help="judge these backends, an item a clause")
    group.addoption("--conformance-suite", metavar="NAME[,NAME]", default="all", help="only these suites")
    group.addoption("--conformance-profile", metavar="NAME", default="default", help="how much: default or nightly")
    group.addoption("--conformance-examples", metavar="N", type=int, help="cases drawn for each operation")
    group.addoption("--conformance-seed", metavar="N", type=int, default=0, help="same seed, same cases")
    group.addoption("--conformance-known", metavar="FILE", help="known failures, replayed and expected to fail")
    group.addoption("--conformance-run-dir", metavar="DIR", help="folder of the run log (default: runs/TIME)")


def pytest_configure(config: pytest.Config) -> None:
    """Bring in the items when a backend is named."""
    if config.getoption("--conformance-backend"):
        judging = import_module("conformance.pytest_items")
        config.pluginmanager.register(judging.Judging(config), "conformance-judging")
