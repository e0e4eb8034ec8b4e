"""A PartitionSpec of more entries than the array has axes, on a mesh of explicit axes.

It ends with 1 while this is so and with 0 when it is not.
"""

import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

wrong = False
for kind in (AxisType.Auto, AxisType.Explicit):
    mesh = Mesh(np.array(jax.devices()[:1]), ("i",), axis_types=(kind,))
    try:
        found = repr(jax.device_put(np.float32(1), NamedSharding(mesh, P("i"))))
    except Exception as error:
        found = f"{type(error).__name__}: {str(error)[:120]}"
        wrong = wrong or isinstance(error, AssertionError)
    print(f"device_put of a number, split along axis 0, {kind}: {found}")
sys.exit(wrong)
