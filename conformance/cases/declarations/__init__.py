"""What a backend declares of itself beside its claims: its number model and its guarantees."""
