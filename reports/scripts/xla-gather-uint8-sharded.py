"""A gather with uint8 indices over an array that is sharded along the gathered axis; the process aborts."""

import subprocess
import sys

PROGRAM = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("i",))
x = jax.device_put(jnp.arange(16, dtype=jnp.int32).reshape(8, 2), NamedSharding(mesh, P("i")))
index = jax.device_put(jnp.array([7, 0, 3], jnp.uint8), NamedSharding(mesh, P()))
print(jax.jit(lambda x, index: jnp.take(x, index, axis=0, mode="clip"))(x, index).tolist())
"""

done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
expected = "[[14, 15], [0, 1], [6, 7]]"
print(
    f"expected {expected}, observed {done.stdout.strip() or done.stderr.strip().splitlines()[0]} (status {done.returncode})"
)
sys.exit(done.stdout.strip() != expected)
