"""The abstract graph: what was asked of a scheduler, node by node."""
