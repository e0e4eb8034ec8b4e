"""Survivors of the engine's and the judge's families that were read and found to change no answer, with reasons."""

from __future__ import annotations

from importlib.resources import files

import msgspec


def read_reasons() -> dict[str, str]:
    """Return, by the digest of a mutant, why it is equivalent."""
    text = files("conformance.qualification.auto").joinpath("equivalent_survivors.json").read_text(encoding="utf-8")
    return msgspec.json.decode(text, type=dict[str, str])
