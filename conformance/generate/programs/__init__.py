"""Programs of several steps: chains with storage and starts, ragged exchanges, and ranks that go their own ways.

Here: what grows step by step, for any operation.
Not here: what one call is (``generate.calls``), and which suite draws what (``generate.suites``).
"""
