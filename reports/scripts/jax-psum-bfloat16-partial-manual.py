"""lax.psum of bfloat16 on CPU where shard_map has some axes of the mesh: the compiler ends the process."""

import os
import subprocess
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"


def child(dtype, names):
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax import lax
    from jax.sharding import Mesh
    from jax.sharding import PartitionSpec as P

    mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("i", "j"))
    mapped = jax.shard_map(
        lambda x: lax.psum(x, "i"),
        mesh=mesh,
        in_specs=P("i"),
        out_specs=P("i"),
        check_vma=False,
        axis_names=set(names),
    )
    print(jax.jit(mapped)(jnp.array([1, 2], dtype)).tolist())


if len(sys.argv) > 1:
    sys.exit(child(*sys.argv[1:]))
ended = False
for dtype, names in (("float32", "i"), ("float16", "i"), ("bfloat16", "ij"), ("bfloat16", "i")):
    done = subprocess.run([sys.executable, __file__, dtype, names], capture_output=True, text=True)
    fatal = [line for line in done.stderr.splitlines() if line.startswith("F")]
    said = done.stdout.strip() or " ".join(fatal)
    print(f"{dtype}, axis_names {sorted(names)}: {said} (exit status {done.returncode})")
    ended |= done.returncode < 0
sys.exit(ended)
