"""Steps that compute values: elementwise operations, conversions, folds, and calls of functions."""

from __future__ import annotations

from typing import Final

import numpy as np

from conformance.cases.graph.elementwise import COMPARISONS
from conformance.cases.graph.graph import Function, Node
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.cases.tensor.tensor import from_array
from conformance.generate import choices
from conformance.generate.graphs.vocabulary import DTYPES, plainest, taking
from conformance.generate.schedules.graph_nodes import SOMETIMES, GraphChain
from conformance.generate.schedules.swarms import constant

COMMON: Final = ("add", "mul", "sub", "max")
"""Operations that are drawn more often: engines have most rules for them."""


def elementwise(chain: GraphChain) -> bool:
    """Go on with an operation on the head alone, on it and another value, or on it and a variable."""
    unary, binary = (taking(chain.head.dtype, words) for words in (chain.swarm.unary, chain.swarm.binary))
    if chain.variables and kind(chain.head.dtype) != "bool" and chain.draw(SOMETIMES):
        return _with_variable(chain)
    words = (*binary, *binary, *(word for word in binary if word in COMMON), *unary) or (plainest(chain.head.dtype),)
    word = chain.draw(choices.sampled_from(words))
    return chain.same("alu", *(() if word in unary else (chain.like(chain.head),)), arg=word)


def _with_variable(chain: GraphChain) -> bool:
    """Go on with an operation on the head and a variable, expanded to its shape."""
    at, name = chain.head, chain.draw(choices.sampled_from(sorted(chain.variables)))
    made = variable_value(chain, name)
    if at.dtype != made.dtype:
        made = chain.add("cast", (), at.dtype, made)
        chain.bare.add(made.id)
    for op, shape in (("reshape", (1,) * len(at.shape)), ("expand", at.shape)) if at.shape else ():
        made = chain.add(op, shape, at.dtype, made)
        chain.bare.add(made.id)
    return chain.same("alu", made, arg=chain.draw(choices.sampled_from(taking(at.dtype, ("add", "mul", "max", "sub")))))


def variable_value(chain: GraphChain, name: str) -> Node:
    """Return the value of a variable, now and then with a number added to it."""
    device, dtype = chain.head.device, "int32"
    made = chain.add("var", (), dtype, device=device, arg=name)
    chain.bare.add(made.id)
    if chain.draw(SOMETIMES):
        number = from_array(np.array(chain.draw(choices.sampled_from([1, 2, -1])), dtype))
        added = chain.add("const", (), dtype, device=device, arg=number)
        made = chain.add("alu", (), dtype, made, added, arg="add")
        chain.bare.add(made.id)
    return made


def convert(chain: GraphChain) -> bool:
    """Go on with a comparison, a choice or another dtype."""
    at, word = chain.head, chain.draw(choices.sampled_from(chain.swarm.converting))
    if word == "lt" and kind(at.dtype) == "complex":
        word = "ne"
    if word in COMPARISONS:
        return chain.same("alu", chain.like(at), arg=word, dtype="bool")
    if word == "where" and at.dtype == "bool":
        dtype = chain.swarm.dtype
        value = chain.add("const", at.shape, dtype, device=at.device, arg=constant(chain.draw, dtype))
        return chain.same("alu", chain.like(value), chain.like(value), arg="where", dtype=dtype)
    if word == "bitcast":
        width = NUMPY[at.dtype].itemsize
        # The bits of other integers are no bools.
        wide = [each for each in dict.fromkeys(DTYPES) if NUMPY[each].itemsize == width and each != at.dtype]
        found = [each for each in wide if not {"bool", "int4", "uint4"} & {each, at.dtype}]
        found = [each for each in found if "complex" not in (kind(each), kind(at.dtype))]
        if found:
            return chain.same("bitcast", dtype=chain.draw(choices.sampled_from(found)))
    here = [each for each in (chain.swarm.dtype, chain.swarm.other) if each != at.dtype]
    # To a dtype that can be assigned to, or to any.
    anywhere = not here or chain.draw(SOMETIMES)
    others = [each for each in dict.fromkeys(DTYPES) if each != at.dtype] if anywhere else here
    return chain.same("cast", dtype=chain.draw(choices.sampled_from(others)))


def reduce(chain: GraphChain) -> bool:
    """Go on with a fold of one axis, seldom of several."""
    at, rank = chain.head, len(chain.head.shape)
    folds = taking(at.dtype, chain.swarm.folds) or (("or",) if at.dtype == "bool" else (plainest(chain.head.dtype),))
    if 0 in at.shape:
        folds = tuple(fold for fold in folds if fold not in ("max", "min")) or ("add",)
    if not rank:
        return False
    axes = [chain.draw(choices.integers(0, rank - 1))]
    if rank > 2 and chain.draw(SOMETIMES):
        axes = chain.draw(choices.subsets(range(rank)))
    kept = tuple(extent for axis, extent in enumerate(at.shape) if axis not in axes)
    fold = chain.draw(choices.sampled_from(folds))
    return chain.on(chain.add("reduce", kept, at.dtype, at, arg=tuple(axes), fold=fold))


def keep(chain: GraphChain) -> bool:
    """Go on with a value that is made contiguous, detached, or given by a function."""
    number = chain.draw(choices.integers(0, 3))
    if chain.swarm.calls and number:
        return _called(chain)
    if number == 3:
        return chain.on(chain.moved("detach", chain.head.shape, chain.head))
    return chain.same("contig")


def _called(chain: GraphChain) -> bool:
    """Go on with what a function makes of the head and of another value."""
    at, name = chain.head, f"f{len(chain.functions)}"
    arguments = (at, chain.like(at))
    inner = [
        Node(id=f"p{number}", op="param", shape=at.shape, dtype=at.dtype, device=at.device, arg=number)
        for number in range(2)
    ]
    words = taking(at.dtype, chain.swarm.binary) or (plainest(chain.head.dtype),)
    of, word = ("p0", "p1"), chain.draw(choices.sampled_from(words))
    inner.append(Node(id="r", op="alu", of=of, shape=at.shape, dtype=at.dtype, device=at.device, arg=word))
    chain.functions[name] = Function(nodes=tuple(inner), result="r")
    return chain.on(chain.add("call", at.shape, at.dtype, *arguments, arg=name))
