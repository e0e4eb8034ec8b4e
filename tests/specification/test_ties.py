"""What the topic of gradients of maxima says of frameworks."""

from __future__ import annotations

import pytest


def test_jax_shares_the_gradient_among_equal_maxima() -> None:
    jax = pytest.importorskip("jax")
    values = jax.numpy.array([1.0, 3.0, 3.0])
    assert jax.grad(jax.numpy.max)(values).tolist() == [0.0, 0.5, 0.5]
    assert [each.item() for each in jax.grad(jax.numpy.maximum, (0, 1))(3.0, 3.0)] == [0.5, 0.5]


def test_torch_shares_it_but_for_max_along_an_axis() -> None:
    torch = pytest.importorskip("torch")
    kinds = (lambda x: x.max(), lambda x: x.amax(0), lambda x: x.max(0).values)
    found = []
    for kind in kinds:
        values = torch.tensor([1.0, 3.0, 3.0], requires_grad=True)
        kind(values).backward()
        found.append(values.grad.tolist())
    assert found == [[0.0, 0.5, 0.5], [0.0, 0.5, 0.5], [0.0, 1.0, 0.0]]
