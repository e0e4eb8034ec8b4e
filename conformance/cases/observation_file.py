"""The observation file: how an observation with large tensors travels from a worker to the runner."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from conformance.cases.case_error import CaseError
from conformance.cases.observation import Observation, RankError, Touched
from conformance.cases.sharded.placement import Layout
from conformance.cases.tensor.stored import StoredTensor, read_document, restore, store

T = TypeVar("T")


class ObservationFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An observation whose large tensors are in a sibling file, keyed by result and rank."""

    results: dict[str, tuple[StoredTensor | None, ...]]
    errors: tuple[RankError | None, ...]
    touched: tuple[Touched, ...]
    seconds: float
    health: Observation | None = None
    layouts: dict[str, Layout] = {}
    moved: dict[str, int] = {}
    sizes: dict[str, int] = {}
    realized: dict[str, bool] = {}


def save_observation(observation: Observation, path: Path) -> None:
    """Write ``observation`` to ``path`` and its large tensors beside it; raise ``OSError`` when that fails."""
    stored = store(_flat(observation.results), path.with_suffix(".safetensors"))
    document = ObservationFile(
        results=_nested(stored, observation.results),
        errors=observation.errors,
        touched=observation.touched,
        seconds=observation.seconds,
        health=observation.health,
        layouts=observation.layouts,
        moved=observation.moved,
        sizes=observation.sizes,
        realized=observation.realized,
    )
    path.write_bytes(msgspec.json.encode(document))


def load_observation(path: Path) -> Observation:
    """Return the observation in the file ``path``; raise ``CaseError`` for anything but a sound observation file."""
    try:
        document = msgspec.json.decode(read_document(path), type=ObservationFile)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CaseError(f"{path.name} is not an observation file: {error}") from None
    return Observation(
        results=_nested(restore(_flat(document.results), path.parent), document.results),
        errors=document.errors,
        touched=document.touched,
        seconds=document.seconds,
        health=document.health,
        layouts=document.layouts,
        moved=document.moved,
        sizes=document.sizes,
        realized=document.realized,
    )


def _flat(results: Mapping[str, tuple[T | None, ...]]) -> dict[str, T]:
    """Return the blocks that there are, by result and rank."""
    return {
        f"{name}/{rank}": block
        for name, blocks in results.items()
        for rank, block in enumerate(blocks)
        if block is not None
    }


def _nested(flat: Mapping[str, T], like: Mapping[str, tuple[object, ...]]) -> dict[str, tuple[T | None, ...]]:
    return {name: tuple(flat.get(f"{name}/{rank}") for rank in range(len(blocks))) for name, blocks in like.items()}
