"""The process a backend runs in: ``python -m conformance.backends.worker NAME`` answers the worker protocol."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import os
import select
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import Final, get_args

import msgspec

from conformance.backends import protocol, spent_seconds
from conformance.backends.base import Backend
from conformance.backends.companies import answered_together
from conformance.backends.discovery import BackendError, DeclarationError, find
from conformance.backends.discovery import load as load_backend
from conformance.backends.exceptions import rank_error
from conformance.backends.hidden_rooms import hide
from conformance.backends.introduction import introduce
from conformance.backends.observing import graph_observation, observations, sharded_observation, typed
from conformance.backends.released_memory import ReleasedMemory
from conformance.backends.scheduled import scheduled
from conformance.cases.case import Case
from conformance.cases.case_error import CaseError
from conformance.cases.codec import load
from conformance.cases.graph.codec import load_graph
from conformance.cases.observation import Observation
from conformance.cases.observation_file import save_observation
from conformance.cases.program.operations import declare
from conformance.cases.program.validate import MOST_RANKS
from conformance.cases.sharded.codec import load_sharded
from conformance.cases.tensor.stored import sibling_of

CHUNK: Final = 1 << 16
"""Bytes asked of the pipe at once: its usual capacity on Linux."""

MOST_TOGETHER: Final = 1000
"""Cases that one call of ``execute_many`` may be given: all are kept until it ends."""


YOUNG: Final = 20_000
"""New objects after which garbage is looked for: at Python's 700 it took 21 % of the native worker's time."""

AHEAD: Final = 16
"""Requests that a backend is shown at once, before those that come before them are answered."""

_Values = protocol.RunTogether | protocol.RunGraph | protocol.RunSharded
_Planned = protocol.Plan | protocol.Replan | protocol.Remaining
_Other = _Values | _Planned | protocol.Type
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
        if len(runs) < MOST_TOGETHER:
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
        made = _planned(backend, request)
    return msgspec.json.encode(protocol.Done(seq=request.seq, observation=made, spent=spent_seconds.taken()))


def _planned(backend: Backend, request: _Planned) -> Observation:
    """Return the schedule that is asked for."""
    asked = request.case if request.case is not None else request.graph
    if asked is None:
        return Observation()
    if isinstance(request, protocol.Remaining):
        return scheduled(backend, asked, after=True)
    if isinstance(request, protocol.Plan):
        return scheduled(backend, asked, planned=request.planned)
    return scheduled(backend, asked, iteration=request.iteration, switched=request.switched, costs=request.costs)


def _introduction(backend: Backend) -> protocol.Ready | protocol.Unfit:
    try:
        return introduce(backend, sys.modules)
    except DeclarationError as error:
        return protocol.Unfit(problem=str(error))


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
