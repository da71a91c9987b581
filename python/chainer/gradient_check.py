"""Checks of gradients against differences of outputs."""

from __future__ import annotations

import contextlib
import typing as tp
from collections.abc import Iterator, Sequence

import chainerx
import numpy as np

import chainer
from chainer._diagnostics.numerical_grad import (
    NondifferentiableError,
    _format_props,
    _is_float,
    _like,
    _to_float64,
    _to_numpy,
    _writable,
    numerical_grad,
)
from chainer.testing import array as _array

if tp.TYPE_CHECKING:
    from chainer._graph.variable import Variable
    from chainer._typing import AnyCallable, Arrays, DTypeLike, NdArray, VariableLike

# A failure tells the elements whose gradient is wrong, of arrays that are small enough to search.
_MAX_ELEMENTS_TO_SEARCH = 64
_MAX_ELEMENTS_TO_NAME = 5

__all__ = [
    'NondifferentiableError',
    'assert_allclose',
    'check_backward',
    'check_double_backward',
    'numerical_grad',
]


def assert_allclose(
    x: VariableLike, y: VariableLike, atol: float = 1e-5, rtol: float = 1e-4, verbose: bool = True
) -> None:
    """Another name of `chainer.testing.assert_allclose`.

    Args:
        x, y (array): Of any kinds; also numbers and sequences.
        atol (float): Absolute tolerance.
        rtol (float): Relative tolerance, of ``y``.
        verbose (bool): Whether an error tells the values.

    Raises:
        AssertionError: If shapes differ or an element is not close.
    """
    _array.assert_allclose(x, y, atol, rtol, verbose)


def _as_tuple(xs) -> tuple:
    if isinstance(xs, tuple):
        return xs
    return tuple(xs) if isinstance(xs, list) else (xs,)


def _make_outputs_props_in_error_message(outputs, grad_outputs) -> str:
    return (
        f'Output shapes and dtypes         : {_format_props(outputs)}\n'
        f'Output gradient shapes and dtypes: {_format_props(grad_outputs)}'
    )


def _check_outputs_and_grad_outputs(outputs, grad_outputs) -> None:
    """Raises ValueError where gradients don't look like their outputs."""
    if len(outputs) != len(grad_outputs):
        raise ValueError(
            'Output gradients must contain equally as many elements as the number of output '
            f'elements.\n{_make_outputs_props_in_error_message(outputs, grad_outputs)}'
        )
    for y, gy in zip(outputs, grad_outputs, strict=True):
        if gy is not None and (y.shape, y.dtype) != (gy.shape, gy.dtype):
            raise ValueError(
                'Shapes and/or dtypes of outputs and output gradients do not match.\n'
                f'{_make_outputs_props_in_error_message(outputs, grad_outputs)}'
            )


def _check_variables(ys) -> tuple:
    ys = _as_tuple(ys)
    for y in ys:
        if not isinstance(y, chainer.Variable):
            raise TypeError(f'each output must be a Variable, not {type(y)}')
    return ys


def _alias(y):
    """The same values at a place of their own: a function may return its input, or y twice."""
    return y[...]


def _complete_grad_outputs(ys, gys) -> tuple:
    """The gradients of the outputs: as given, or 1 for a loss."""
    if gys is None:
        if len(ys) != 1 or ys[0].shape != ():
            raise ValueError(
                'y_grad argument cannot be omitted if the target function is not a loss function, '
                'which has a single output with shape ().\n'
                f'Actual output shapes: {", ".join(str(y.shape) for y in ys)}'
            )
        return (_like(np.ones(()), ys[0].array),)
    _check_outputs_and_grad_outputs([y.array for y in ys], gys)
    return gys


@contextlib.contextmanager
def _params_at(params, values) -> Iterator[None]:
    """Gives other values to parameters; those of chainerx keep their arrays and dtypes."""
    saved = [p.array.copy() if isinstance(p.array, chainerx.ndarray) else p.array for p in params]

    def assign(values):
        for p, value in zip(params, values, strict=True):
            if isinstance(p.array, chainerx.ndarray):
                _writable(p.array)[...] = value
            else:
                p.array = value

    try:
        assign(values)
        yield
    finally:
        assign(saved)


