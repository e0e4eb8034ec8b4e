"""How fast programs on sharded tensors are, next to frameworks that have such, on the same devices and cores."""
