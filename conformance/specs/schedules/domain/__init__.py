"""What the graphs of the suite of schedules are drawn from."""
