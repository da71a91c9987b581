"""The part of the check that has layers: recurrent ones, attention, and losses of sequences."""

from __future__ import annotations

import typing as tp

import numpy as np

import chainerx
from chainerx import _core

if tp.TYPE_CHECKING:
    from chainerx.cuda._check_values import Checks


def outputs_and_gradients(function: tp.Callable[..., tp.Any]) -> tp.Callable[..., tp.Any]:
    """Joins the outputs of a function and the gradients of all arguments."""

    def compute(*arrays: tp.Any) -> tp.Any:
        for x in arrays:
            x.require_grad()
        outputs = function(*arrays)
        joined = chainerx.concatenate([y.ravel().astype(arrays[0].dtype) for y in outputs])
        weights = chainerx.cos(chainerx.arange(joined.size, device=joined.device))
        chainerx.sum(joined * weights.astype(joined.dtype)).backward()
        return chainerx.concatenate([joined, *(x.grad.ravel() for x in arrays)])

    return compute


def check_cells(checks: Checks) -> None:
    random = np.random.default_rng(4)
    for dtype in ('float16', 'float32', 'float64'):

        def draw(*shape: int, dtype: str = dtype) -> np.ndarray:
            return random.normal(size=shape).astype(dtype)

        for name, arrays in (
            ('lstm', (draw(7, 33), draw(5, 132))),
            ('lstm', (draw(2, 3, 40), draw(2, 12, 40))),
            ('slstm', (draw(5, 33), draw(5, 33), draw(5, 132), draw(5, 132))),
            ('tree_lstm', (*(draw(6, 10) for _ in range(3)), draw(6, 60))),
            ('tree_lstm', (*(draw(2, 5) for _ in range(20)), draw(2, 115))),
        ):
            compute = outputs_and_gradients(getattr(chainerx, name))
            checks.compare(f'{name} {dtype} {arrays[0].shape}', compute, *arrays)


def check_recurrent(checks: Checks) -> None:
    random = np.random.default_rng(5)
    rows = (5, 5, 3, 2, 2, 1)  # of each step
    units, features = 35, 20
    for dtype, tolerance in (('float32', 2e-6), ('float64', 1e-14)):
        for name, gates in (('lstm', 4), ('gru', 3), ('rnn', 1)):
            for directions in (1, 2):
                shapes: list[tuple[int, ...]] = [(directions, rows[0], units)]
                shapes += shapes if name == 'lstm' else []
                for _ in range(directions):
                    shapes += [(units, features)] * gates + [(units, units)] * gates
                    shapes += [(units,)] * gates * 2
                shapes += [(n, features) for n in rows]
                arrays = [(random.normal(size=s) / 4).astype(dtype) for s in shapes]

                def run(
                    *arrays: tp.Any, name: str = name, gates: int = gates, n: int = directions
                ) -> list[tp.Any]:
                    states = 2 if name == 'lstm' else 1
                    rest = list(arrays[states:])
                    ws, bs = [], []
                    for _ in range(n):
                        ws.append(rest[: 2 * gates])
                        bs.append(rest[2 * gates : 4 * gates])
                        rest = rest[4 * gates :]
                    prefix = 'n_step_bi' if n == 2 else 'n_step_'
                    layer = getattr(chainerx, prefix + name)
                    *hs, ys = layer(1, *arrays[:states], ws, bs, rest)
                    return [*hs, *ys]

                checks.close(
                    f'{directions} {name} {dtype}', outputs_and_gradients(run), tolerance, *arrays
                )


def check_ctc(checks: Checks) -> None:
    random = np.random.default_rng(6)
    steps, rows, classes, labels = 60, 3, 40, 13
    t = random.integers(1, classes, (rows, labels))
    t[:, 3] = t[:, 4]
    input_length = np.array([steps, 50, 30])
    label_length = np.array([labels, 5, 0])
    loss = _core._connectionist_temporal_classification
    for dtype, tolerance in (('float32', 1e-5), ('float64', 1e-13)):
        x = (random.normal(size=(steps, rows, classes)) * 3).astype(dtype)

        def run(x: tp.Any) -> list[tp.Any]:
            lengths = [chainerx.array(a, device=x.device) for a in (input_length, label_length)]
            return [loss(x, chainerx.array(t, device=x.device), lengths[0], lengths[1], 0)]

        checks.close(f'ctc {dtype}', outputs_and_gradients(run), tolerance, x)


def check_attention(checks: Checks) -> None:
    random = np.random.default_rng(7)
    attention = chainerx.scaled_dot_product_attention
    for dtype, tolerance in (('float16', 4e-3), ('float32', 3e-6), ('float64', 2e-14)):
        for heads, queries, keys, width, options in (
            (2, 65, 130, 64, {}),
            (2, 100, 100, 33, {'is_causal': True}),
            (4, 70, 90, 130, {'dropout_p': 0.3, 'dropout_key': 12345, 'enable_gqa': True}),
        ):
            arrays = [
                random.normal(size=shape).astype(dtype)
                for shape in (
                    (2, heads, queries, width),
                    (2, 2, keys, width),
                    (2, 2, keys, width + 7),
                    (heads, queries, keys),
                )
            ]
            n = 3 if options.get('is_causal') else 4

            def run(*arrays: tp.Any, options: tp.Any = options) -> list[tp.Any]:
                return [attention(*arrays, **options)]

            checks.close(
                f'attention {dtype} {arrays[0].shape} {options}',
                outputs_and_gradients(run),
                tolerance,
                *arrays[:n],
            )
    x = random.normal(size=(3, 5, 70)).astype('float32')
    checks.compare(
        'rotary embedding', outputs_and_gradients(lambda a: [chainerx.rotary_embedding(a)]), x
    )


def check_layers(checks: Checks) -> None:
    check_cells(checks)
    check_recurrent(checks)
    check_ctc(checks)
    check_attention(checks)
