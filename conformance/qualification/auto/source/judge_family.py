"""The family of the judge: the code of ``judging`` and of the checks in ``specs``."""

from __future__ import annotations

from collections.abc import Iterator
from pkgutil import walk_packages
from typing import Final

from conformance import judging, specs
from conformance.qualification.auto.source.shadow import Family

TELLING: Final = ("judging.numbers.advice",)
"""Modules that say something to people, and change no verdict."""

BESIDE: Final = (
    *("judging.cause.signature", "judging.cause.normalised", "judging.numbers.admissible.needed"),
    "judging.case_features.CaseFeatures.by_op",
    *(f"specs.op.{name}" for name in ("Attr.needs", "Attr.plain", "_word", "needs_of", "reductions", "suited")),
)
"""Functions that tell causes and words to reports, or what claims a clause needs, and no clause."""


def _changed() -> Iterator[str]:
    for package in (judging, specs):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if not module.ispkg and module.name.removeprefix("conformance.") not in TELLING:
                yield module.name


JUDGE: Final = Family(
    name="judge",
    packages=(
        *("conformance.judging", "conformance.specs", "conformance.runner.dialect", "conformance.runner.dialects"),
        "conformance.runner.meaning",
    ),
    backend="",
    # What a table says is for those who read clauses to judge; here functions are.
    tables=False,
    changed=tuple(_changed()),
    but=frozenset(f"conformance.{name}" for name in BESIDE),
)
"""The judge, whose changes frozen observations judge (``frozen``)."""
