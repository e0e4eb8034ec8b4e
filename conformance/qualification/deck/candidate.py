"""A case that the deck may be chosen from, and the files in which a campaign keeps them."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from conformance.runner.dialect import Trial
from conformance.vectors.stored import Form, read

T = TypeVar("T")

FAMILIES: Final[Mapping[str, str]] = {
    "spmd": "collectives",
    "graph": "graphs",
    "global": "sharding",
    "types": "types",
    "schedule": "schedules",
}
"""The family of each dialect: they are chosen, and measured, apart."""


SMALLER: Final = ", made smaller"
"""How the origin of a case ends that was."""


DECISIVE: Final = "decisive"
"""How the origin of a case begins that the deck is to have whatever is chosen: one of a rare pair of its own."""


class CampaignError(ValueError):
    """A campaign that cannot be gone on with; the message says which step, where, and what would be right."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A case with all that it is chosen by.

    ``origin`` says where it is from; ``seconds`` of a processor are what meaning, the reference's answer and the
    verdict take. ``features`` are what claims are held against; ``parts`` are those of ``generate.shown``, as lists. A
    ``valued`` one has, where it is legal, a value to compare.
    """

    name: str
    family: str
    suite: str
    op: str
    origin: str
    form: Form
    seconds: float
    features: dict[str, dict[str, list[str]]]
    parts: list[tuple[list[str], list[str]]]
    text: bytes
    valued: bool = True

    @property
    def case(self) -> Any:
        """Return the case."""
        return read(self.form, self.text)


def features_of(one: Trial) -> dict[str, dict[str, list[str]]]:
    """Return the words that claims are held against, in order."""
    met = one.facts.features
    return {op: {name: sorted(words) for name, words in sorted(of.items()) if words} for op, of in met.items()}


def keep(path: Path, what: object) -> None:
    """Write a value for ``kept``: whole, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(f".{os.getpid()}")
    half.write_bytes(zlib.compress(msgspec.msgpack.encode(what), 6))
    half.replace(path)


def kept(path: Path, kind: type[T]) -> T:
    """Return what ``keep`` wrote; raise ``CampaignError`` where that is not to be read."""
    try:
        return msgspec.msgpack.decode(zlib.decompress(path.read_bytes()), type=kind)
    except (OSError, zlib.error, msgspec.DecodeError) as error:
        raise CampaignError(f"{path} is no part of a campaign ({error}); delete it and make the step again") from error


def all_of(folder: Path, wanted: Sequence[str], step: str) -> list[Candidate]:
    """Return the candidates of parts by name; raise ``CampaignError`` where the campaign was cut before it had all."""
    missing = [name for name in wanted if not (folder / f"{name}.zlib").exists()]
    if missing:
        raise CampaignError(
            f"the campaign in {folder} was cut: {len(missing)} of {len(wanted)} parts are missing, {missing[0]} first; "
            f"go on with the step {step}"
        )
    found: dict[str, Candidate] = {}
    for name in wanted:
        for each in kept(folder / f"{name}.zlib", list[Candidate]):
            found.setdefault(each.name, each)
    return list(found.values())
