"""Gradients by differences of outputs, in float64."""

from __future__ import annotations

import math
import typing as tp
from collections.abc import Callable, Sequence

import chainerx
import numpy as np

import chainer

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray


class NondifferentiableError(Exception):
    """Differences were taken where the function is not smooth.

    Args:
        *args: The message.
    """

    def __init__(self, *args: object) -> None:  # inspect knows none of Exception
        super().__init__(*args)


NondifferentiableError.__module__ = 'chainer.gradient_check'


def _to_numpy(x: NdArray) -> np.ndarray:
    """An array, Variable or scalar as a NumPy array; of chainerx arrays a view where it can be."""
    if isinstance(x, chainer.Variable):
        x = x.array
    if not isinstance(x, (np.ndarray, np.generic, int, float, complex, list, tuple)):
        x = chainer.backend.CpuDevice().send(x)
    x = np.asarray(x)
    # NumPy's comparisons don't know bfloat16; float32 holds all its values.
    return x.astype(np.float32) if x.dtype.name == 'bfloat16' else x


def _format_props(arrays) -> str:
    """Shapes and dtypes, for messages."""
    return ', '.join('None' if x is None else f'{x.shape}:{x.dtype}' for x in arrays)


def _is_float(x) -> bool:
    return x is not None and (x.dtype.kind == 'f' or x.dtype.name == 'bfloat16')


def _to_float64(x) -> np.ndarray:
    return np.asarray(_to_numpy(x), np.float64)


def _writable(x):
    """The array as one that may be written to: a view outside of the graph for chainerx."""
    return x.as_grad_stopped() if isinstance(x, chainerx.ndarray) else x


def _check_outputs(ys, grad_outputs) -> tuple:
    """The outputs, Python's numbers among them as arrays."""
    assert isinstance(ys, (tuple, list)), f'f must return a tuple of arrays, not {type(ys)}'
    ys = tuple(np.asarray(y) if isinstance(y, (int, float)) else y for y in ys)
    assert len(ys) == len(grad_outputs), (
        f'f returned {len(ys)} outputs, but there are {len(grad_outputs)} gradients of outputs'
    )
    for i, (y, gy) in enumerate(zip(ys, grad_outputs, strict=True)):
        if gy is None:
            continue
        assert y is not None, f'output {i} is None, but has a gradient'
        assert np.isscalar(gy) or y.shape == gy.shape, (
            f'output {i} has shape {y.shape}, its gradient {gy.shape}'
        )
    return ys


def _resolution(y) -> float:
    """The relative size of a rounding of an output."""
    if y is None or not _is_float(y):
        return 0.0
    return 2.0**-8 if y.dtype.name == 'bfloat16' else float(np.finfo(y.dtype).eps)


def _check_smooth(i_in, x, index, eps, points, resolutions, atol, rtol) -> None:
    """Raises NondifferentiableError unless a parabola goes through five outputs in a row.

    Args:
        points: Five tuples of outputs, at -eps, -eps/2, 0, eps/2 and eps from the input.
        resolutions: Per output, the relative size of its rounding, which is no lack of smoothness.
    """
    names = ('y[x-eps  ]', 'y[x-eps/2]', 'y[x      ]', 'y[x+eps/2]', 'y[x+eps  ]')
    # Projects five values onto the complement of parabolas.
    basis = np.linalg.qr(np.vander(np.linspace(-1, 1, 5), 3))[0]
    residual = np.eye(5) - basis @ basis.T
    for i_out, ys in enumerate(zip(*points, strict=True)):
        if ys[0] is None:
            continue
        y = np.stack(ys)
        finite = np.isfinite(y)
        ymax, ymin = y.max(axis=0), y.min(axis=0)
        with np.errstate(all='ignore'):
            # Shifted first, so that a constant is fitted exactly whatever its size.
            shifted = (y - y[2]).reshape(5, -1)
            errors = np.sqrt(((residual @ shifted) ** 2).mean(axis=0)).reshape(y.shape[1:])
            limit = atol + rtol * (ymax - ymin)
            bad = errors > limit + 2 * resolutions[i_out] * np.abs(y).max(axis=0)
        lines = []
        if (finite != finite[2]).any():
            lines = ['the outputs are finite at some of the points only']
        elif bad.any():
            lines = [
                f'diff_rtol: {rtol}',
                f'diff_atol: {atol}',
                f'ymax: {ymax}',
                f'ymin: {ymin}',
                f'diff_atol + diff_rtol * (ymax-ymin): {limit}',
                f'fitting errors: {errors}',
            ]
        if lines:
            lines = [
                'Tried to compute the numeric gradient on a non-differentiable point.',
                '',
                f'i_in: {i_in}',
                f'i_out: {i_out}',
                f'x: {x}',
                f'index on x: {index}',
                f'eps: {eps}',
                *lines,
                *(f'{name}: {value}' for name, value in zip(names, y, strict=True)),
            ]
            raise NondifferentiableError('\n'.join(lines) + '\n')


