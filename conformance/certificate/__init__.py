"""Certificates: a run that anybody can check again, as a folder with a signed statement and every record.

Cases are drawn, asked and judged as in any run, by ``generate``, ``runner`` and ``judging``; here is what is kept of
that, signed, and recomputed.
"""
