"""The dtypes that tinygrad and the specification have in common."""

from __future__ import annotations

from typing import Any, Final

from tinygrad.dtype import dtypes

DTYPES: Final[dict[str, Any]] = {
    "bool": dtypes.bool,
    "int8": dtypes.int8,
    "int16": dtypes.int16,
    "int32": dtypes.int32,
    "int64": dtypes.int64,
    "uint8": dtypes.uint8,
    "uint16": dtypes.uint16,
    "uint32": dtypes.uint32,
    "uint64": dtypes.uint64,
    "float8_e4m3fn": dtypes.fp8e4m3,
    "float8_e5m2": dtypes.fp8e5m2,
    "float16": dtypes.float16,
    "bfloat16": dtypes.bfloat16,
    "float32": dtypes.float32,
    "float64": dtypes.float64,
}
NAMES: Final = {dtype: name for name, dtype in DTYPES.items()}
