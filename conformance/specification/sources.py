"""The sources of the specification: what a clause cites, by a short name.

A clause cites ``NAME``, or ``NAME: PLACE`` for a function, argument or section inside; several are separated by ``; ``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from conformance.cases.specification_error import SpecificationError


@dataclass(frozen=True)
class Document:
    """A text: its ``title``, the ``version`` or commit that was read, its ``licence``, and ``file`` or address."""

    title: str
    version: str
    licence: str
    file: str


@dataclass(frozen=True)
class Source:
    """What a clause cites: a ``section`` or function, or all of a document, and what it ``settles`` here."""

    name: str
    document: Document
    section: str
    settles: str


class SourceError(SpecificationError):
    """A citation of what is no source; the message names it and says which there are."""


_JAX = Document("JAX, parallel primitives", "0.10.0", "Apache-2.0", "jax/_src/lax/parallel.py")
_JAX_LAX = Document("JAX, element-wise primitives", "0.10.2", "Apache-2.0", "jax/_src/lax/lax.py")
_JAX_API = Document("JAX, transformations of functions", "0.10.2", "Apache-2.0", "jax/_src/api.py")
_MULTI = Document("tinygrad, multi-device buffers", "commit 62e5d96446, 2024-12-19", "MIT", "tinygrad/multi.py")
_LAZY = Document("tinygrad, lazy graph", "between 0.7.0 and 0.8.0, 2023-12", "MIT", "tinygrad/lazy_graphs.py")
_RANGEIFY = Document("tinygrad, kernel graph", "commit edca5df25a, 2026-05-28", "MIT", "tinygrad/schedule/rangeify.py")
_LOWERING = Document(
    "PyTorch, Inductor's lowering of collectives",
    "2.13.0",
    "BSD-3-Clause",
    "torch/_inductor/comm_lowering.py",
)
_TORCH = Document(
    "PyTorch documentation", "2.13", "BSD-3-Clause", "https://docs.pytorch.org/docs/stable/distributed.html"
)
_MPI = Document("MPI: A Message-Passing Interface Standard", "4.1", "MPI Forum", "https://www.mpi-forum.org/docs/")
_STABLEHLO = Document("StableHLO specification", "1.0", "Apache-2.0", "https://openxla.org/stablehlo/spec")
_XLA = Document("XLA documentation, asynchronous HLO", "2026", "Apache-2.0", "https://openxla.org/xla/async_ops")
_NUMPY = Document("NumPy documentation", "2.x", "BSD-3-Clause", "https://numpy.org/doc/stable/")
_C11 = Document("ISO/IEC 9899:2011, C", "draft N1570", "ISO/IEC", "https://www.open-std.org/jtc1/sc22/wg14/")
_IEEE = Document("IEEE Standard for Floating-Point Arithmetic", "754-2019", "IEEE", "IEEE 754")
_OFP8 = Document("OCP 8-bit Floating Point Specification", "1.0", "OWFa 1.0", "https://www.opencompute.org/")
_OPENCL = Document("OpenCL API specification", "3.0", "CC-BY-4.0", "https://registry.khronos.org/OpenCL/")
_OPENCL_C = Document("OpenCL C specification", "3.0", "CC-BY-4.0", "https://registry.khronos.org/OpenCL/")
_PROMOTION = Document(
    "JAX documentation, type promotion semantics",
    "0.10.2",
    "Apache-2.0",
    "https://docs.jax.dev/en/latest/type_promotion.html",
)
_DTENSOR = Document(
    "PyTorch documentation, torch.distributed.tensor",
    "2.13",
    "BSD-3-Clause",
    "https://docs.pytorch.org/docs/stable/distributed.tensor.html",
)
_SHARDING = Document(
    "JAX documentation, distributed arrays and explicit sharding", "0.10.2", "Apache-2.0", "https://docs.jax.dev/"
)
_MLX = Document(
    "MLX documentation, distributed communication",
    "0.32.4",
    "MIT",
    "https://ml-explore.github.io/mlx/build/html/python/distributed.html",
)
_OURS = Document("Mesh Conformance", "this version", "Apache-2.0", "conformance/specs")

_LISTED: Final = (
    Source("jax.psum", _JAX, "psum", "sums, groups, mesh and local axes, several operands"),
    Source("jax.pmean", _JAX, "pmean", "means: the sum, divided by the number of members"),
    Source("jax.pmax", _JAX, "pmax", "the greatest element"),
    Source("jax.pmin", _JAX, "pmin", "the least element"),
    Source("jax.pargmax", _JAX, "pargmax", "the position of the greatest element, the first of several"),
    Source("jax.pargmin", _JAX, "pargmin", "the position of the least element, the first of several"),
    Source("jax.pbroadcast", _JAX, "pbroadcast", "the block of one member for all, by its position"),
    Source("jax.ppermute", _JAX, "ppermute", "moves along pairs of positions, and zeros elsewhere"),
    Source("jax.pshuffle", _JAX, "pshuffle", "a permutation given by the source of each position"),
    Source("jax.psend", _JAX, "psend", "one half of a move along pairs, and its token"),
    Source("jax.precv", _JAX, "precv", "the other half, and zeros where nothing was sent"),
    Source("jax.all_to_all", _JAX, "all_to_all", "split along one axis, joined along another, tiled or not"),
    Source("jax.ragged_all_to_all", _JAX, "ragged_all_to_all", "slices of rows by offsets and sizes"),
    Source("jax.all_gather", _JAX, "all_gather", "blocks stacked or joined in member order"),
    Source("jax.psum_scatter", _JAX, "psum_scatter", "a sum of which each member keeps its piece"),
    Source("jax.axis_index", _JAX, "axis_index", "a member's position, over one axis or several"),
    Source("jax.axis_size", _JAX, "axis_size", "the number of members"),
    Source("jax.pcast", _JAX, "pcast and the casts beside it", "types of mesh axes, casts and their transposes"),
    Source(
        "jax.local", _JAX_LAX, "the rules of add and mul for unreduced and reduced operands", "types of local results"
    ),
    Source("jax.start", _JAX, "psum_start and the other start forms", "collectives under way, and done"),
    Source("jax.vmap", _JAX_API, "vmap: in_axes, out_axes, axis_name", "programs mapped over a new axis"),
    Source("tinygrad.multi", _MULTI, "", "all_reduce over devices, copies between them"),
    Source("tinygrad.lazy", _LAZY, "", "what a lazy graph computes, and what needs no kernel"),
    Source("tinygrad.schedule", _RANGEIFY, "", "kernels, assigns and copies, and their order"),
    Source(
        "torch.inductor.comm_lowering",
        _LOWERING,
        "",
        "collectives in place, out of place and into a target; waits",
    ),
    Source("torch.distributed", _TORCH, "", "arguments that are refused, and ranks that disagree"),
    Source("torch.dtensor", _DTENSOR, "", "placements of distributed tensors, and what moves them"),
    Source("jax.sharding", _SHARDING, "", "arrays over a mesh of devices compute what whole ones would"),
    Source("mpi.allreduce", _MPI, "section 6.9.6", "blocks without elements"),
    Source("mpi.reduce", _MPI, "section 6.9.1", "a reduction that one member receives, in any association"),
    Source("mpi.operations", _MPI, "section 6.9.2", "the predefined reductions and the types they take"),
    Source("mpi.barrier", _MPI, "section 6.3", "waiting for all"),
    Source("mpi.bcast", _MPI, "section 6.4", "the root of a broadcast"),
    Source("mpi.gather", _MPI, "section 6.5", "blocks in member order at the root, nothing elsewhere"),
    Source("mpi.scatter", _MPI, "section 6.6", "the pieces of the root's block"),
    Source("mpi.scan", _MPI, "sections 6.11.1 and 6.11.2", "reductions of the members up to each, own block or not"),
    Source("mpi.correctness", _MPI, "section 6.14", "the order of collectives on one communicator and on several"),
    Source("mlx.distributed", _MLX, "", "the greatest and the least of the arrays of all processes"),
    Source("stablehlo.all_reduce", _STABLEHLO, "all_reduce", "a sum is that of some binary tree over the members"),
    Source("stablehlo.all_gather", _STABLEHLO, "all_gather", "joining in member order, bits unchanged"),
    Source("stablehlo.collective_permute", _STABLEHLO, "collective_permute", "zeros where nothing arrives"),
    Source("xla.async", _XLA, "async-start, async-done", "a start and the done that follows it by its operand"),
    Source("stablehlo.operations", _STABLEHLO, "Ops", "what single operations on tensors compute"),
    Source("jax.promotion", _PROMOTION, "", "the dtype of an operation on operands of several dtypes"),
    Source("opencl.accuracy", _OPENCL_C, "section 7.4", "how far functions of floats may be from the real value"),
    Source("numpy.integers", _NUMPY, "Data types: overflow errors", "integers of a fixed size wrap around"),
    Source("numpy.maximum", _NUMPY, "numpy.maximum", "a NaN on either side is the result"),
    Source("c11.bool", _C11, "section 6.3.1.2", "a bool is 0 or 1"),
    Source("c11.complex", _C11, "annex G", "complex sums and products with infinities and NaN"),
    Source("ieee754", _IEEE, "", "floating-point numbers, their sums and products"),
    Source("ocp.ofp8", _OFP8, "sections 5 and 6", "the formats E4M3 and E5M2 and their overflow"),
    Source("opencl.buffers", _OPENCL, "section 5.2.1", "where a sub-buffer may begin"),
    Source("backend", _OURS, "Backend.guarantees", "the word of the backend that gives a guarantee"),
    Source("ours", _OURS, "docs/decisions", "what no source settles, or sources settle differently"),
)

SOURCES: Final = {source.name: source for source in _LISTED}
"""Every source by its short name."""


def cited(citation: str) -> tuple[tuple[Source, str], ...]:
    """Return the sources that a ``citation`` names, each with the place inside, empty for all of it.

    Raise ``SourceError`` for a name that is no source, or an empty place.
    """
    found = []
    for part in citation.split("; "):
        name, mark, place = part.partition(": ")
        if name not in SOURCES:
            raise SourceError(f"unknown source {name!r}; the sources are {', '.join(SOURCES)}")
        if mark and not place:
            raise SourceError(f"{citation!r} has an empty place; write NAME or NAME: PLACE")
        found.append((SOURCES[name], place))
    return tuple(found)


def check_citations(clauses: Mapping[str, str]) -> None:
    """Raise ``SourceError`` for a clause, by its id, whose citation names what is no source."""
    for clause, citation in clauses.items():
        try:
            cited(citation)
        except SourceError as error:
            raise SourceError(f"{clause}: {error}") from None


def described(citation: str) -> str:
    """Return a citation in full: for each source its name, place, document, version, section and licence."""
    return "; ".join(_described(source, place) for source, place in cited(citation))


def _described(source: Source, place: str) -> str:
    text = source.document
    if text is _OURS:
        return f"{source.name} ({source.settles})"
    where = ", ".join(filter(None, (text.file, source.section, place)))
    return f"{source.name} ({text.title}, {text.version}: {where}; {text.licence})"


def uncited(citations: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the sources that none of ``citations`` names."""
    named = {source.name for citation in citations for source, _ in cited(citation)}
    return tuple(name for name in SOURCES if name not in named)
