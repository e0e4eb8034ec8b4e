"""What a backend declares of itself beside its claims: its number model and its guarantees.

What claims allow of a case is asked in ``backends.claim_limits``.
"""
