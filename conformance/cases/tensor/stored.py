"""Tensors on disk: small ones inline as hex, large ones in a sibling safetensors file, as unsigned integers.

Unsigned integers, because not every format and reader knows bfloat16, float8 or int4, and because a NaN must
arrive with its payload.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISREG
from typing import Annotated, Any, Final

import msgspec
import numpy as np
from msgspec import Meta
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from conformance.cases.case_error import CaseError
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.cases.tensor.footprint import footprint
from conformance.cases.tensor.tensor import Tensor

INLINE: Final = 4096
"""Bytes up to which a tensor stays in the document: 8192 hex digits, about what an editor shows with ease."""

LONGEST_DOCUMENT: Final = 256 << 20
"""Bytes of a document: larger tensors belong in its sibling."""


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
        part = sibling.with_name(sibling.name + ".part")
        save_file({key: _unsigned(tensor) for key, tensor in large.items()}, part)
        part.replace(sibling)
    return {
        key: StoredTensor(dtype=tensor.dtype, shape=tensor.shape, file=sibling.name)
        if key in large
        else StoredTensor(dtype=tensor.dtype, shape=tensor.shape, bits=tensor.bits)
        for key, tensor in tensors.items()
    }


def restore(stored: Mapping[str, StoredTensor], folder: Path) -> dict[str, Tensor]:
    """Return the tensors, by key, of a document in ``folder``; raise ``CaseError`` for anything out of order."""
    return {key: _restored(key, tensor, folder) for key, tensor in stored.items()}


def read_document(path: Path) -> bytes:
    """Return the bytes of a document; raise ``CaseError`` unless it is a file of a reasonable size."""
    try:
        status = path.stat()
        if not S_ISREG(status.st_mode):
            raise CaseError("it is not a regular file")
        if status.st_size > LONGEST_DOCUMENT:
            raise CaseError(f"it has {status.st_size} bytes, over the limit of {LONGEST_DOCUMENT >> 20} MiB")
        return path.read_bytes()
    except OSError as error:
        raise CaseError(f"it cannot be read: {error.strerror}") from None


def sibling_of(folder: Path, name: str) -> Path:
    """Return the regular file ``name`` of ``folder``; raise ``CaseError`` for a path, or one that leads elsewhere."""
    if name in {"", ".", ".."} or any(mark in name for mark in ("/", "\\", "\0", os.sep)):
        raise CaseError(f"file {name!r} is not the plain name of a file beside it")
    try:
        found = (folder / name).resolve(strict=True)
    except (OSError, RuntimeError):
        raise CaseError(f"file {name!r} is not there") from None
    if found.parent != folder.resolve():
        raise CaseError(f"file {name!r} leads out of its folder")
    if not found.is_file():
        raise CaseError(f"file {name!r} is not a regular file")
    return found


def _restored(key: str, stored: StoredTensor, folder: Path) -> Tensor:
    footprint(key, stored.dtype, stored.shape)
    if (stored.bits is None) == (stored.file is None):
        raise CaseError(f"{key}: a tensor has either bits or a file")
    bits = stored.bits if stored.file is None else _bits(key, stored, sibling_of(folder, stored.file))
    try:
        return Tensor(dtype=stored.dtype, shape=stored.shape, bits=bits or "")
    except ValueError as error:
        raise CaseError(f"{key}: {error}") from None


def _bits(key: str, stored: StoredTensor, path: Path) -> str:
    dtype, shape = _container(stored.dtype, stored.shape)
    try:
        with safe_open(path, framework="numpy") as file:
            if key not in file.keys():  # noqa: SIM118 - it is no mapping
                raise CaseError(f"{path.name} has no tensor {key!r}")
            header = file.get_slice(key)
            if header.get_dtype() != f"U{8 * dtype.itemsize}" or tuple(header.get_shape()) != shape:
                raise CaseError(
                    f"{path.name}: {key!r} is {header.get_dtype()} {header.get_shape()}, "
                    f"not U{8 * dtype.itemsize} {list(shape)}"
                )
            array: Array = file.get_tensor(key)
    except (SafetensorError, OSError) as error:
        raise CaseError(f"{path.name} is not a sound safetensors file: {error}") from None
    return array.tobytes().hex()


def _unsigned(tensor: Tensor) -> Array:
    dtype, shape = _container(tensor.dtype, tensor.shape)
    return np.frombuffer(bytes.fromhex(tensor.bits), dtype).reshape(shape)


def _container(dtype: str, shape: tuple[int, ...]) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Return the unsigned dtype and the shape that hold a tensor's bits."""
    width = NUMPY[dtype].itemsize
    return np.dtype(f"<u{min(width, 8)}"), shape if width <= 8 else (*shape, width // 8)
