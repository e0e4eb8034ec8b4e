"""The neutral schedule: items, accesses, buffers and kernel bodies as data, and what builds them by hand.

How one is executed is in ``reference.schedule``; what must hold of it in ``specs.schedules``.
"""
