"""Platforms, contexts, queues, events, buffers and the program cache."""
