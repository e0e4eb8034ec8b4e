"""What programs with effects are drawn from: storage that is made, written, read, started on and freed.

Here: chains, passing, writes, exchanges of ragged tables, mixtures, and steps that compute.
Not here: the domains of suites (``generate.suites``).
"""
