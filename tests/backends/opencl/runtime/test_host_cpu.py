"""The build target of PoCL on a CPU its compiler does not know."""

from __future__ import annotations

import ctypes
import struct
from types import SimpleNamespace

import pytest

from conformance.backends.opencl.runtime.host_cpu import RECORD, retarget


@pytest.mark.parametrize(("target", "changed"), [(b"generic", True), (b"znver3", False), (b"generic2", False)])
def test_only_a_target_that_clang_refuses_is_replaced(target: bytes, *, changed: bool) -> None:
    text = ctypes.create_string_buffer(target)
    record = ctypes.create_string_buffer(RECORD)
    # A word that is no address, then the pointer that counts.
    struct.pack_into("<QQ", record, 632, 2**46, ctypes.addressof(text))
    said = retarget([SimpleNamespace(int_ptr=ctypes.addressof(record))])
    (pointer,) = struct.unpack_from("<Q", record, 640)
    assert (said is not None) == changed
    assert ctypes.string_at(pointer) == (said.encode() if said else target)
