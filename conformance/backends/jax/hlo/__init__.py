"""What XLA makes of a jitted graph, read from its own messages: instructions, their order, and where buffers lie."""
