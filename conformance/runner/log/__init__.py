"""The run log: written, read, and gone on from.

Here: the header, the writer, the reader, the schema, and digests of sources.
Not here: the records themselves (``runner.records``).
"""
