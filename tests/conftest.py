"""What all tests share."""

from __future__ import annotations

import os
import sys

# The tests start some hundred processes. Without compiled modules on disk each compiles all that it imports, which took
# some 300 of 1,975 s of the processor.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False  # nor is what pytest makes of 1,900 modules kept from one run to the next

# Backends of tests are made from the reference, which a worker hides from every other.
os.environ["CONFORMANCE_REFERENCE"] = "shown"
