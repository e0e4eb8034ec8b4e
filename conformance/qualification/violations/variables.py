"""Schedules whose variables or calls are wrong."""

from __future__ import annotations

from msgspec.structs import replace

from conformance.cases.graph.buffer import Bounds
from conformance.cases.graph.extent import Dim
from conformance.cases.graph.graph import Function, Node, Variable
from conformance.cases.schedule.builders import buffer, given, graph, node, opaque, reads, schedule, stored, writes
from conformance.cases.schedule.index_map import Affine
from conformance.cases.schedule.kernel_body import Body, Load, Reduce, Store
from conformance.cases.schedule.schedule import Binding, Collective, Kernel, Schedule
from conformance.qualification.violations.violation import violates

N = {"n": Bounds(low=1, high=4)}
A = stored("a")


def _summed(id: str = "k", target: str = "y", extent: Dim = "n", *bindings: Binding) -> Kernel:
    """Return the kernel of a[:n].sum()."""
    taken = (Affine(extents=(extent,), strides=(1,)),)
    stored_at = (Affine(extents=(extent,), strides=(0,)),)
    body = Body(
        extents=(extent,),
        instructions=(Load(access=0), Reduce(op="add", of=0, axes=(0,)), Store(access=1, of=1)),
    )
    own = (reads("a", taken), writes(target, stored_at))
    return Kernel(id=id, device="d0", accesses=own, bodies=(body,), variables=bindings)


def _of(*items: Kernel, size: int = 1) -> Schedule:
    buffers = (*given("a"), *(buffer(item.accesses[-1].buffer, size, output=True) for item in items))
    return schedule(buffers, items, variables=N | {"m": Bounds(low=1, high=4)})


@violates("variables.C1")
def unused_variable_listed() -> Schedule:
    """A kernel lists every bound variable of the program, so that its cached binary is compiled anew for each."""
    return _of(_summed("k", "y", "n", Binding("m", 2), Binding("n", 3)))


@violates("variables.C2")
def variables_out_of_order() -> Schedule:
    """Variables are listed in the order of a set, and a kernel is launched with two arguments exchanged."""
    kernel = _summed("k", "y", "n", Binding("n", 3), Binding("m", 2))
    shifted = (Affine(extents=("n",), strides=(1,), variables={"m": 0}),)
    return _of(replace(kernel, accesses=(reads("a", shifted), kernel.accesses[1])))


@violates("variables.C3")
def variable_with_two_values() -> Schedule:
    """a[:n] with n = 3 and a[:n] with n = 4 in one schedule: the second silently wins."""
    return _of(_summed("k", "y", "n", Binding("n", 3)), _summed("l", "z", "n", Binding("n", 4)))


@violates("variables.C3")
def value_of_an_earlier_run() -> Schedule:
    """A schedule is taken from a cache whose key leaves out values, and is run with those it was made for."""
    return _asked(4, 3)


def _asked(value: int, told: int) -> Schedule:
    """Return the schedule of a graph that asks for one value of n, and its kernel is told another."""
    sized = node("part", "shrink", "a", shape=("n",), arg=((0, "n"),))
    asked = graph(A, sized, results=["part"], variables={"n": Variable(low=1, high=4, value=value)})
    return replace(_of(_summed("k", "y", "n", Binding("n", told))), graph=asked)


@violates("variables.C4")
def variable_out_of_bounds() -> Schedule:
    """A variable is bound above the most that buffers were made for."""
    made = _of(_summed("k", "y", "n", Binding("n", 4)))
    return replace(made, variables={"n": Bounds(low=1, high=3), "m": Bounds(low=1, high=4)})


@violates("variables.C5")
def room_for_the_value_only() -> Schedule:
    """A buffer of symbolic shape is allocated for the value of the first run, and the next run writes behind it."""
    item = opaque("k", reads("a"), writes("t"))
    small = buffer("t", 3, shape=("n",), output=True)
    return schedule((*given("a"), small), [item], variables=N)


@violates("variables.C6")
def symbolic_shape_split() -> Schedule:
    """A ring splits a shape that it does not know into chunks.

    The seed's all_reduce asserts that all extents are numbers.
    """
    devices = ("d0", "d1")
    nodes = [
        *(stored(f"x{d}", ("n",), device=d) for d in devices),
        *(node(f"y{d}", "all_reduce", "xd0", "xd1", shape=("n",), device=d, fold="add") for d in devices),
    ]
    buffers = [buffer(f"{name}{d}", device=d, preexisting=name == "x") for d in devices for name in "xy"]
    parts = [opaque(f"k{d}", reads("xd0"), reads("xd1"), writes(f"y{d}", node=f"y{d}"), device=d) for d in devices]
    ring = Collective(id="r", op="all_reduce", participants=devices, group="g", algorithm="ring", parts=tuple(parts))
    names = [f"y{d}" for d in devices]
    return schedule(buffers, [ring], graph(*nodes, results=names), {n: n for n in names}, variables=N)


@violates("variables.C7")
def value_baked_into_the_kernel() -> tuple[Schedule, Schedule]:
    """The value of a variable is compiled into the kernel: every length of a prompt compiles anew."""
    return _of(_summed("k", "y", 3)), _of(_summed("k", "y", 4))


@violates("variables.C7")
def first_value_kept() -> tuple[Schedule, Schedule]:
    """The kernels of a graph are kept with what they were told first, and are launched with that for every value."""
    return _asked(3, 3), _asked(4, 3)


def _called(*arguments: Node, parameters: tuple[Node, ...]) -> Schedule:
    """Return the schedule of a call of f with ``arguments``, where f negates its first parameter."""
    first = parameters[0]
    inner = Function(nodes=(*parameters, replace(first, id="r", op="alu", of=(first.id,), arg="neg")), result="r")
    call = replace(first, id="y", op="call", of=tuple(each.id for each in arguments), arg="f")
    distinct = {each.id: each for each in arguments}.values()
    wanted = graph(*distinct, call, results=["y"], functions={"f": inner})
    buffers = [buffer(each.id, dtype=each.dtype, preexisting=True) for each in distinct]
    item = opaque("k", *(reads(each.id) for each in buffers), writes("y"), provenance=("y",))
    return schedule((*buffers, buffer("y", dtype=first.dtype)), [item], wanted, {"y": "y"})


def _parameter(number: int, **rest: object) -> Node:
    return replace(node(f"p{number}", "param", arg=number), **rest)


@violates("variables.C8")
def too_few_arguments() -> Schedule:
    """A call with one argument of a function of two is inlined, and the second parameter takes whatever is there."""
    return _called(A, parameters=(_parameter(0), _parameter(1)))


@violates("variables.C9")
def parameters_with_a_gap() -> Schedule:
    """Parameters numbered 0 and 2: the second argument goes nowhere."""
    return _called(A, stored("b"), parameters=(_parameter(0), _parameter(2)))


@violates("variables.C10")
def argument_of_another_dtype() -> Schedule:
    """A float32 argument is passed for an int32 parameter, and its bits are taken for a number."""
    return _called(A, parameters=(_parameter(0, dtype="int32"),))


@violates("variables.C10")
def argument_of_another_shape() -> Schedule:
    """A function traced for one shape is called with another of as many elements, and indexes it as its own."""
    return _called(stored("a", (2, 2)), parameters=(_parameter(0),))
