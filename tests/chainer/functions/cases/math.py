"""Rows of chainer.functions.math."""

import operator

import chainerx
import numpy as np
from functions.cases._table import NUMBERS, Case, InvalidType, call, f, own

_PAIR = [f(3, 4), f(3, 4)]
_DTYPES_DIFFER = (call(f(3), own('float16', 3)), InvalidType, r'dtype', 'numpy')
# Operators on chainerx arrays mix dtypes, and leave the check to the routine.
_SHAPES_DIFFER = (call(f(3, 2), f(3)), (InvalidType, chainerx.DimensionError), 'shape')
_INTEGERS = (call(own('int32', 3), own('int32', 3)), InvalidType, 'kind', 'numpy')


def binary(name, fn, cls, label, **kw):
    """An operator on two variables."""
    kw = {'inputs': _PAIR, 'bad': [_DTYPES_DIFFER, _SHAPES_DIFFER]} | kw
    return Case(name, fn=fn, ref=fn, cls=f'math.basic_math.{cls}', label=label, elastic=True, **kw)


def constant(name, fn, cls, label, value, **kw):
    """An operator on a variable and a number."""
    return Case(name, fn=fn, ref=fn, cls=f'math.basic_math.{cls}', label=label, elastic=True,
                attributes={'value': value}, **({'inputs': [f(3, 4)]} | kw))  # fmt: skip


CASES = [
    Case('absolute', ref=np.absolute, inputs=[f(3, 4, avoid=(0,))], elastic=True, dtypes=NUMBERS,
         refuses=False, cls='math.basic_math.Absolute', label='|_|', keeps='x0'),
    Case('neg', fn=operator.neg, ref=np.negative, inputs=[f(3, 4)], elastic=True, dtypes=NUMBERS,
         refuses=False, cls='math.basic_math.Neg', label='__neg__'),
    Case('add', ref=np.add, inputs=_PAIR, elastic=True, dtypes=NUMBERS, refuses=False,
         cls='math.basic_math.Add', label='_ + _', bad=[_DTYPES_DIFFER, _SHAPES_DIFFER]),
    Case('add', ref=lambda *xs: sum(xs), dtypes=NUMBERS, refuses=False,
         calls=[call(f(3, 4), f(4), f(3, 1)), call(f(3, 4)), call(f(), f(), f(), f(2))],
         cls='math.basic_math.MultiAdd', big=call(f(99, 99), f(99), f(99, 1)),
         bad=[(call(f(3), f(2), f(3)), InvalidType, 'shape'), (call(), TypeError, '')]),
    binary('x - z', operator.sub, 'Sub', '_ - _', dtypes=NUMBERS, refuses=False),
    binary('x * z', operator.mul, 'Mul', '_ * _', dtypes=NUMBERS, refuses=False, keeps='x0 x1'),
    binary('x / z', operator.truediv, 'Div', '_ / _', refuses=False, keeps='x0 x1',
           bad=[_DTYPES_DIFFER, _SHAPES_DIFFER, _INTEGERS],
           inputs=[f(3, 4), f(3, 4, avoid=(0,), gap=0.4)]),
    binary('x ** z', operator.pow, 'PowVarVar', '_ ** _', refuses=False, keeps='x0 x1 y0',
           bad=[_DTYPES_DIFFER, _SHAPES_DIFFER, _INTEGERS],
           inputs=[f(3, 4, lo=0.5), f(3, 4)]),
    Case('x // z', fn=operator.floordiv, ref=np.floor_divide, order=0, refuses=False,
         inputs=[f(3, 4), f(3, 4, avoid=(0,))]),
    Case('x // 2', fn=lambda x: x // 2, ref=lambda x: x // 2, order=0, inputs=[f(3, 4)],
         refuses=False),
    Case('2 // x', fn=lambda x: 2 // x, ref=lambda x: 2 // x, order=0, inputs=[f(3, 4, avoid=(0,))],
         refuses=False),
    constant('x + 1', lambda x: x + 1, 'AddConstant', '_ + 1', 1, dtypes=NUMBERS, refuses=False),
    constant('x - 1.5', lambda x: x - 1.5, 'AddConstant', '_ + (-1.5)', -1.5, refuses=False),
    constant('1 - x', lambda x: 1 - x, 'SubFromConstant', '1 - _', 1, dtypes=NUMBERS,
             refuses=False),
    constant('3 * x', lambda x: 3 * x, 'MulConstant', '_ * 3', 3, dtypes=NUMBERS, refuses=False),
    constant('x / 2', lambda x: x / 2, 'MulConstant', '_ * 0.5', 0.5, refuses=False),
    constant('2 / x', lambda x: 2 / x, 'DivFromConstant', '2 / _', 2, keeps='x0 y0',
             inputs=[f(3, 4, avoid=(0,), gap=0.4)]),
    constant('x ** 3', lambda x: x**3, 'PowVarConst', '_ ** 3', 3, keeps='x0',
             inputs=[f(3, 4, avoid=(0,))]),
    constant('2 ** x', lambda x: 2**x, 'PowConstVar', '2 ** _', 2, keeps='x0 y0'),
    Case('sum', ref=lambda x, axis=None, keepdims=False: np.sum(x, axis=axis, keepdims=keepdims),
         calls=[call(f(3, 4), 1), call(f(2, 3, 4)), call(f(2, 3, 4), (-1, 0), True), call(f()),
                call(f(3, 0), axis=1, keepdims=True), call(f(3, 4), ())],
         cls='math.sum.Sum', attributes={'axis': (1,), 'keepdims': False},
         bad=[(call(f(3), 1), InvalidType, 'in_types|x'), (call(f(3), -2), InvalidType, ''),
              (call(f(3, 4), (0, 0)), ValueError, 'twice'), (call(f(3), 1.0), TypeError, 'axis')]),
]  # fmt: skip
