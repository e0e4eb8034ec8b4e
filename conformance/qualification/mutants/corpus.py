"""Public reports of real defects that the suite has to find, and why no mutant stands for some of them."""

from __future__ import annotations

from importlib.resources import files
from typing import Final, Literal

import msgspec


class Report(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One public report. ``missing`` says what the suite would need, where no mutant stands for the defect."""

    id: str
    url: str
    kind: Literal["collective-semantics", "dtype-reduceop", "async-lifetime-aliasing", "scheduling-fusion-memory"]
    missing: str | None = None


CORPUS: Final = msgspec.json.decode(files(__package__).joinpath("corpus.json").read_bytes(), type=tuple[Report, ...])
"""Every report that concerns what collectives return, or the schedules of lazy engines, by kind and id."""
