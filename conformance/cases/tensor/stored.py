"""Tensors on disk: small ones inline as hex, large ones in a sibling safetensors file, as unsigned integers.

Unsigned integers, because not every format and reader knows bfloat16, float8 or int4, and because a NaN must
arrive with its payload.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import numpy as np
from msgspec import Meta
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save

from conformance.cases.case_error import CaseError
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.cases.tensor.footprint import footprint
from conformance.cases.tensor.tensor import Tensor
from conformance.cases.whole_file import read_whole, write_whole

INLINE: Final = 4096
"""Bytes up to which a tensor stays in the document: 8192 hex digits, about what an editor shows with ease."""

LONGEST_DOCUMENT: Final = 64 << 20
"""Bytes of a document: larger tensors belong in its sibling. Read as plain data it takes up to 20 times as much."""

HEADER: Final = 4096
"""Bytes of a sibling beside those of its tensors, for each of them and once more: a name of 256 characters takes at
most 1,536 as JSON, a shape of 64 axes 1,280."""


class StoredTensor(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One block: its ``bits`` in hex, or the ``file`` beside the document that holds them.

    In the file its key is the value's name, a slash and the rank; its elements are unsigned integers of the
    dtype's width, 16-byte elements two of 8 bytes along a last axis.
    """

    dtype: str
    shape: tuple[Annotated[int, Meta(ge=0)], ...]
    bits: Annotated[str, Meta(pattern="^([0-9a-f]{2})*$")] | None = None
    file: Annotated[str, Meta(pattern=r"^[^/\\\x00]+\.safetensors$")] | None = None


def store(tensors: Mapping[str, Tensor], sibling: Path) -> dict[str, StoredTensor]:
    """Return the tensors as stored, by key; the large ones are written to ``sibling``."""
    large = {key: tensor for key, tensor in tensors.items() if len(tensor.bits) > 2 * INLINE}
    if large:
        write_whole(sibling, save({key: _unsigned(tensor) for key, tensor in large.items()}))
    return {
        key: StoredTensor(dtype=tensor.dtype, shape=tensor.shape, file=sibling.name)
        if key in large
        else StoredTensor(dtype=tensor.dtype, shape=tensor.shape, bits=tensor.bits)
        for key, tensor in tensors.items()
    }


def restore(stored: Mapping[str, StoredTensor], folder: Path) -> dict[str, Tensor]:
    """Return the tensors, by key, of a document in ``folder``; raise ``CaseError`` for anything out of order.

    A sibling is read once, and not at all where it has more bytes than its tensors.
    """
    sizes = {key: footprint(key, tensor.dtype, tensor.shape) for key, tensor in stored.items()}
    for key, tensor in stored.items():
        if (tensor.bits is None) == (tensor.file is None):
            raise CaseError(f"{key}: a tensor has either bits or a file")
    files: dict[str, list[str]] = {}
    for key, tensor in stored.items():
        if tensor.file is not None:
            files.setdefault(tensor.file, []).append(key)
    bits = {key: tensor.bits for key, tensor in stored.items() if tensor.bits is not None}
    for name, keys in files.items():
        most = sum(sizes[key] for key in keys) + HEADER * (len(keys) + 1)
        bits |= _bits({key: stored[key] for key in keys}, sibling_of(folder, name), most)
    return {key: _restored(key, tensor, bits[key]) for key, tensor in stored.items()}


def read_document(path: Path) -> bytes:
    """Return the bytes of a document; raise ``CaseError`` unless it is a file of a reasonable size."""
    return read_whole(path, LONGEST_DOCUMENT)


def sibling_of(folder: Path, name: str) -> Path:
    """Return the regular file ``name`` of ``folder``; raise ``CaseError`` for a path, or one that leads elsewhere."""
    if name in {"", ".", ".."} or any(mark in name for mark in ("/", "\\", "\0", os.sep)):
        raise CaseError(f"file {name!r} is not the plain name of a file beside it")
    try:
        found = (folder / name).resolve(strict=True)
    except (OSError, RuntimeError):
        raise CaseError(f"file {name!r:.80} is not there") from None
    if found.parent != folder.resolve():
        raise CaseError(f"file {name!r} leads out of its folder")
    if not found.is_file():
        raise CaseError(f"file {name!r} is not a regular file")
    return found


def _restored(key: str, stored: StoredTensor, bits: str) -> Tensor:
    try:
        return Tensor(dtype=stored.dtype, shape=stored.shape, bits=bits)
    except ValueError as error:
        raise CaseError(f"{key}: {error}") from None


def _bits(stored: Mapping[str, StoredTensor], path: Path, most: int) -> dict[str, str]:
    """Return the bits of the tensors in a sibling, by key."""
    try:
        found = dict(deserialize(read_whole(path, most)))  # type: ignore[no-untyped-call]
    except SafetensorError as error:
        raise CaseError(f"{path.name} is not a sound safetensors file: {error}") from None
    except CaseError as error:
        raise CaseError(f"{path.name}: {error}") from None
    return {key: _digits(key, tensor, found, path.name) for key, tensor in stored.items()}


def _digits(key: str, stored: StoredTensor, found: Mapping[str, Mapping[str, Any]], file: str) -> str:
    if key not in found:
        raise CaseError(f"{file} has no tensor {key!r}")
    dtype, shape = container(stored.dtype, stored.shape)
    held = found[key]
    if held["dtype"] != f"U{8 * dtype.itemsize}" or tuple(held["shape"]) != shape:
        raise CaseError(f"{file}: {key!r} is {held['dtype']} {held['shape']}, not U{8 * dtype.itemsize} {list(shape)}")
    digits: str = held["data"].hex()
    return digits


def _unsigned(tensor: Tensor) -> Array:
    dtype, shape = container(tensor.dtype, tensor.shape)
    return np.frombuffer(bytes.fromhex(tensor.bits), dtype).reshape(shape)


def container(dtype: str, shape: tuple[int, ...]) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Return the unsigned dtype and the shape that hold a tensor's bits."""
    width = NUMPY[dtype].itemsize
    return np.dtype(f"<u{min(width, 8)}"), shape if width <= 8 else (*shape, width // 8)