class _Target:
    """An array that is moved, and its gradient.

    Args:
        name (str): For messages.
        array: The array.
        gradient: Its gradient by backward, None if it has none.
        dtype (dtype): What it is rounded to when it is moved.
    """

    def __init__(self, name: str, array: NdArray, gradient: tp.Any, dtype: DTypeLike):
        self.name = name
        self.array = array
        self.gradient = gradient
        self.dtype = dtype
        # Parameters are moved in place.
        self.origin = _to_float64(array).copy()

    def moved(self, direction: np.ndarray, delta: float):
        return _like(self.origin + delta * direction, self.array, self.dtype)

    def rounded(self, direction: np.ndarray, eps: float) -> np.ndarray:
        """The direction that it is really moved along, its elements having been rounded.

        Infinities and nan don't move; there a gradient must be what differences give, nan.
        """
        high, low = (
            np.where(
                np.isfinite(self.origin),
                _to_float64(self.moved(direction, delta)),
                delta * direction,
            )
            for delta in (eps, -eps)
        )
        return (high - low) / (2 * eps)

    def slope(self, direction: np.ndarray) -> float:
        if self.gradient is None:
            return 0.0
        return float((_to_float64(self.gradient) * direction).sum())


class _CheckBackward:
    """One comparison of gradients with differences along a random direction.

    Args:
        is_immutable_params (bool): ``func`` takes a tuple of inputs and one of parameters, and
            ``params`` are arrays; else ``func`` takes the inputs, and ``params`` are Variables
            that it reads.
    """

    title = 'check_backward'

    def __init__(
        self,
        func,
        xs,
        gys,
        params,
        eps,
        atol,
        rtol,
        no_gxs,
        dtype,
        detect_nondifferentiable,
        is_immutable_params,
    ):
        if dtype is not None:
            dtype = np.dtype(dtype)
            if dtype.kind != 'f':
                raise ValueError(f'`dtype` is allowed only float type, not {dtype}')
        assert eps > 0, f'eps is {eps}, expected > 0'
        self.func = func
        self.xs = _as_tuple(xs)
        self.gys: tp.Any = None if gys is None else _as_tuple(gys)
        self.params = _as_tuple(params)
        self.eps, self.atol, self.rtol = eps, atol, rtol
        self.dtype = dtype
        self.detect_nondifferentiable = detect_nondifferentiable
        self.is_immutable_params = is_immutable_params
        self.input_names = [f'inputs[{i}]' for i in range(len(self.xs))]

        array_types = chainer.get_array_types()
        for i, x in enumerate(self.xs):
            if x is not None and not isinstance(x, array_types):
                raise TypeError(f'x_data[{i}] must be an array, not {type(x)}')
        for i, p in enumerate(self.params):
            if not isinstance(p, array_types if is_immutable_params else chainer.Variable):
                what = 'an array' if is_immutable_params else 'a Variable'
                raise TypeError(f'params[{i}] must be {what}, not {type(p)}')
        if no_gxs is None:
            no_gxs = [False] * len(self.xs)
        elif len(no_gxs) != len(self.xs):
            raise ValueError(
                'Length of no_grads param and xs should be same.\n'
                f'Actual: {len(no_gxs)} != {len(self.xs)}'
            )
        self.no_gxs = [flag or not _is_float(x) for flag, x in zip(no_gxs, self.xs, strict=True)]

    def run(self):
        """Raises AssertionError if the gradients are not those of the differences."""
        with chainer.using_config('enable_backprop', True):
            self._run()

    def _run(self):
        gxs, gparams = self._backward_gradients()
        self.targets = self._make_targets(gxs, gparams)
        if not self.targets:
            return
        directions = self._sample_directions()
        numeric = self._directional_numeric_gradients(directions)
        self._compare_gradients(numeric, directions)

    def _make_targets(self, gxs, gparams):
        targets = [
            _Target(name, x, gx, self.dtype or x.dtype)
            for name, x, gx, no_gx in zip(self.input_names, self.xs, gxs, self.no_gxs, strict=True)
            if not no_gx
        ]
        for i, (p, gp) in enumerate(zip(self.params, gparams, strict=True)):
            array = p if self.is_immutable_params else p.array
            # An array of chainerx in a parameter of the user keeps its dtype.
            keeps = not self.is_immutable_params and isinstance(array, chainerx.ndarray)
            if _is_float(array):
                dtype = array.dtype if keeps else self.dtype or array.dtype
                targets.append(_Target(f'params[{i}]', array, gp, dtype))
        return targets

    def _call(self, xs, params):
        """Calls the function with Variables, checks that it returns Variables."""
        if self.is_immutable_params:
            return _check_variables(self.func(xs, params))
        return _check_variables(self.func(*xs))

    def _backward_gradients(self):
        """The gradients of inputs and parameters by one backward; completes ``gys``."""
        xs = tuple(
            None if x is None else chainer.Variable(x, requires_grad=_is_float(x)) for x in self.xs
        )
        params = self.params
        if self.is_immutable_params:
            params = tuple(chainer.Parameter(p) for p in params)
        saved = [p.grad_var for p in params]
        try:
            for p in params:
                p.cleargrad()
            ys = self._call(xs, params)
            for i, p in enumerate(params):
                if p.array is None:
                    raise ValueError(f'params[{i}] is not initialized by a call of the function')
            self.gys = _complete_grad_outputs(ys, self.gys)
            reached = []
            for y, gy in zip(ys, self.gys, strict=True):
                if gy is None:
                    continue
                y = _alias(y)
                y.grad = gy
                if y.creator_node is not None:
                    reached.append(y)
            if reached:
                chainer.backward(reached)
            gxs = tuple(None if x is None else x.grad for x in xs)
            gparams = tuple(p.grad for p in params)
        finally:
            for p, grad in zip(params, saved, strict=True):
                p.grad_var = grad
        for name, gx, no_gx in zip(self.input_names, gxs, self.no_gxs, strict=True):
            if no_gx and gx is not None:
                raise RuntimeError(
                    f'{name} has a gradient, but is in no_grads or not an array of floats: '
                    'gradient of int variable must be None'
                )
        return gxs, gparams

    @staticmethod
    def _sample_unit_vector(size, xp):
        """A random vector of length 1 whose elements are all far from 0, where they test nothing.

        None is below 0.1 / sqrt(size).
        """
        vector = xp.random.uniform(0.1, 1, size)
        vector = xp.where(xp.random.uniform(-1, 1, size) < 0, -vector, vector)
        return vector / xp.sqrt((vector * vector).sum()) if size else vector

    def _sample_directions(self):
        """A unit vector, cut into the shapes of the targets."""
        sizes = [target.origin.size for target in self.targets]
        parts = np.split(self._sample_unit_vector(sum(sizes), np), np.cumsum(sizes)[:-1])
        directions = [
            target.rounded(part.reshape(target.origin.shape), self.eps)
            for target, part in zip(self.targets, parts, strict=True)
        ]
        if sum(sizes) and sum(float((d * d).sum()) for d in directions) < 0.25:
            dtypes = ', '.join(sorted({str(target.dtype) for target in self.targets}))
            raise ValueError(
                f'eps {self.eps} is too small for {dtypes}: the inputs do not move; give a larger '
                'eps, or a dtype to compute differences in'
            )
        return directions

    def _outputs_at(self, directions, delta: float):
        """The outputs with all targets moved along their directions."""
        moved = iter(
            [target.moved(d, delta) for target, d in zip(self.targets, directions, strict=True)]
        )

        def place(x, no_gx):
            if not no_gx:
                return next(moved)
            return x.astype(self.dtype) if _is_float(x) and self.dtype is not None else x

        arrays = map(place, self.xs, self.no_gxs)
        xs = tuple(None if x is None else chainer.Variable(x) for x in arrays)
        if self.is_immutable_params:
            params = tuple(chainer.Parameter(place(p, not _is_float(p))) for p in self.params)
            ys = self._call(xs, params)
        else:
            with _params_at([p for p in self.params if _is_float(p)], list(moved)):
                ys = self._call(xs, self.params)
        return tuple(y.array for y in ys)

    def _directional_numeric_gradients(self, directions) -> float:
        delta = np.zeros(())
        # What the function reads besides, parameters that are not named and statistics, keeps its
        # dtype when the inputs are cast.
        with chainer.using_config('type_check', False):
            (gradient,) = numerical_grad(
                lambda: self._outputs_at(directions, float(delta)),
                (delta,),
                self.gys,
                eps=self.eps,
                detect_nondifferentiable=self.detect_nondifferentiable,
                diff_rtol=self.rtol,
            )
        return float(gradient)

    def _directional_backward_gradients(self, directions) -> float:
        return sum(
            target.slope(direction)
            for target, direction in zip(self.targets, directions, strict=True)
        )

    def _compare_gradients(self, numeric: float, directions) -> None:
        backward = self._directional_backward_gradients(directions)
        try:
            assert_allclose(numeric, backward, atol=self.atol, rtol=self.rtol)
        except AssertionError as error:
            values = [
                (name, None if x is None else _to_numpy(x))
                for name, x in zip(self.input_names, self.xs, strict=True)
            ]
            values += [
                (f'grad_outputs[{i}]', None if gy is None else _to_numpy(gy))
                for i, gy in enumerate(self.gys)
            ]
            values += [(f'directions[{i}]', d) for i, d in enumerate(directions)]
            raise AssertionError(
                f'{self.title} failed (eps={self.eps} atol={self.atol} rtol={self.rtol})\n'
                + ''.join(f'{name}:\n{value}\n' for name, value in values)
                + f'gradients (numeric):  {numeric}\n'
                f'gradients (backward): {backward}\n\n'
                f'{self._find_culprits(directions)}\n'
                f'x: numeric gradient, y: backward gradient{error}'
            ) from None

    def _find_culprits(self, directions) -> str:
        """Compares the gradient of each target alone; lines for the message of a failure."""
        zeros = [np.zeros_like(d) for d in directions]
        lines = []
        for i, (target, direction) in enumerate(zip(self.targets, directions, strict=True)):
            if target.gradient is None:
                lines.append(f'{target.name}: backward gave no gradient (None)')

            def both(direction, i=i, target=target):
                alone = [*zeros[:i], direction, *zeros[i + 1 :]]
                return self._directional_numeric_gradients(alone), target.slope(direction)

            numeric, backward = both(direction)
            differs = not self._is_close(numeric, backward)
            lines.append(
                f'{target.name}: numeric {numeric}, backward {backward}'
                + (', DIFFERS' if differs else '')
            )
            if differs and target.origin.size <= _MAX_ELEMENTS_TO_SEARCH:
                lines += self._find_elements(target, both)
        return '\n'.join(lines)

    def _find_elements(self, target, both) -> Iterator[str]:
        """Lines on the first elements of a target whose gradient differs."""
        found = 0
        for index in np.ndindex(target.origin.shape):
            direction = np.zeros(target.origin.shape)
            direction[index] = 1
            numeric, backward = both(target.rounded(direction, self.eps))
            if not self._is_close(numeric, backward):
                position = ', '.join(map(str, index))
                yield f'  {target.name}[{position}]: numeric {numeric}, backward {backward}'
                found += 1
                if found == _MAX_ELEMENTS_TO_NAME:
                    return

    def _is_close(self, numeric: float, backward: float) -> bool:
        return np.allclose(numeric, backward, atol=self.atol, rtol=self.rtol, equal_nan=True)


