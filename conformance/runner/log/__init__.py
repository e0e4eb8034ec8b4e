"""The run log: written, read, and gone on from."""
