"""Many runs: what each case came to over time, what differs between two runs, and why."""
