"""Mistakes in send and recv."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from conformance.backends.case_arrays import Placed
from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.qualification.mutants.every_program import Results
from conformance.reference.operations.recv import recv
from conformance.reference.operations.send import Token, send


class SendWantsATaker(Reference):
    """The program ends with a check that nothing is under way, and a token that nobody takes fails it."""

    breaks = "send.C1"
    outcome = "errored"
    ops = ("send",)

    def _walk(self, case: Case, placed: Placed) -> Results:
        results = super()._walk(case, placed)
        if case.program.collectives[-1].op == "send":
            raise RuntimeError("unmatched send")
        return results


class SendTakesWorldRanks(Reference):
    """pytorch#187924: peers in a group are handed over as ranks of the world, and only the first members take part."""

    breaks = "recv.C1"
    corpus = ("pytorch#187924",)
    ops = ("recv",)

    def send(self, blocks: list[Array], *, pairs: Groups, groups: Groups) -> list[Token]:
        send(blocks, pairs=pairs, groups=groups)
        tokens = send(blocks, pairs=pairs, groups=(tuple(range(len(blocks))),))
        return [replace(token, groups=groups) for token in tokens]


class RecvTakesTheNext(Reference):
    """Blocks under way are told apart by their order alone, and each receiver takes that of the next."""

    breaks = "recv.C1"

    def recv(
        self, tokens: list[Token], *, pairs: Groups, shape: tuple[int, ...], dtype: str, groups: Groups
    ) -> list[Array]:
        out = recv(tokens, pairs=pairs, shape=shape, dtype=dtype, groups=groups)
        for group in groups:
            fed = [rank for rank in group if tokens[rank].block is not None]
            for rank, block in zip(fed, [out[rank] for rank in (*fed[1:], *fed[:1])], strict=True):
                out[rank] = block
        return out


class RecvLeavesTheBufferAsItIs(Reference):
    """The buffer to receive into is allocated and not cleared, and where nothing arrives it is the result."""

    breaks = "recv.C2"

    def recv(
        self, tokens: list[Token], *, pairs: Groups, shape: tuple[int, ...], dtype: str, groups: Groups
    ) -> list[Array]:
        out = recv(tokens, pairs=pairs, shape=shape, dtype=dtype, groups=groups)
        return [
            np.ones(shape, NUMPY[dtype]) if token.block is None else block
            for token, block in zip(tokens, out, strict=True)
        ]


class RecvTakesWhatComes(Reference):
    """A message carries its own shape and dtype, and nobody compares them with what was expected."""

    breaks = "recv.C3"

    def recv(
        self, tokens: list[Token], *, pairs: Groups, shape: tuple[int, ...], dtype: str, groups: Groups
    ) -> list[Array]:
        sent = tokens[0].sent
        dtype = next(name for name, known in NUMPY.items() if str(known) == sent[0])
        return recv(tokens, pairs=pairs, shape=sent[1], dtype=dtype, groups=groups)


class RecvTakesFromAnyone(Reference):
    """Whom to receive from is not looked at: what was sent here is received, what was not is not missed."""

    breaks = "recv.C4"

    def recv(
        self, tokens: list[Token], *, pairs: Groups, shape: tuple[int, ...], dtype: str, groups: Groups
    ) -> list[Array]:
        expected = [replace(token, pairs=pairs, groups=groups) for token in tokens]
        return recv(expected, pairs=pairs, shape=shape, dtype=dtype, groups=groups)
