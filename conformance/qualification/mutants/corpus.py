"""Public reports of real defects that the suite has to find, and why no mutant stands for some of them."""

from __future__ import annotations

from importlib.resources import files
from typing import Final, Literal

import msgspec


class Report(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One public report.

    ``ways`` are mutants of graphs, sharded tensors or typed programs that stand for it; other mutants name their
    reports themselves. ``missing`` says what the suite would need, where no mutant stands for the defect.
    """

    id: str
    url: str
    kind: Literal[
        "collective-semantics",
        "dtype-reduceop",
        "async-lifetime-aliasing",
        "scheduling-fusion-memory",
        "sharded-movement",
        "autodiff-batching",
    ]
    ways: tuple[str, ...] = ()
    missing: str | None = None


CORPUS: Final = msgspec.json.decode(files(__package__).joinpath("corpus.json").read_bytes(), type=tuple[Report, ...])
"""Every report of the corpus that docs/corpus.md tells of."""
