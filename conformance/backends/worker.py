"""The process a backend runs in: ``python -m conformance.backends.worker NAME`` answers the worker protocol."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import select
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from conformance.backends import protocol
from conformance.backends.base import Backend, rank_error
from conformance.backends.discovery import BackendError, find
from conformance.backends.discovery import load as load_backend
from conformance.cases.case import Case
from conformance.cases.codec import load
from conformance.cases.observation import Observation
from conformance.cases.observation_file import save_observation
from conformance.cases.stored import sibling_of

CHUNK: Final = 1 << 16
"""Bytes asked of the pipe at once: its usual capacity on Linux."""


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
        backend = load_backend(find(name))
    except BackendError as error:
        print(error, file=sys.stderr)
        return 1
    # A broken pipe means that the runner is gone, and with it whoever wanted the answers.
    with contextlib.suppress(BrokenPipeError):
        serve(backend, source, sink, folder)
    backend.close()
    # Nobody reads there any more; a runner that was killed could not tidy up.
    shutil.rmtree(folder, ignore_errors=True)
    return 0


def serve(backend: Backend, source: int, sink: int, folder: Path) -> None:
    """Answer requests read from ``source`` on ``sink``, batch by batch, until ``Stop`` or end of file.

    Large cases and observations are files in ``folder``.
    """
    decode = msgspec.json.Decoder(protocol.Request).decode
    for lines in _batches(source):
        requests = [decode(line) for line in lines]
        runs = [request for request in requests if isinstance(request, protocol.Run)]
        if any(isinstance(request, protocol.Hello) for request in requests):
            _send(sink, msgspec.json.encode(introduce(backend)))
        _answer(backend, runs, sink, folder)
        if any(isinstance(request, protocol.Stop) for request in requests):
            return


def introduce(backend: Backend) -> protocol.Ready:
    """Return the name, description, claims and guarantees of ``backend`` as the protocol sends them."""
    claims = {op: {key: list(words) for key, words in limits.items()} for op, limits in backend.claims.items()}
    name = backend.name or type(backend).__name__
    return protocol.Ready(
        protocol=protocol.VERSION,
        name=name,
        description=backend.describe(),
        claims=claims,
        guarantees=tuple(backend.guarantees),
    )


def _answer(backend: Backend, runs: list[protocol.Run], sink: int, folder: Path) -> None:
    cases = [_case(run, folder) for run in runs]
    for run, case, observation in zip(runs, cases, observations(backend, cases), strict=True):
        try:
            line = _done(run.seq, observation, folder)
        except (TypeError, ValueError, OSError) as error:
            failed = Observation(errors=(rank_error(error),) * case.program.world)
            line = msgspec.json.encode(protocol.Done(seq=run.seq, observation=failed))
        _send(sink, line)


def observations(backend: Backend, cases: list[Case]) -> Iterator[Observation]:
    """Yield exactly one observation a case, whatever ``execute_many`` raises or leaves out."""
    done = 0
    while done < len(cases):
        escaped: Exception = RuntimeError("execute_many stopped before this case")
        try:
            for observation in backend.execute_many(cases[done:]):
                yield observation
                done += 1
                if done == len(cases):
                    return
        except Exception as error:  # noqa: BLE001 - an escaped exception is what this case did
            escaped = error
        yield Observation(errors=(rank_error(escaped),) * cases[done].program.world)
        done += 1


def _case(run: protocol.Run, folder: Path) -> Case:
    if run.case is not None:
        return run.case
    if run.file is None:
        raise ValueError(f"request {run.seq} has neither a case nor a file")
    return load(sibling_of(folder, run.file))


def _done(seq: int, observation: Observation, folder: Path) -> bytes:
    blocks = (block for ranks in observation.results.values() for block in ranks)
    if protocol.tensor_bytes(blocks) <= protocol.INLINE:
        return msgspec.json.encode(protocol.Done(seq=seq, observation=observation))
    path = folder / f"reply-{seq}.json"
    save_observation(observation, path)
    return msgspec.json.encode(protocol.Done(seq=seq, file=path.name))


def _send(sink: int, line: bytes) -> None:
    rest = memoryview(line + b"\n")
    while rest:
        rest = rest[os.write(sink, rest) :]


def _batches(source: int) -> Iterator[list[bytes]]:
    """Yield the complete lines that have arrived, waiting for at least one."""
    partial = b""
    while chunk := os.read(source, CHUNK):
        parts = [partial, chunk]
        while select.select([source], [], [], 0)[0] and (chunk := os.read(source, CHUNK)):
            parts.append(chunk)
        *lines, partial = b"".join(parts).split(b"\n")
        if lines:
            yield lines


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
