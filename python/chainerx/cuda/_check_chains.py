"""The part of the check that fuses chains: the bits of one kernel after the other."""

from __future__ import annotations

import functools
import typing as tp

import numpy as np

import chainerx
from chainerx.cuda._chains import CHAINS, Ours, adam

if tp.TYPE_CHECKING:
    from chainerx.cuda._check_values import Checks

_SHAPES: tp.Final = [(37, 90), (5, 3000), (301, 64)]
_CALLS: tp.Final = 5


def check_chains(checks: Checks) -> None:
    for name in CHAINS:
        for dtype in ('float32', 'float16', 'float64'):
            compare = functools.partial(_compare, checks, name, dtype)
            checks.expect(f'fused {name}, {dtype}', compare)


def _compare(checks: Checks, name: str, dtype: str) -> str:
    """Returns what differs between a chain that is fused, and one that is not."""
    function, least = CHAINS[name]
    random = np.random.default_rng(0)
    for rows, columns in _SHAPES:
        values = random.normal(size=(_CALLS, rows, columns))
        found = []
        fused = 0
        for fuse in (True, False):
            if function is adam:
                rest = [chainerx.array(abs(values[0]), device=checks.device) for _ in range(3)]
            else:
                rest = [chainerx.array(values[0, 0], device=checks.device) for _ in range(2)]
            rest = [x.astype(dtype) for x in rest]

            def run(x: tp.Any, rest: tp.Any = rest) -> tp.Any:
                x = x.copy().require_grad() if function is not adam else x
                y = function(Ours, x, *rest)
                if function is adam:
                    return y
                (y * y).sum().backward()
                return y, x.grad

            step = chainerx.capture(run, fuse=fuse)
            for value in values:
                x = chainerx.array(value, device=checks.device).astype(dtype)
                results = step(x)
                results = results if isinstance(results, tuple) else (results,)
                found.append([chainerx.to_numpy(y, copy=True).tobytes() for y in results])
            fused += step.info()[0].fused
        if found[:_CALLS] != found[_CALLS:]:
            return f'({rows}, {columns}): fused, it has other bits'
        if fused < least:
            return f'({rows}, {columns}): only {fused} calls were fused, not {least}'
    return ''
