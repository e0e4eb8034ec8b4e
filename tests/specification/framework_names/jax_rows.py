"""Names of JAX, run on four CPU devices of one process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.specification.framework_names.rows import WORLD, Rows, reference, says

jax_rows = Rows("jax")

X = [[1, 10], [2, 20], [3, 30], [4, 40]]
FLOATS = [[1.0, 10.0], [2.0, 20.0], [4.0, 40.0], [9.0, 90.0]]
BOOLS = [[True, False], [True, False], [False, False], [True, False]]
SQUARE = [[10 * rank + column for column in range(WORLD)] for rank in range(WORLD)]
NAN = [[1.0], [2.0], [float("nan")], [3.0]]
PAIRS = ((0, 2), (3, 1))
LINES = (("i", 2), ("j", 2))

Given = Callable[[Any], Any]


def mapped(
    function: Given, rows: list[Any] = X, dtype: str = "int32", *, typed: bool = False, mesh: Any = (("i", WORLD),)
) -> list[Any]:
    """Return what a function gives on each device for its block, in the mode with or without types."""
    import jax
    from jax.sharding import PartitionSpec

    names = tuple(name for name, _ in mesh)
    automatic = (jax.sharding.AxisType.Auto,) * len(mesh)
    devices = jax.make_mesh(tuple(size for _, size in mesh), names, axis_types=automatic)
    blocks = np.array(rows, dtype)

    def on_device(block: Any) -> Any:
        made = function(block[0])
        if typed and not jax.typeof(made).mat.varying.issuperset(names):
            made = jax.lax.pcast(made, names, to="varying")
        return jax.numpy.asarray(made)[None]

    spec = PartitionSpec(names)
    run = jax.shard_map(on_device, mesh=devices, in_specs=spec, out_specs=spec, check_vma=typed)
    return list(np.asarray(jax.jit(run)(blocks)))


def at_once(whole: Callable[[], list[Any]]) -> Callable[[int], Any]:
    """Return what gives each device its own of the results of a call that is made once for all of them."""
    made: list[Any] = []

    def on(device: int) -> Any:
        if not made:
            try:
                made.append(whole())
            except Exception as error:  # noqa: BLE001 - what a framework raises is what it gives
                made.append(error)
        if isinstance(made[0], Exception):
            raise made[0]
        return made[0][device]

    return on


def call(
    name: str, aspect: str, theirs: Given, ours: Any, rows: list[Any] = X, dtype: str = "int32", **more: Any
) -> None:
    """Enter a row: a function on a block, in both modes unless one is named."""
    shown = more.pop("shown", None)
    jax_rows(name, aspect, ours=ours, theirs=shown)(at_once(lambda: mapped(theirs, rows, dtype, **more)))


def lax() -> Any:
    import jax

    return jax.lax


def internal() -> Any:
    from jax._src.lax import parallel

    return parallel


call("lax.psum", "", lambda x: lax().psum(x, "i"), reference("all_reduce", X, op="sum"))
for aspect, typed, shown in (("", False, None), (" with check_vma=True", True, "raises ValueError")):
    call(
        "lax.psum",
        f"an integer among the axes{aspect}",
        lambda x: lax().psum(x, ("i", 0)),
        reference("all_reduce", X, op="sum", local_axes=(0,)),
        typed=typed,
        shown=shown,
    )
call(
    "lax.psum",
    "axis_index_groups",
    lambda x: lax().psum(x, "i", axis_index_groups=[list(pair) for pair in PAIRS]),
    reference("all_reduce", X, op="sum", groups=PAIRS),
)
call(
    "lax.psum",
    "axis_index_groups with check_vma=True",
    lambda x: lax().psum(x, "i", axis_index_groups=[list(pair) for pair in PAIRS]),
    reference("all_reduce", X, op="sum", groups=PAIRS),
    typed=True,
    shown="raises NotImplementedError",
)
call(
    "lax.psum",
    "of bools",
    lambda x: lax().psum(x, "i"),
    reference("all_reduce", BOOLS, dtype="bool", op="sum"),
    BOOLS,
    "bool",
)
call("lax.psum", "of a Python int", lambda x: 0 * x[0] + lax().psum(3, "i"), reference("reduce_constant", value=3))
call(
    "lax.psum", "of a Python float", lambda x: 0 * x[0] + lax().psum(0.5, "i"), reference("reduce_constant", value=0.5)
)
call(
    "lax.psum",
    "over several axes",
    lambda x: lax().psum(x, ("j", "i")),
    reference("all_reduce", X, op="sum"),
    mesh=LINES,
)
call(
    "lax.psum",
    "of a result of psum",
    lambda x: lax().psum(lax().psum(x, "i"), "i"),
    says("int32 [40, 400]"),
    typed=True,
)
call(
    "lax.psum",
    "groups of unequal size",
    lambda x: lax().psum(x, "i", axis_index_groups=[[0], [1, 2, 3]]),
    reference("all_reduce", X, op="sum", groups=((0,), (1, 2, 3))),
)
call(
    "lax.pmean",
    "",
    lambda x: lax().pmean(x, "i"),
    reference("all_reduce", FLOATS, dtype="float32", op="mean"),
    FLOATS,
    "float32",
)
call(
    "lax.pmean",
    "of integers",
    lambda x: lax().pmean(x, "i"),
    reference("all_reduce", X, op="mean"),
    shown="float32 [2.5, 25.0]",
)
call("lax.pmax", "", lambda x: lax().pmax(x, "i"), reference("all_reduce", X, op="max"))
call("lax.pmin", "", lambda x: lax().pmin(x, "i"), reference("all_reduce", X, op="min"))
call(
    "lax.pmax",
    "of NaN on CPUs",
    lambda x: lax().pmax(x, "i"),
    reference("all_reduce", NAN, dtype="float32", op="max"),
    NAN,
    "float32",
    shown="float32 [3.0]",
)
call(
    "lax.pmin",
    "of NaN on CPUs",
    lambda x: lax().pmin(x, "i"),
    reference("all_reduce", NAN, dtype="float32", op="min"),
    NAN,
    "float32",
    shown="float32 [1.0]",
)
call("parallel.pargmax", "", lambda x: internal().pargmax(x, "i"), reference("arg_reduce", X, op="max"))
call("parallel.pargmin", "", lambda x: internal().pargmin(x, "i"), reference("arg_reduce", X, op="min"))
for which in ("max", "min"):
    call(
        f"parallel.parg{which}",
        "over several names",
        lambda x, which=which: getattr(internal(), f"parg{which}")(x, ("j", "i")),
        reference("arg_reduce", X, op=which, mesh=dict(LINES), over=("j", "i")),
        mesh=LINES,
        shown="raises TypeError",
    )
call(
    "lax.pbroadcast",
    "on CPUs",
    lambda x: lax().pbroadcast(x, "i", 1),
    reference("broadcast", X, root=1),
    shown="raises NotImplementedError",
)
RING = ((0, 1), (1, 2), (2, 3))
call("lax.ppermute", "", lambda x: lax().ppermute(x, "i", RING), reference("permute", X, pairs=RING))
call(
    "lax.ppermute",
    "negative positions",
    lambda x: lax().ppermute(x, "i", [(-1, 0)]),
    reference("permute", X, pairs=((-1, 0),)),
    shown=["int32 [4, 40]", "int32 [0, 0]", "int32 [0, 0]", "int32 [0, 0]"],
)
call(
    "lax.ppermute",
    "over several axes",
    lambda x: lax().ppermute(x, ("j", "i"), [(0, 1)]),
    reference("permute", X, pairs=((0, 1),), mesh={"i": 2, "j": 2}, over=("j", "i")),
    mesh=LINES,
    shown=["int32 [0, 0]", "int32 [1, 10]", "int32 [0, 0]", "int32 [0, 0]"],
)
call(
    "lax.ppermute",
    "a position named twice",
    lambda x: lax().ppermute(x, "i", [(0, 1), (0, 2)]),
    reference("permute", X, pairs=((0, 1), (0, 2))),
)
call("lax.pshuffle", "", lambda x: lax().pshuffle(x, "i", [2, 0, 3, 1]), reference("shuffle", X, sources=(2, 0, 3, 1)))
call("lax.all_gather", "", lambda x: lax().all_gather(x, "i"), reference("all_gather", X, axis=0, tiled=False))
call(
    "lax.all_gather",
    "tiled=True",
    lambda x: lax().all_gather(x, "i", tiled=True),
    reference("all_gather", X, axis=0, tiled=True),
)
call(
    "lax.all_gather",
    "axis_index_groups",
    lambda x: lax().all_gather(x, "i", axis_index_groups=[list(pair) for pair in PAIRS], axis=1),
    reference("all_gather", X, axis=1, tiled=False, groups=PAIRS),
)
call(
    "lax.all_gather",
    "groups of unequal size",
    lambda x: lax().all_gather(x, "i", axis_index_groups=[[0], [1, 2, 3]]),
    reference("all_gather", X, axis=0, tiled=False, groups=((0,), (1, 2, 3))),
)
call(
    "parallel.all_gather_invariant",
    "",
    lambda x: internal().all_gather_invariant(x, "i"),
    reference("all_gather", X, axis=0, tiled=False),
    typed=True,
)
ROWS = [[[100 * rank + 10 * row + column for column in range(2)] for row in range(WORLD)] for rank in range(WORLD)]
call(
    "lax.psum_scatter",
    "",
    lambda x: lax().psum_scatter(x, "i"),
    reference("reduce_scatter", ROWS, op="sum", axis=0, tiled=False),
    ROWS,
)
call(
    "lax.psum_scatter",
    "tiled=True",
    lambda x: lax().psum_scatter(x, "i", tiled=True),
    reference("reduce_scatter", ROWS, op="sum", axis=0, tiled=True),
    ROWS,
)
call(
    "lax.psum_scatter",
    "axis_index_groups",
    lambda x: lax().psum_scatter(x, "i", axis_index_groups=[list(pair) for pair in PAIRS], tiled=True),
    reference("reduce_scatter", ROWS, op="sum", axis=0, tiled=True, groups=PAIRS),
    ROWS,
)
call(
    "lax.all_to_all",
    "axis_index_groups",
    lambda x: lax().all_to_all(x, "i", 0, 1, axis_index_groups=[list(pair) for pair in PAIRS], tiled=True),
    reference("all_to_all", ROWS, split_axis=0, concat_axis=1, tiled=True, groups=PAIRS),
    ROWS,
)
jax_rows("lax.psum", "outside shard_map", ours=says("rejected by types.C1"))(lambda _: lax().psum(np.arange(2), "i"))
call(
    "lax.psum_scatter",
    "of bools",
    lambda x: lax().psum_scatter(x, "i", tiled=True),
    reference("reduce_scatter", [[True] * WORLD] * WORLD, dtype="bool", op="sum", axis=0, tiled=True),
    [[True] * WORLD] * WORLD,
    "bool",
    shown="raises TypeError",
)
call(
    "lax.psum_scatter",
    "a negative dimension",
    lambda x: lax().psum_scatter(x, "i", scatter_dimension=-2, tiled=True),
    reference("reduce_scatter", ROWS, op="sum", axis=-2, tiled=True),
    ROWS,
    shown="raises ValueError",
)
call(
    "lax.psum_scatter",
    "an extent that the group size does not divide",
    lambda x: lax().psum_scatter(x, "i", tiled=True),
    reference("reduce_scatter", X, op="sum", axis=0, tiled=True),
)
call(
    "lax.all_to_all",
    "",
    lambda x: lax().all_to_all(x, "i", 0, 1),
    reference("all_to_all", ROWS, split_axis=0, concat_axis=1, tiled=False),
    ROWS,
)
call(
    "lax.all_to_all",
    "tiled=True",
    lambda x: lax().all_to_all(x, "i", 0, 1, tiled=True),
    reference("all_to_all", ROWS, split_axis=0, concat_axis=1, tiled=True),
    ROWS,
)
call(
    "lax.all_to_all",
    "a negative axis",
    lambda x: lax().all_to_all(x, "i", 0, -1),
    reference("all_to_all", ROWS, split_axis=0, concat_axis=-1, tiled=False),
    ROWS,
    shown="raises AssertionError",
)
call(
    "lax.pswapaxes",
    "",
    lambda x: lax().pswapaxes(x, "i", 0),
    reference("all_to_all", ROWS, split_axis=0, concat_axis=0, tiled=False),
    ROWS,
)
call("lax.axis_index", "", lambda x: lax().axis_index("i"), reference("axis_index"))
call(
    "lax.axis_index",
    "over several axes",
    lambda x: lax().axis_index(("j", "i")),
    reference("axis_index", mesh={"i": 2, "j": 2}, over=("j", "i")),
    mesh=LINES,
)
call("lax.axis_size", "", lambda x: 0 * x[0] + lax().axis_size("i"), reference("axis_size"))
call(
    "lax.pcast",
    "to='varying'",
    lambda x: lax().pcast(lax().psum(x, "i"), "i", to="varying"),
    reference("all_reduce", X, op="sum"),
    typed=True,
)
jax_rows("lax.pvary", ours=says("int32 [1, 10]"), theirs="raises AttributeError")(lambda device: lax().pvary)
jax_rows("lax.ragged_all_to_all", "on CPUs", ours=says("int32 [1, 2]"), theirs="raises JaxRuntimeError")(
    at_once(lambda: mapped(ragged, SQUARE))
)


def ragged(x: Any) -> Any:
    from jax import numpy as jnp

    at, one = jnp.arange(WORLD, dtype="int32"), jnp.ones(WORLD, "int32")
    return lax().ragged_all_to_all(x, x, at, one, at, one, axis_name="i")


for half in ("psend", "precv"):
    jax_rows(f"lax.{half}", "on CPUs", ours=reference("permute", X, pairs=RING), theirs="raises NotImplementedError")(
        at_once(lambda: mapped(lambda x: lax().precv(lax().psend(x, "i", RING), x, "i", RING)))
    )
