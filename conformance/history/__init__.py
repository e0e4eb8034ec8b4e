"""Many runs: what each case came to over time, what differs between two runs, and why.

A run's own log is written and read in ``runner.log``; pages about one run are made in ``report``.
"""
