"""Gradients of several variables at once."""

from __future__ import annotations

import typing as tp
import warnings

from chainerx._core import engine

from chainer._graph.variable import Variable, as_variable

if tp.TYPE_CHECKING:
    from chainer import variable


def _as_gradient(g: tp.Any) -> Variable | None:
    return g if g is None or not engine.kind(g) else as_variable(g)


def _check_sequence(op: str, name: str, value: object) -> None:
    if not isinstance(value, tuple | list):
        raise TypeError(f'{op}: {name} must be a tuple or a list, not {type(value)}')


def grad(
    outputs: tp.Sequence[Variable],
    inputs: tp.Sequence[Variable],
    grad_outputs: tp.Sequence[Variable | None] | None = None,
    grad_inputs: tp.Sequence[Variable | None] | None = None,
    set_grad: bool = False,
    retain_grad: bool = False,
    enable_double_backprop: bool = False,
    loss_scale: float | None = None,
) -> list[Variable | None]:
    """Gradients of ``outputs`` with respect to ``inputs``; the gradients they have are left alone.

    Args:
        outputs, inputs (list of Variable): Any variables of one graph.
        grad_outputs (list of Variable, array or None): Where gradients start; ones where None.
        grad_inputs (list of Variable, array or None): Gradients that the inputs have from
            elsewhere: added to the results, and to what flows on from there to other inputs.
        set_grad (bool): Whether the results become the gradients of the inputs, in place of those
            that they have.
        retain_grad (bool): Whether variables on the way get theirs.
        enable_double_backprop (bool): Whether the results are part of the graph.
        loss_scale (float): The start value of gradients instead of ones; those of chainerx arrays
            are divided by it in the end.

    Returns:
        list: One Variable per input, None where no path leads from the outputs.

    Warns:
        RuntimeWarning: If an output is listed twice; it counts twice.

    Raises:
        TypeError: If ``outputs`` or ``inputs`` is no list or tuple.
        ValueError: If lengths or shapes do not match.
    """
    _check_sequence('grad', 'outputs', outputs)
    _check_sequence('grad', 'inputs', inputs)
    if grad_outputs is not None:
        _check_sequence('grad', 'grad_outputs', grad_outputs)
        if len(outputs) != len(grad_outputs):
            raise ValueError(
                f'grad: grad_outputs must be of the same length as outputs: len(outputs) = '
                f'{len(outputs)}, len(grad_outputs) = {len(grad_outputs)}'
            )
    if grad_inputs is not None:
        _check_sequence('grad', 'grad_inputs', grad_inputs)
        if len(inputs) != len(grad_inputs):
            raise ValueError(
                f'grad: grad_inputs must be of the same length as inputs: len(inputs) = '
                f'{len(inputs)}, len(grad_inputs) = {len(grad_inputs)}'
            )
    _check_kinds('grad', (*outputs, *inputs))
    if grad_outputs is None and len(_distinct(outputs)) != len(outputs):
        warnings.warn(
            'chainer.grad: outputs has a Variable twice, which counts twice (once in Chainer v7)',
            RuntimeWarning,
            stacklevel=2,
        )
    results = engine.grad(
        tuple(outputs),
        tuple(inputs),
        None if grad_outputs is None else tuple(map(_as_gradient, grad_outputs)),
        None if grad_inputs is None else tuple(map(_as_gradient, grad_inputs)),
        retain_grad,
        enable_double_backprop,
        loss_scale,
    )
    if set_grad:
        for x, g in zip(inputs, results, strict=True):
            x.grad_var = g
    return results


def backward(
    outputs: tp.Sequence[Variable],
    grad_outputs: tp.Sequence[Variable | None] | None = None,
    *,
    enable_double_backprop: bool = False,
) -> None:
    """Backpropagates from several variables at once; see `Variable.backward`.

    Args:
        outputs (list of Variable): Where to start.
        grad_outputs (list of Variable, array or None): The gradients to start from; nothing starts
            where it is None. Without the list: the gradients that the outputs have; ones for
            chainerx arrays that have none.
        enable_double_backprop (bool): Whether the gradients can be differentiated again.

    Raises:
        ValueError: If the numbers of outputs and gradients differ.

    Warns:
        RuntimeWarning: If an output (of NumPy or CuPy arrays) has no gradient, so that nothing
            starts there, or one is listed twice, which counts once.
    """
    _check_sequence('backward', 'outputs', outputs)
    _check_kinds('backward', outputs)
    if grad_outputs is not None:
        _check_sequence('backward', 'grad_outputs', grad_outputs)
        if len(outputs) != len(grad_outputs):
            raise ValueError(
                f'backward: grad_outputs must be of the same length as outputs: len(outputs) = '
                f'{len(outputs)}, len(grad_outputs) = {len(grad_outputs)}'
            )
        starts = [(y, g) for y, g in zip(outputs, grad_outputs, strict=True) if g is not None]
        outputs = [y for y, _ in starts]
        seeds = tuple(_as_gradient(g) for _, g in starts)
        engine.backward(tuple(outputs), seeds, False, enable_double_backprop, None, False)
        return
    starting = [y for y in _distinct(outputs) if not _starts_nothing(y)]
    if len(starting) != len(outputs):
        warnings.warn(
            'chainer.backward: outputs has a Variable without a gradient, where nothing starts, or '
            'one twice, which counts once; set the gradient, or call backward() of the Variable',
            RuntimeWarning,
            stacklevel=2,
        )
    engine.backward(tuple(starting), None, False, enable_double_backprop, None, False)


def _distinct(variables: tp.Sequence[tp.Any]) -> list[tp.Any]:
    """Return the first variable of each place in the graph."""
    if len(variables) < 2:
        return list(variables)
    found: dict[object, object] = {}
    for v in variables:
        found.setdefault(v.node if isinstance(v, Variable) else id(v), v)
    return list(found.values())


def _starts_nothing(y: variable.Variable) -> bool:
    return isinstance(y, Variable) and y._kind != 'chainerx' and y.grad is None


def _check_kinds(op: str, variables: tp.Iterable[Variable]) -> None:
    kinds = {v._kind for v in variables if isinstance(v, Variable) and v._kind}
    if len(kinds) > 1:
        error = ValueError if op == 'backward' else TypeError
        raise error(f'{op}: the variables hold different kinds of arrays: {sorted(kinds)}')
