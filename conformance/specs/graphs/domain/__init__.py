"""What graph cases are drawn from."""
