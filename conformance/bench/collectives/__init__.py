"""How fast collectives are: every implementation in processes of its own, timed in turn, next to a memory copy.

Here: the driver, its rounds, and a peer for each library.
Not here: graphs (``bench.graphs``), and the suite's own pace (``bench.suite``).
"""
