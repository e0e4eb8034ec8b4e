"""The commands: each is the module of its name."""