def check_backward(
    func: AnyCallable,
    x_data: NdArray | Arrays,
    y_grad: NdArray | Arrays,
    params: Variable | Sequence[Variable] = (),
    eps: float = 1e-3,
    atol: float = 1e-5,
    rtol: float = 1e-4,
    no_grads: Sequence[bool] | None = None,
    dtype: DTypeLike | None = None,
    detect_nondifferentiable: bool = False,
) -> None:
    """Compares the gradients of a function with differences of its outputs.

    The inputs and parameters are moved together along one random direction; this finds a wrong
    gradient with probability 1, whatever the number of elements. Arguments that stand for several
    things may be a tuple, or one of them.

    Args:
        func (callable): From Variables to a Variable or a tuple of Variables. Called again and
            again; it must give the same outputs for the same inputs.
        x_data (arrays): Inputs. Those of integers, and None, are passed on and not checked.
        y_grad (arrays): Gradients of the outputs; None for an output to leave out. None in their
            place stands for 1, if the only output has the shape ``()``.
        params (Variables): Parameters that ``func`` reads, checked as the inputs are; its first
            call may initialize them.
        eps (float): Distance to go.
        atol, rtol (float): Tolerance of the comparison, absolute and relative.
        no_grads (list of bools): True for an input that must get no gradient.
        dtype (dtype): Inputs, parameters and so the outputs are cast to it for the differences;
            float64 makes them much more accurate. The arrays that a chainerx parameter holds keep
            their dtypes, and so does what ``func`` reads besides; types are not checked meanwhile.
        detect_nondifferentiable (bool): Whether to raise NondifferentiableError at a point where
            the function is not smooth.
    Raises:
        AssertionError: If the gradients differ; names the inputs, elements and both values.
        NondifferentiableError: See above.
    """
    _CheckBackward(
        func,
        x_data,
        y_grad,
        params,
        eps,
        atol,
        rtol,
        no_grads,
        dtype,
        detect_nondifferentiable,
        is_immutable_params=False,
    ).run()


