"""Names of JAX 0.10.2: collectives of ``jax.lax``, those that it does not export, mapping and placements."""

from __future__ import annotations

from typing import Final

from conformance.specification.framework_names.row import Framework

_JAX = Framework("jax")
_GPU: Final = "Not implemented on CPUs, where it raises."
_INTERNAL: Final = "of jax._src.lax.parallel; jax.lax does not export it"

JAX: Final = (
    _JAX.equal("lax.psum", 'all_reduce(op="sum")', "all_reduce.C1 reduction.C1 reduction.C12"),
    _JAX.equal(
        "lax.psum", 'all_reduce(op="sum")', "reduction.C11", "A sum of bools counts in int32.", aspect="of bools"
    ),
    _JAX.equal(
        "lax.psum",
        "reduce_constant",
        "reduce_constant.C1 reduce_constant.C2",
        "`psum(1)` is the number of members. JAX's result is a Python int of any size.",
        aspect="of a Python int",
    ),
    _JAX.equal(
        "lax.psum",
        "reduce_constant",
        "reduce_constant.C1 reduce_constant.C3",
        "`psum(0.5)` among 4 is 2.0. JAX's result is a Python float.",
        aspect="of a Python float",
    ),
    _JAX.equal(
        "lax.psum",
        'all_reduce(op="sum", groups)',
        "collective.C5 collective.C7",
        "With `check_vma=False`.",
        aspect="axis_index_groups",
    ),
    _JAX.otherwise(
        "lax.psum",
        'all_reduce(op="sum", groups)',
        "types.C15 collective.C7",
        "Raises NotImplementedError: types have no state for a result that differs among groups.",
        aspect="axis_index_groups with check_vma=True",
    ),
    _JAX.equal(
        "lax.psum",
        'all_reduce(op="sum", groups)',
        "collective.C6 collective.C15",
        "psum, pmax and pmin take groups of unequal size, as all_reduce does.",
        aspect="groups of unequal size",
    ),
    _JAX.equal("lax.psum", 'all_reduce(op="sum") over j, i', "collective.C24", aspect="over several axes"),
    _JAX.equal(
        "lax.psum",
        'all_reduce(op="sum", local_axes=(0,))',
        "all_reduce.C2",
        "An integer is an axis of the block. With `check_vma=False`.",
        aspect="an integer among the axes",
    ),
    _JAX.otherwise(
        "lax.psum",
        'all_reduce(op="sum", local_axes=(0,))',
        "types.C16 all_reduce.C2",
        "Raises ValueError: there is no type for it, and raising is right.",
        aspect="an integer among the axes with check_vma=True",
    ),
    _JAX.equal(
        "lax.psum",
        'all_reduce(op="sum"), all_reduce(op="sum")',
        "types.C14 transposes.C11",
        "With `check_vma=True` the invariant result is cast to varying, so that a second psum multiplies by the number "
        "of members. It is not the identity.",
        aspect="of a result of psum",
    ),
    _JAX.equal("lax.pmean", 'all_reduce(op="mean")', "reduction.C9 reduction.C10 numerics.C2"),
    _JAX.otherwise(
        "lax.pmean",
        'all_reduce(op="mean")',
        "reduction.C13 reduction.C22",
        "Means of integers are float32 (float64 for 64-bit integers with 64-bit types on); reduction.C13 recommends "
        "float64. The sum wraps around before it is divided.",
        aspect="of integers",
    ),
    _JAX.equal("lax.pmax", 'all_reduce(op="max")', "reduction.C3 numerics.C21"),
    _JAX.equal("lax.pmin", 'all_reduce(op="min")', "reduction.C4 numerics.C21"),
    _JAX.otherwise(
        "lax.pmax",
        'all_reduce(op="max")',
        "reduction.C20",
        "On CPUs pmax drops NaN: the result is the greatest number of the others, on every member.",
        aspect="of NaN on CPUs",
    ),
    _JAX.otherwise(
        "lax.pmin",
        'all_reduce(op="min")',
        "reduction.C20",
        "On CPUs pmin drops NaN: the result is the least number of the others, on every member.",
        aspect="of NaN on CPUs",
    ),
    *(
        _JAX.otherwise(
            f"parallel.parg{which}",
            f'arg_reduce(op="{which}")',
            "collective.C24 arg_reduce.C1",
            "Over several names a TypeError: one axis alone has positions. arg_reduce counts them over all, in their "
            "order.",
            status=_INTERNAL,
            aspect="over several names",
        )
        for which in ("max", "min")
    ),
    _JAX.equal("parallel.pargmax", 'arg_reduce(op="max")', "arg_reduce.C2 arg_reduce.C4", status=_INTERNAL),
    _JAX.equal("parallel.pargmin", 'arg_reduce(op="min")', "arg_reduce.C3 arg_reduce.C4", status=_INTERNAL),
    _JAX.otherwise("lax.pbroadcast", "broadcast", "broadcast.C1 broadcast.C2", _GPU, aspect="on CPUs"),
    _JAX.documented(
        "lax.pbroadcast", "broadcast", "broadcast.C1 broadcast.C2", "`source` is the root: a position along the axis."
    ),
    _JAX.equal("lax.ppermute", "permute", "permute.C1 permute.C2", "A position that no pair names receives zeros."),
    _JAX.otherwise(
        "lax.ppermute",
        "permute",
        "pairs.C4",
        "Positions are indices of a Python list: -1 is the last.",
        aspect="negative positions",
    ),
    _JAX.otherwise(
        "lax.ppermute",
        "permute over j, i",
        "collective.C24",
        "Positions count in the order of the mesh, whatever order the axes are named in.",
        aspect="over several axes",
    ),
    _JAX.equal("lax.ppermute", "permute", "pairs.C1 pairs.C2", "Both refuse it.", aspect="a position named twice"),
    _JAX.equal("lax.pshuffle", "shuffle", "shuffle.C1"),
    _JAX.equal("lax.all_gather", "all_gather(tiled=False)", "all_gather.C1 all_gather.C2"),
    _JAX.equal("lax.all_gather", "all_gather(tiled=True)", "all_gather.C3", aspect="tiled=True"),
    _JAX.equal(
        "lax.all_gather",
        'all_gather(to="varying")',
        "types.C12 types.C13",
        "The result varies along the axis, although all members hold the same: shard_map refuses it for `out_specs` "
        "without the axis, with a ValueError. `parallel.all_gather_invariant` has an invariant result.",
        aspect="for out_specs=P() with check_vma=True",
    ),
    _JAX.equal(
        "lax.all_gather",
        "all_gather(groups)",
        "collective.C8",
        "Members are in the order in which axis_index_groups lists them.",
        aspect="axis_index_groups",
    ),
    _JAX.equal(
        "lax.all_gather", "all_gather(groups)", "collective.C6", "Both refuse it.", aspect="groups of unequal size"
    ),
    _JAX.equal(
        "parallel.all_gather_invariant",
        'all_gather(to="invariant")',
        "transposes.C5 types.C13",
        status=_INTERNAL,
    ),
    _JAX.equal(
        "parallel.all_gather_invariant",
        'all_gather(to="invariant")',
        "types.C13",
        "Accepted: its result is invariant.",
        aspect="for out_specs=P() with check_vma=True",
        status=_INTERNAL,
    ),
    _JAX.equal("lax.psum_scatter", 'reduce_scatter(op="sum", tiled=False)', "reduce_scatter.C1 reduce_scatter.C2"),
    _JAX.equal("lax.psum_scatter", 'reduce_scatter(op="sum", tiled=True)', "reduce_scatter.C3", aspect="tiled=True"),
    _JAX.equal(
        "lax.psum_scatter",
        'reduce_scatter(op="sum", groups)',
        "collective.C8 reduce_scatter.C1",
        "The member at position p of a group, as it is listed, keeps piece p.",
        aspect="axis_index_groups",
    ),
    _JAX.equal("lax.all_to_all", "all_to_all(groups)", "collective.C8 all_to_all.C1", aspect="axis_index_groups"),
    _JAX.equal(
        "lax.psum",
        'all_reduce(op="sum")',
        "types.C1 collective.C22",
        "Raises NameError, *unbound axis name*: axis names are known in what is mapped over them alone, as by "
        "shard_map.",
        aspect="outside shard_map",
    ),
    _JAX.otherwise(
        "lax.psum_scatter", 'reduce_scatter(op="sum")', "reduction.C11", "Raises TypeError.", aspect="of bools"
    ),
    _JAX.otherwise(
        "lax.psum_scatter",
        "reduce_scatter(axis=-2)",
        "reduce_scatter.C4",
        "Raises ValueError in lowering.",
        aspect="a negative dimension",
        status="so in 0.10.2",
    ),
    _JAX.equal(
        "lax.psum_scatter",
        "reduce_scatter(tiled=True)",
        "reduce_scatter.C6",
        "Both refuse it.",
        aspect="an extent that the group size does not divide",
    ),
    _JAX.equal("lax.all_to_all", "all_to_all(tiled=False)", "all_to_all.C1 all_to_all.C2"),
    _JAX.equal("lax.all_to_all", "all_to_all(tiled=True)", "all_to_all.C3", aspect="tiled=True"),
    _JAX.otherwise(
        "lax.all_to_all",
        "all_to_all(concat_axis=-1)",
        "all_to_all.C4",
        "Raises an error of lowering; with `tiled=True` and a negative split axis the process can end.",
        aspect="a negative axis",
        status="so in 0.10.2",
    ),
    _JAX.equal("lax.pswapaxes", "all_to_all(split_axis=k, concat_axis=k, tiled=False)", "all_to_all.C2"),
    _JAX.otherwise("lax.ragged_all_to_all", "ragged_all_to_all", "ragged_all_to_all.C1", _GPU, aspect="on CPUs"),
    _JAX.equal("lax.axis_index", "axis_index", "axis_index.C1"),
    _JAX.equal("lax.axis_index", "axis_index over j, i", "collective.C24", aspect="over several axes"),
    _JAX.equal("lax.axis_size", "axis_size", "axis_size.C1", "JAX's result is a Python int."),
    _JAX.otherwise("lax.psend", "send", "send.C1", _GPU, aspect="on CPUs"),
    _JAX.otherwise("lax.precv", "recv", "recv.C1 recv.C2", _GPU, aspect="on CPUs"),
    _JAX.equal(
        "lax.pcast",
        'cast(to="varying")',
        "types.C3 transposes.C10",
        "Casts are invariant to varying or reduced, varying to unreduced, reduced to varying.",
        aspect="to='varying'",
    ),
    _JAX.otherwise(
        "lax.pvary",
        'cast(to="varying")',
        "types.C3",
        "Raises AttributeError.",
        status="gone since 0.10.0; use `lax.pcast(x, axes, to='varying')`",
    ),
    _JAX.equal("parallel.psum_start", "start all_reduce", "async.C1 starts.C1 starts.C3", status=_INTERNAL),
    _JAX.otherwise(
        "parallel.psum_start",
        "done",
        "async.C5 starts.C7",
        "Raises JaxRuntimeError: exactly one user of what is started is expected.",
        aspect="a second done",
    ),
    _JAX.equal(
        "shard_map(check_vma=True)",
        "a typed program",
        "types.C12 transposes.C1",
        "The mode with types, and the default. The derivative of the psum of each rank's own loss is the derivative "
        "of that loss, once, for a parameter that varies; for one that is alike on all ranks it is the sum of all "
        "ranks' derivatives already (`transposes.C10`), so that no psum is to be added. `jax.typeof(x)` shows the "
        "axes along which a value varies (vma).",
        aspect="the derivative of psum",
    ),
    _JAX.equal(
        "shard_map(check_vma=False)",
        "types are not checked",
        "transposes.C15 types.C14",
        "The mode without types, as in pmap. The transpose of psum is psum, so that the derivative is "
        "multiplied by the "
        "number of members. Clauses that begin with *Without types* are about this mode.",
        aspect="the derivative of psum",
        status="`check_rep` before 0.7",
    ),
    _JAX.equal("vmap(axis_name=)", "a level", "batches.C1 batches.C2"),
    _JAX.otherwise(
        "vmap(axis_name=)",
        "permute over a level",
        "batches.C3",
        "Raises AssertionError: over a mapped axis a permutation has to name every position.",
        aspect="ppermute with a position in no pair",
    ),
    _JAX.otherwise(
        "vmap(axis_name=)",
        "all_reduce(groups) over a level",
        "batches.C13",
        "Raises NotImplementedError.",
        aspect="axis_index_groups",
    ),
    _JAX.equal("pmap", "types are not checked", "transposes.C15", "Collectives as under `check_vma=False`."),
    _JAX.equal("NamedSharding", "a split along a mesh axis", "sharded.C11", "`PartitionSpec` names the mesh axes."),
    _JAX.otherwise(
        "device_put",
        "a copy to a placement",
        "sharded.C12",
        "Raises ValueError where an extent is not divided by the size of the mesh axis: JAX has no parts of unequal "
        "sizes at the borders of a program. Inside one, compilers pad.",
        aspect="parts of unequal sizes",
    ),
    *(
        _JAX.equal("Array.astype", "cast (node)", "graph.C11", f"{past}.", aspect=f"{dtype}, past the greatest number")
        for dtype, past in (
            ("float8_e4m3fn", "NaN, as in ml_dtypes: 464 is a tie and becomes 448, and 465 is NaN"),
            ("float8_e5m2", "An infinity, as in ml_dtypes"),
            ("float16", "An infinity"),
        )
    ),
    _JAX.equal("numpy.promote_types", "the least dtype", "graph.C23", "Of dtypes; Python's numbers are weak there."),
    _JAX.otherwise(
        "numpy.promote_types",
        "the least dtype",
        "graph.C23",
        "float64; with 64-bit types off arrays of both have 32 bits, and their sum is int32. Here no dtype is above "
        "both, and a graph that combines them is malformed.",
        aspect="of int64 and uint64",
    ),
    _JAX.silent(
        "lax.with_sharding_constraint",
        "A wish of the program about placements, which changes no value.",
        "sharded.C40",
        ours="a copy to a placement",
    ),
    _JAX.silent(
        "lax.pdot", "A dot product over a mapped axis: a local product and an all_reduce by sum.", status="gone"
    ),
    _JAX.silent(
        "Array.block_until_ready",
        "Waits in the host for a value. This specification says what values are, not when hosts wait.",
        "async.C1",
    ),
    *(
        _JAX.otherwise(
            name,
            form,
            "numerics.C6",
            "On CPUs it gives +0.0: the sum starts at +0.0. numerics.C6 recommends -0.0.",
            aspect="of nothing but -0.0",
        )
        for name, form in (
            ("lax.psum", 'all_reduce(op="sum")'),
            ("lax.pmean", 'all_reduce(op="mean")'),
            ("lax.psum_scatter", 'reduce_scatter(op="sum")'),
        )
    ),
)
