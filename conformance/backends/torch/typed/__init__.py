"""Typed programs under Torch: autograd through collectives.

Here: claims, values and gradients of what autograd differentiates.
Not here: programs without types (``backends.torch.functional``).
"""