def _check_backward_with_params(
    func,
    x_data,
    y_grad,
    params=(),
    eps=1e-3,
    atol=1e-5,
    rtol=1e-4,
    no_grads=None,
    dtype=None,
    detect_nondifferentiable=False,
):
    """``check_backward`` of a function of two tuples, inputs and parameters, given as arrays."""
    _CheckBackward(
        func,
        x_data,
        y_grad,
        params,
        eps,
        atol,
        rtol,
        no_grads,
        dtype,
        detect_nondifferentiable,
        is_immutable_params=True,
    ).run()


def check_double_backward(
    func: AnyCallable,
    x_data: NdArray | Arrays,
    y_grad: NdArray | Arrays,
    x_grad_grad: NdArray | Arrays,
    params: Variable | Sequence[Variable] = (),
    params_grad_grad: NdArray | Arrays = (),
    eps: float = 1e-3,
    atol: float = 1e-4,
    rtol: float = 1e-3,
    no_grads: Sequence[bool] | None = None,
    dtype: DTypeLike | None = None,
    detect_nondifferentiable: bool = False,
) -> None:
    """Compares the second gradients of a function with differences of its first gradients.

    The first gradients are taken as they are; ``check_backward`` tells whether they are right.

    Args:
        func, x_data: As in ``check_backward``.
        y_grad (arrays): Gradients of the outputs, which are inputs of the first gradients; any
            float dtypes.
        x_grad_grad (arrays): Gradients of the gradients of the inputs; for inputs without a
            gradient None, or nothing.
        params: As in ``check_backward``.
        params_grad_grad (arrays): The same of the parameters; may be left out.
        eps, atol, rtol: As in ``check_backward``.
        no_grads (list of bools): True for an input that must get no gradient, of the inputs or of
            the inputs and gradients of outputs.
        dtype, detect_nondifferentiable: As in ``check_backward``.

    Raises:
        AssertionError: If the gradients differ, or an input has no first gradient.
        NondifferentiableError: See ``check_backward``.
    """
    xs, params = _as_tuple(x_data), _as_tuple(params)
    if y_grad is None:
        ys = _check_variables(func(*(None if x is None else chainer.Variable(x) for x in xs)))
        gys = _complete_grad_outputs(ys, None)
    else:
        gys = _as_tuple(y_grad)
    n_x = len(xs)
    if no_grads is not None and len(no_grads) == n_x:
        no_grads = [*no_grads, *[False] * len(gys)]
    no_gxs = [not _is_float(x) or (no_grads is not None and no_grads[i]) for i, x in enumerate(xs)]
    names = [f'inputs[{i}]' for i in range(n_x)] + [f'grad_outputs[{i}]' for i in range(len(gys))]

    def first_order_grad(*inputs):
        targets = [x for x, no_gx in zip(inputs[:n_x], no_gxs, strict=True) if not no_gx]
        target_names = [name for name, no_gx in zip(names, no_gxs, strict=False) if not no_gx]
        ys = _check_variables(func(*inputs[:n_x]))
        gys = inputs[n_x:]
        if len(ys) == len(gys):
            # Gradients of outputs are moved in a dtype that the function need not keep.
            gys = tuple(
                gy if gy is None or gy.dtype == y.dtype else chainer.functions.cast(gy, y.dtype)
                for y, gy in zip(ys, gys, strict=True)
            )
        _check_outputs_and_grad_outputs(
            [y.array for y in ys], [None if gy is None else gy.array for gy in gys]
        )
        pairs = [(_alias(y), gy) for y, gy in zip(ys, gys, strict=True) if gy is not None]
        outputs, grads = zip(*pairs, strict=True) if pairs else ((), ())
        gxs = chainer.grad(outputs, [*targets, *params], grads, enable_double_backprop=True)
        for name, gx in zip(
            [*target_names, *(f'params[{i}]' for i in range(len(params)))], gxs, strict=True
        ):
            assert gx is not None, (
                f'{name} has no first gradient: it has to be in no_grads, or backward is wrong'
            )
        return tuple(gxs)

    ggxs = (None,) * (n_x - sum(no_gxs)) if x_grad_grad is None else _as_tuple(x_grad_grad)
    if len(ggxs) == n_x:
        ggxs = tuple(ggx for ggx, no_gx in zip(ggxs, no_gxs, strict=True) if not no_gx)
    gg_params = _as_tuple(params_grad_grad) or (None,) * len(params)

    check = _CheckBackward(
        first_order_grad,
        xs + gys,
        ggxs + gg_params,
        params,
        eps,
        atol,
        rtol,
        no_grads,
        dtype,
        detect_nondifferentiable,
        is_immutable_params=False,
    )
    check.title = 'check_double_backward'
    check.input_names = names
    check.run()
