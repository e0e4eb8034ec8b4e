"""jax.lax.ragged_all_to_all: offsets and sizes of unlike integer dtypes fail in XLA's verifier.

On a CPU the same call with equal dtypes ends in the sentence that XLA:CPU has no such operation, on a GPU in its result.
"""

import os
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec

mesh = Mesh(np.array(jax.devices()[:1]), ("i",))
rows = PartitionSpec("i")


def call(*dtypes):
    integers = [np.array([number], dtype) for number, dtype in zip((1, 2, 0, 2), dtypes, strict=True)]
    exchange = jax.shard_map(
        lambda *operands: lax.ragged_all_to_all(*operands, axis_name="i"), mesh=mesh, in_specs=rows, out_specs=rows
    )
    try:
        return str(jax.jit(exchange)(np.arange(3.0, dtype=np.float32), np.zeros(3, np.float32), *integers))
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:150]}"


equal, unlike = call(*["int32"] * 4), call("int32", "uint8", "int32", "int16")
print(f"offsets and sizes of int32:                {equal}")
print(f"of int32, uint8, int32 and int16 in turn:  {unlike}")
sys.exit(int("different shapes" in unlike and "different shapes" not in equal))
