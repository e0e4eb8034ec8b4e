"""The process a backend runs in: ``python -m conformance.backends.worker NAME`` answers the worker protocol."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import os
import select
import shutil
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, get_args

import msgspec

from conformance.backends import own_reference, protocol, spent_seconds
from conformance.backends.base import Backend
from conformance.backends.case_arrays import tensors
from conformance.backends.claim_limits import plain_claims
from conformance.backends.companies import answered_together
from conformance.backends.discovery import BackendError, DeclarationError, find
from conformance.backends.discovery import load as load_backend
from conformance.backends.exceptions import rank_error
from conformance.backends.hidden_rooms import hide
from conformance.backends.released_memory import ReleasedMemory
from conformance.cases.case import Case
from conformance.cases.case_error import CaseError
from conformance.cases.codec import load
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.codec import load_graph
from conformance.cases.graph.graph import Graph
from conformance.cases.observation import Observation
from conformance.cases.observation_file import save_observation
from conformance.cases.program.operations import declare
from conformance.cases.program.validate import MOST_RANKS
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.codec import load_sharded
from conformance.cases.tensor.stored import sibling_of
from conformance.cases.types.typed_case import TypedCase, arrays

CHUNK: Final = 1 << 16
"""Bytes asked of the pipe at once: its usual capacity on Linux."""

MOST: Final = 1000
"""Cases that one call of ``execute_many`` may be given: all are kept until it ends."""


YOUNG: Final = 20_000
"""New objects after which garbage is looked for: at Python's 700 it took 21 % of the native worker's time."""

AHEAD: Final = 16
"""Requests that a backend is shown at once, before those that come before them are answered."""

_Values = protocol.RunTogether | protocol.RunGraph | protocol.RunSharded
_Other = _Values | protocol.Plan | protocol.Remaining | protocol.Type
_OTHERS: Final = get_args(_Other)


class RequestError(ValueError):
    """A request breaks the protocol; whoever sends it is no runner of this version."""


def main(name: str) -> int:
    """Serve the backend ``name`` on the descriptors of the environment until ``Stop`` or end of file."""
    source, sink = int(os.environ.pop(protocol.READ)), int(os.environ.pop(protocol.WRITE))
    folder = Path(os.environ.pop(protocol.FILES))
    for descriptor in (source, sink):
        os.set_inheritable(descriptor, False)
    os.dup2(2, 1)
    # Ends up in the runner's stderr tail: a native crash then names the Python frames above it.
    faulthandler.enable()
    try:
        spec = find(name)
        hide(spec.target)
        backend = load_backend(spec)
    except DeclarationError as error:
        with contextlib.suppress(BrokenPipeError):
            _send(sink, msgspec.json.encode(protocol.Unfit(problem=str(error))))
        return 1
    except BackendError as error:
        print(*str(error).split(), file=sys.stderr)  # one line, for the last one is what is told
        return 1
    gc.freeze()
    gc.set_threshold(YOUNG)
    # A broken pipe means that the runner is gone, and with it whoever wanted the answers.
    status = 0
    try:
        serve(backend, source, sink, folder)
    except BrokenPipeError:
        pass
    except (RequestError, CaseError) as error:
        print(*str(error).split(), file=sys.stderr)
        status = 1
    backend.close()
    # Nobody reads there any more; a runner that was killed could not tidy up.
    shutil.rmtree(folder, ignore_errors=True)
    return status


def serve(backend: Backend, source: int, sink: int, folder: Path) -> None:
    """Answer requests read from ``source`` on ``sink`` until ``Stop`` or end of file.

    Cases that arrive while others run join them. Large cases and observations are files in ``folder``. Raise
    ``RequestError`` or ``CaseError`` for what is no request, or names no case.
    """
    requests, freed = Requests(source), ReleasedMemory()
    while (size := _serve_arrived(backend, requests, sink, folder)) is not None:
        freed.add(size)


def _serve_arrived(backend: Backend, requests: Requests, sink: int, folder: Path) -> int | None:
    """Answer what has arrived; return how many bytes of blocks that had, or ``None`` once nothing more comes."""
    arrived = requests.take(wait=True)
    for hello in (request for request in arrived if isinstance(request, protocol.Hello)):
        declare(hello.operations)
        _send(sink, msgspec.json.encode(_introduction(backend)))
    runs = _runs(arrived)
    cases = [_asked(run, folder) for run in runs]
    for number, observation in enumerate(observations(backend, cases)):
        _send(
            sink,
            _answered(runs[number].seq, observation, folder, cases[number][0].program.world, adapts=backend.adapts),
        )
        if len(runs) < MOST:
            arrived = [*arrived, *(new := requests.take(wait=False))]
            runs += _runs(new)
            cases += [_asked(run, folder) for run in _runs(new)]
    others = [request for request in arrived if isinstance(request, _OTHERS)]
    chunks = [others[at : at + AHEAD] for at in range(0, len(others), AHEAD)]
    for number, chunk in enumerate(chunks):
        for coming in chunks[number + 1 if number else 0 : number + 2]:
            _anticipate(backend, coming, folder)
        for request in chunk:
            _send(sink, _reply(backend, request, folder))
    if not arrived or any(isinstance(request, protocol.Stop) for request in arrived):
        return None
    return sum(one.size for case in cases for one in case)


def _anticipate(backend: Backend, requests: list[_Other], folder: Path) -> None:
    """Show a backend several requests that come next. Large cases, which are files, stand for themselves."""
    shown = [
        request
        for request in requests
        if isinstance(request, protocol.Type | protocol.RunGraph | protocol.RunSharded) and request.case is not None
    ]
    if len(shown) > 1:
        with contextlib.suppress(Exception):
            backend.anticipate([partial(_reply, backend, request, folder) for request in shown])


def _reply(backend: Backend, request: _Other, folder: Path) -> bytes:
    """Return the answer to a request for anything but the run of a program."""
    if isinstance(request, protocol.RunTogether):
        return msgspec.json.encode(answered_together(backend, request))
    if isinstance(request, protocol.RunGraph):
        return _graph_reply(backend, request, folder)
    if isinstance(request, protocol.RunSharded):
        return _sharded_reply(backend, request, folder)
    if isinstance(request, protocol.Type):
        _check_world(request.seq, request.case.program.world)
        made = typed(backend, request.case)
    else:
        asked = request.case if request.case is not None else request.graph
        planned = request.planned if isinstance(request, protocol.Plan) else True
        after = isinstance(request, protocol.Remaining)
        made = Observation() if asked is None else scheduled(backend, asked, planned=planned, after=after)
    return msgspec.json.encode(protocol.Done(seq=request.seq, observation=made, spent=spent_seconds.taken()))


def _introduction(backend: Backend) -> protocol.Ready | protocol.Unfit:
    try:
        return introduce(backend, sys.modules)
    except DeclarationError as error:
        return protocol.Unfit(problem=str(error))


def introduce(backend: Backend, loaded: Collection[str] = ()) -> protocol.Ready:
    """Return the name, description, claims, guarantees and number model of ``backend`` as the protocol sends them.

    ``loaded`` are the modules of a process that has none of the suite's reference unless the backend imports it.
    Raise ``DeclarationError`` where one of them is wrong.
    """
    declared = backend.claims
    try:
        claims = plain_claims(declared)
    except TypeError as error:
        raise DeclarationError(str(error)) from error
    name = backend.name or type(backend).__name__
    description = backend.describe() | own_reference.told(backend, claims, loaded)
    if any("faults" in limits for limits in claims.values()):
        description |= {"patience": f"{backend.patience:g} s"}
    try:
        return protocol.Ready(
            protocol=protocol.VERSION,
            name=name,
            description=description,
            claims=claims,
            guarantees=tuple(backend.guarantees),
            follows=tuple(backend.follows),
            number_model=_plain(backend.number_model),
            patience=backend.patience,
            case_limit=backend.case_limit,
            examples=backend.examples,
            adapts=backend.adapts,
            together=dict(backend.together),  # type: ignore[arg-type]  # other words are refused where it is read
        )
    except ValueError as error:
        raise DeclarationError(str(error)) from error


def _plain(declared: Any) -> Any:
    """Return a number model as JSON has it; what is none is for ``Ready`` to refuse."""
    if not isinstance(declared, Mapping):
        return declared
    return {name: dict(value) if isinstance(value, Mapping) else value for name, value in declared.items()}


def scheduled(backend: Backend, asked: Case | Graph, *, planned: bool = True, after: bool = False) -> Observation:
    """Return the observation that has the schedule of a program or a graph, or the error that was raised instead.

    With ``after`` it is the schedule of what remains to be done when that one has run.
    """
    start = time.perf_counter()
    try:
        made = backend.remaining(asked) if after else backend.schedule(asked, planned=planned)
        # The judge attaches the graph, and needs none of a backend's.
        made = msgspec.structs.replace(made, graph=None)
    except Exception as error:  # noqa: BLE001 - whatever an implementation raises is its observation
        return Observation(errors=(rank_error(error, adapts=backend.adapts),), seconds=time.perf_counter() - start)
    return Observation(schedule=made, seconds=time.perf_counter() - start)


def typed(backend: Backend, case: TypedCase) -> Observation:
    """Return the observation of a typed program, or the error that was raised instead, on every rank."""
    start = time.perf_counter()
    try:
        if case.lowered or case.compiled:
            made = tuple((backend.lowered if case.lowered else backend.compiled)(case.program))
            return Observation(lowered=made, seconds=time.perf_counter() - start)
        if case.tangents:
            found = backend.pushforward(case.program, arrays(case.inputs), arrays(case.tangents))
            return Observation(results=tensors(found), seconds=time.perf_counter() - start)
        if case.cotangents:
            found = backend.pullback(case.program, arrays(case.inputs), arrays(case.cotangents))
            return Observation(results=tensors(found), seconds=time.perf_counter() - start)
        if case.batch:
            found = backend.batched(case.program, case.batch, arrays(case.inputs))
            return Observation(results=tensors(found), seconds=time.perf_counter() - start)
        types, values = backend.typed(case.program, arrays(case.inputs))
    except Exception as error:  # noqa: BLE001 - whatever an implementation raises is its observation
        raised = rank_error(error, adapts=backend.adapts)
        return Observation(errors=(raised,) * case.program.world, seconds=time.perf_counter() - start)
    return Observation(results=tensors(values), types=types, seconds=time.perf_counter() - start)


def _observed(method: str, made: object) -> Observation:
    """Return what a method made; raise ``RuntimeError``, which refuses nothing, where it is no observation."""
    if not isinstance(made, Observation):
        seen = f"{method} returned {repr(made)[:80]}, a {type(made).__name__}"
        raise RuntimeError(f"{seen}; an Observation is right")  # noqa: TRY004 - a TypeError would refuse the case
    return made


def graph_observation(backend: Backend, case: GraphCase) -> Observation:
    """Return what happened to a graph case, whatever ``graph`` raises."""
    try:
        return _observed("graph", backend.graph(case))
    except Exception as error:  # noqa: BLE001 - an escaped exception is what this case did
        return Observation(errors=(rank_error(error, adapts=backend.adapts),))


def sharded_observation(backend: Backend, case: ShardedCase) -> Observation:
    """Return what happened to a program on sharded tensors, whatever ``sharded`` raises."""
    try:
        return _observed("sharded", backend.sharded(case))
    except Exception as error:  # noqa: BLE001 - an escaped exception is what this case did
        return Observation(errors=(rank_error(error, adapts=backend.adapts),) * case.world)


def _graph_reply(backend: Backend, request: protocol.RunGraph, folder: Path) -> bytes:
    if request.case is None and request.file is None:
        raise RequestError(f"request {request.seq} has neither a case nor a file")
    case = load_graph(sibling_of(folder, request.file)) if request.file is not None else request.case
    assert case is not None
    return _answered(request.seq, graph_observation(backend, case), folder, 1, adapts=backend.adapts)


def _sharded_reply(backend: Backend, request: protocol.RunSharded, folder: Path) -> bytes:
    if request.case is None and request.file is None:
        raise RequestError(f"request {request.seq} has neither a case nor a file")
    case = load_sharded(sibling_of(folder, request.file)) if request.file is not None else request.case
    assert case is not None
    _check_world(request.seq, case.world)
    return _answered(request.seq, sharded_observation(backend, case), folder, case.world, adapts=backend.adapts)


def _answered(seq: int, observation: Observation, folder: Path, world: int, *, adapts: bool) -> bytes:
    try:
        return _done(seq, observation, folder)
    except (AttributeError, TypeError, ValueError, OSError) as error:
        failed = Observation(errors=(rank_error(error, adapts=adapts),) * world)
        return msgspec.json.encode(protocol.Done(seq=seq, observation=failed))


def observations(backend: Backend, cases: list[tuple[Case, ...]]) -> Iterator[Observation]:
    """Yield exactly one observation a case, with that of the ranks' health where their program comes with the case.

    ``cases`` are what ``conformance.cases.program.health.followed`` returns for each, and may grow meanwhile.
    """
    asked: list[Case] = []
    made = _made(backend, asked)
    taken = done = 0
    while done < len(cases):
        for case in cases[taken:]:
            asked += case
        taken = len(cases)
        seen = next(made)
        if len(cases[done]) > 1:
            seen = msgspec.structs.replace(seen, health=next(made))
        yield seen
        done += 1


def _made(backend: Backend, cases: list[Case]) -> Iterator[Observation]:
    """Yield one observation a case, whatever ``execute_many`` raises or leaves out.

    ``cases`` may grow meanwhile; what ``execute_many`` does not take up is handed to it again.
    """
    done = 0
    while done < len(cases):
        asked = len(cases)
        escaped: Exception = RuntimeError("execute_many stopped before this case")
        try:
            for observation in backend.execute_many(cases[done:] if done else cases):
                yield _observed("execute", observation)
                done += 1
                if done == len(cases):
                    return
        except Exception as error:  # noqa: BLE001 - an escaped exception is what this case did
            escaped = error
        else:
            if done >= asked:
                continue
        yield Observation(errors=(rank_error(escaped, adapts=backend.adapts),) * cases[done].program.world)
        done += 1


def _runs(requests: list[protocol.Request]) -> list[protocol.Run]:
    return [request for request in requests if isinstance(request, protocol.Run)]


def _asked(run: protocol.Run, folder: Path) -> tuple[Case, ...]:
    if run.case is None and run.file is None:
        raise RequestError(f"request {run.seq} has neither a case nor a file")
    case = run.case if run.file is None else load(sibling_of(folder, run.file))
    asked = tuple(one for one in (case, run.health) if one is not None)
    for one in asked:
        _check_world(run.seq, one.program.world)
    return asked


def _check_world(seq: int, world: int) -> None:
    """Raise ``RequestError`` for more ranks than any case has: there is an error for each of them."""
    if not 0 < world <= MOST_RANKS:
        raise RequestError(f"request {seq} is for no ranks or too many; a case has 1 to {MOST_RANKS}")


def _done(seq: int, observation: Observation, folder: Path) -> bytes:
    blocks = (block for ranks in observation.results.values() for block in ranks)
    if protocol.tensor_bytes(blocks) <= protocol.INLINE:
        return msgspec.json.encode(protocol.Done(seq=seq, observation=observation, spent=spent_seconds.taken()))
    path = folder / f"reply-{seq}.json"
    save_observation(observation, path)
    return msgspec.json.encode(protocol.Done(seq=seq, file=path.name, spent=spent_seconds.taken()))


def _send(sink: int, line: bytes) -> None:
    rest = memoryview(line + b"\n")
    while rest:
        rest = rest[os.write(sink, rest) :]


class Requests:
    """The requests that arrive on the descriptor ``source``."""

    def __init__(self, source: int) -> None:
        """Read nothing yet."""
        self._source = source
        self._partial = b""
        self._decode = msgspec.json.Decoder(protocol.Request).decode

    def take(self, *, wait: bool) -> list[protocol.Request]:
        """Return the requests that have arrived; when told to ``wait``, at least one but at the end of the file.

        Raise ``RequestError`` for what is none.
        """
        parts = [self._partial]
        if wait:
            with spent_seconds.waiting():
                select.select([self._source], [], [])
        while (wait and b"\n" not in parts[-1]) or select.select([self._source], [], [], 0)[0]:
            chunk = os.read(self._source, CHUNK)
            if not chunk:
                break
            parts.append(chunk)
        *lines, self._partial = b"".join(parts).split(b"\n")
        try:
            return [self._decode(line) for line in lines]
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise RequestError(f"a request breaks the protocol: {' '.join(str(error).split())}") from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
