"""Figures of the check that are chains of operations, fused and not, beside ``torch.compile``."""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx.cuda._chains import CHAINS, Ours, adam
from chainerx.cuda._figures import Figure, Setting, Work, bind

_SHAPES: tp.Final = {'10^4': (40, 250), '10^7': (10_000, 1000)}

Shape = tuple[int, int]


def _arrays(s: Setting, draw: tp.Any, function: tp.Any, shape: Shape) -> list[tp.Any]:
    rows, columns = s.size(shape[0]), s.size(shape[1])
    if function is adam:
        return [draw(rows, columns), *(abs(draw(rows, columns)) for _ in range(3))]
    return [draw(rows, columns), draw(columns), draw(columns)]


def _chain(s: Setting, function: tp.Any, shape: Shape, *, fuse: bool) -> Work:
    first, *rest = _arrays(s, s.draw, function, shape)
    step = chainerx.capture(lambda x: function(Ours, x, *rest), fuse=fuse)
    for _ in range(4):
        step(first)
    return lambda: step(first)


def _torch_chain(s: Setting, function: tp.Any, shape: Shape, *, fuse: bool) -> Work:
    torch = s.torch

    class Theirs:
        sqrt, tanh, sigmoid = torch.sqrt, torch.tanh, torch.sigmoid

        @staticmethod
        def mean(x: tp.Any) -> tp.Any:
            return x.mean(dim=1, keepdim=True)

    arrays = _arrays(s, s.torch_draw, function, shape)
    step = torch.compile(lambda *xs: function(Theirs, *xs)) if fuse else None
    return lambda: step(*arrays) if step else function(Theirs, *arrays)


def _figure(name: str, size: str, fuse: bool) -> Figure:
    function, _ = CHAINS[name]
    theirs = 'torch.compile' if fuse else 'eager'
    return Figure(
        f'chain {name}, {size}, {"fused" if fuse else "not fused"} (PyTorch: {theirs})',
        None,
        1.0 if fuse else None,
        bind(_chain, function, _SHAPES[size], fuse=fuse),
        bind(_torch_chain, function, _SHAPES[size], fuse=fuse),
    )


FIGURES_OF_CHAINS: tp.Final = [
    _figure(name, size, fuse) for size in _SHAPES for name in CHAINS for fuse in (True, False)
]
