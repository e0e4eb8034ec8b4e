"""What people read is what was said."""

from __future__ import annotations

import pytest

from conformance.cli.progress import printer


def test_a_module_and_class_is_no_picture(capsys: pytest.CaptureFixture[str]) -> None:
    printer().print("module:B: broken")
    assert capsys.readouterr().out == "module:B: broken\n"
