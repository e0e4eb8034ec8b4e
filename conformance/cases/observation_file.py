"""The observation file: how an observation with large tensors travels from a worker to the runner."""

from __future__ import annotations

from pathlib import Path

import msgspec

from conformance.cases.observation import Observation, RankError, Touched
from conformance.cases.program.validate import CaseError
from conformance.cases.sharded.placement import Layout
from conformance.cases.tensor.stored import StoredTensor, read_document, restore, store


class ObservationFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An observation whose large tensors are in a sibling file, keyed by result and rank."""

    results: dict[str, tuple[StoredTensor | None, ...]]
    errors: tuple[RankError | None, ...]
    touched: tuple[Touched, ...]
    seconds: float
    health: Observation | None = None
    layouts: dict[str, Layout] = {}
    moved: dict[str, int] = {}


def save_observation(observation: Observation, path: Path) -> None:
    """Write ``observation`` to ``path`` and its large tensors beside it; raise ``OSError`` when that fails."""
    tensors = {
        f"{name}/{rank}": block
        for name, blocks in observation.results.items()
        for rank, block in enumerate(blocks)
        if block is not None
    }
    stored = store(tensors, path.with_suffix(".safetensors"))
    document = ObservationFile(
        results={
            name: tuple(stored.get(f"{name}/{rank}") for rank in range(len(blocks)))
            for name, blocks in observation.results.items()
        },
        errors=observation.errors,
        touched=observation.touched,
        seconds=observation.seconds,
        health=observation.health,
        layouts=observation.layouts,
        moved=observation.moved,
    )
    path.write_bytes(msgspec.json.encode(document))


def load_observation(path: Path) -> Observation:
    """Return the observation in the file ``path``; raise ``CaseError`` for anything but a sound observation file."""
    try:
        document = msgspec.json.decode(read_document(path), type=ObservationFile)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CaseError(f"{path.name} is not an observation file: {error}") from None
    stored = {
        f"{name}/{rank}": block
        for name, blocks in document.results.items()
        for rank, block in enumerate(blocks)
        if block is not None
    }
    tensors = restore(stored, path.parent)
    return Observation(
        results={
            name: tuple(tensors.get(f"{name}/{rank}") for rank in range(len(blocks)))
            for name, blocks in document.results.items()
        },
        errors=document.errors,
        touched=document.touched,
        seconds=document.seconds,
        health=document.health,
        layouts=document.layouts,
        moved=document.moved,
    )
