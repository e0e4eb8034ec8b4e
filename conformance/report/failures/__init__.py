"""What failed, for readers: findings, buckets, and the smallest case of each.

Here: examples of each dialect, titles, shared causes and findings.
Not here: counts (``report.counts``).
"""
