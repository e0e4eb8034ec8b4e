"""The observation file: how an observation with large tensors travels from a worker to the runner."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from conformance.cases.case_error import CaseError
from conformance.cases.observation import Answered, Observation
from conformance.cases.tensor.stored import StoredTensor, restore, store
from conformance.cases.whole_file import read_whole

T = TypeVar("T")

LONGEST: Final = 64 << 20
"""Bytes of the document, as of an answer in a line: its large tensors are beside it."""


class ObservationFile(Answered[StoredTensor], frozen=True, kw_only=True):
    """An observation whose large tensors are in a sibling file, keyed by result and rank."""


_REST: Final = tuple(name for name in Observation.__struct_fields__ if name != "results")


def save_observation(observation: Observation, path: Path) -> None:
    """Write ``observation`` to ``path`` and its large tensors beside it; raise ``OSError`` when that fails."""
    stored = store(_flat(observation.results), path.with_suffix(".safetensors"))
    document = ObservationFile(results=_nested(stored, observation.results), **_rest(observation))
    path.write_bytes(msgspec.json.encode(document))


def read_observation(path: Path) -> ObservationFile:
    """Return what the file ``path`` has, its large tensors not yet read; raise ``CaseError`` where it is not sound."""
    try:
        return msgspec.json.decode(read_whole(path, LONGEST), type=ObservationFile)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CaseError(f"{path.name:.80} is not an observation file: {error}") from None
    except CaseError as error:
        raise CaseError(f"{path.name:.80}: {error}") from None


def restored(document: ObservationFile, folder: Path) -> Observation:
    """Return an observation with its tensors, those in files of ``folder`` too; raise ``CaseError`` as ``restore``."""
    return Observation(results=_nested(restore(_flat(document.results), folder), document.results), **_rest(document))


def _rest(found: Answered[Any]) -> dict[str, Any]:
    """Return all fields but the results."""
    return {name: getattr(found, name) for name in _REST}


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
