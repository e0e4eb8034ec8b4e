"""The neutral schedule: items, accesses, buffers and kernel bodies as data."""
