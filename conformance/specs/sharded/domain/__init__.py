"""What programs on sharded tensors are drawn from."""
