"""What cases are drawn from."""