def numerical_grad(
    f: Callable[[], Sequence[NdArray]],
    inputs: Sequence[NdArray],
    grad_outputs: Sequence[NdArray | None],
    eps: float = 1e-3,
    detect_nondifferentiable: bool = False,
    diff_atol: float = 0,
    diff_rtol: float = 1e-2,
    center_outputs: Sequence[NdArray] | None = None,
) -> tuple:
    """Gradients by central differences, element by element.

    The differences are those of outputs in float64, and are divided by the distance of the two
    inputs as they were rounded, so that a coarse dtype of the inputs costs little. Infinite inputs
    and nan stay where they are: outputs that are finite there have gradient 0, others nan.

    Args:
        f (callable): Without arguments; reads ``inputs``, which are changed in place and restored,
            and returns a tuple of arrays or numbers.
        inputs (tuple of arrays): Arrays of floats.
        grad_outputs (tuple of arrays): Gradients of the outputs; None for an output to leave out.
        eps (float): Distance to go from the input to each side.
        detect_nondifferentiable (bool): Also takes half the distance, which makes the result more
            accurate, and raises NondifferentiableError where no parabola goes through the points.
        diff_atol, diff_rtol (float): Tolerance of that fit, absolute and relative to the range of
            the outputs.
        center_outputs (tuple of arrays): The outputs at the inputs, if they are known.
    Returns:
        tuple of arrays: Gradients of the inputs, of their dtypes and devices.
    Raises:
        NondifferentiableError: If asked to detect, where the function is not smooth.
        RuntimeError: If an input is not of floats.
    """
    assert eps > 0, f'eps is {eps}, expected > 0'
    inputs, grad_outputs = tuple(inputs), tuple(grad_outputs)
    for i, x in enumerate(inputs):
        if not _is_float(x):
            raise RuntimeError(
                'The dtype of input arrays must be kind of float, '
                f'but inputs[{i}] is {None if x is None else x.dtype}'
            )
    gys = tuple(None if gy is None else _to_float64(gy) for gy in grad_outputs)

    def evaluate(ys) -> tuple:
        # Copies, for an output may be an input, or a view of one.
        return tuple(
            None if gy is None else _to_float64(y).copy()
            for y, gy in zip(_check_outputs(ys, grad_outputs), grad_outputs, strict=True)
        )

    center = None
    if detect_nondifferentiable:
        ys = _check_outputs(f() if center_outputs is None else center_outputs, grad_outputs)
        center = evaluate(ys)
        resolutions = [_resolution(y) for y in ys]

    def dot(ys) -> float:
        return sum(float((y * gy).sum()) for y, gy in zip(ys, gys, strict=True) if gy is not None)

    def difference(low, high):
        return tuple(None if a is None else b - a for a, b in zip(low, high, strict=True))

    def derivative(i_in: int, view, index) -> float:
        origin = view[index].copy()
        start = float(_to_float64(origin))

        def at(delta):
            view[index] = start + delta
            moved = float(_to_float64(view[index])) if math.isfinite(start) else delta
            return moved, evaluate(f())

        def slope(low, high):
            if low[0] == high[0]:
                raise AssertionError(
                    f'eps {eps} is too small for {view.dtype}: inputs[{i_in}]{list(index)} stays '
                    f'{start}'
                )
            with np.errstate(all='ignore'):
                return dot(difference(low[1], high[1])) / (high[0] - low[0])

        try:
            low, high = at(-eps), at(eps)
            if center is None:
                return slope(low, high)
            low_half, high_half = at(-eps / 2), at(eps / 2)
        finally:
            view[index] = origin
        points = [low[1], low_half[1], center, high_half[1], high[1]]
        _check_smooth(i_in, inputs[i_in], index, eps, points, resolutions, diff_atol, diff_rtol)
        # Richardson's extrapolation.
        return (4 * slope(low_half, high_half) - slope(low, high)) / 3

    gradients = []
    for i_in, x in enumerate(inputs):
        view = _writable(x)
        gx = np.empty(x.shape, np.float64)
        for index in np.ndindex(x.shape):
            gx[index] = derivative(i_in, view, index)
        gradients.append(_like(gx, x))
    return tuple(gradients)


def _like(value: np.ndarray, x, dtype=None):
    """A NumPy array as one of the device of ``x``, and its dtype unless another is given."""
    device = chainer.backend.get_device_from_array(x)
    return device.send(value.astype(x.dtype if dtype is None else dtype))
