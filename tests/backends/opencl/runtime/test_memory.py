"""Where a platform's sub-buffers are not used, none is made, and results are the same."""

from __future__ import annotations

import pyopencl as cl
import pytest

from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.runtime import platform
from conformance.generate.domains import SHARDED
from conformance.runner.draws import numbered
from tests.backends.opencl.conftest import OpenBackend


def test_a_platform_without_sub_buffers_gives_the_same_results(
    opencl: OpenBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [numbered(SHARDED, 5, number)[0] for number in range(12)]
    usual, made = opencl(), []
    real = cl.Buffer.get_sub_region
    monkeypatch.setattr(cl.Buffer, "get_sub_region", lambda *given: made.append(given) or real(*given))
    expected = [usual.sharded(case).results for case in cases]
    assert made
    made.clear()
    name = usual.session.platform.context.devices[0].platform.name
    monkeypatch.setattr(platform, "NVIDIA", name)
    whole = OpenCL()
    assert [whole.sharded(case).results for case in cases] == expected
    assert not made
    whole.close()
