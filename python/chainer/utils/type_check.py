"""Expressions that check the inputs of a function, and can print themselves when they fail.

A function writes its checks once, as in ``expect(in_types[0].ndim == 2)``. They run first in *light
mode*, where ``in_types`` are the arrays, the comparisons are plain booleans, and nothing is built.
Only if one fails do they run again on expressions, to print the expected and the actual values.
"""

from __future__ import annotations

import functools
import itertools
import operator
import threading
import types
import typing as tp

from chainer._base import environment

if tp.TYPE_CHECKING:
    import numpy as np

    from chainer._typing import Arrays, NdArray


class _ThreadLocal(threading.local):
    light_mode = False
    current_function: tp.Any = None


_thread_local = _ThreadLocal()


class LightMode:
    """A context in which checks run on plain values; `light_mode` is the object to use."""

    def __enter__(self) -> None:
        _thread_local.light_mode = True

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        _thread_local.light_mode = False


light_mode = LightMode()


def in_light_mode() -> bool:
    """Whether checks run on plain values.

    Returns:
        bool: That of this thread.
    """
    return _thread_local.light_mode


class get_function_check_context:
    """A context that tells errors which function they are about.

    Args:
        f: A function node; its `label` is printed.
    """

    def __init__(self, f: tp.Any) -> None:
        self._function = f

    def __enter__(self) -> None:
        self._outer = _thread_local.current_function
        _thread_local.current_function = self._function

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        _thread_local.current_function = self._outer


def _naming(label: str) -> get_function_check_context:
    """The context for checks before there is a function object."""
    return get_function_check_context(types.SimpleNamespace(label=label))


class TypeInfo:
    """The properties of an array that are checked: `shape`, `dtype`, `ndim`, `size`.

    Args:
        shape (tuple of int): That of the array.
        dtype (dtype): That of the array.
    """

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype | None) -> None:
        self.shape = shape
        self.dtype = dtype
        self.ndim = len(shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return _prod_impl(self.shape)


class TypeInfoTuple(tuple):
    """The inputs of a function as expressions, made by `get_types`.

    Args:
        iterable: The expressions.

    Attributes:
        name (str): How to print it.
    """

    name: str

    def size(self) -> Variable:
        """An expression of the number of inputs."""
        return Variable(len(self), f'{self.name}.size')


class LightTypeInfoTuple(tuple):
    """The inputs of a function in light mode: the arrays.

    Args:
        iterable: The arrays.
    """

    def size(self) -> int:
        """The number of inputs."""
        return len(self)


def get_types(
    data: tuple,
    name: str,
    accept_none: bool,
    *,
    shapes: tp.Sequence[tuple[int, ...] | None] | None = None,
) -> TypeInfoTuple:
    """Makes expressions of arrays.

    Args:
        data: A tuple of arrays.
        name: How to print the tuple.
        accept_none: Whether an array may be None.
        shapes: Shapes to check instead of the arrays' own.

    Returns:
        TypeInfoTuple: Of one expression per array.

    Raises:
        InvalidType: If something is no array.
    """
    assert isinstance(data, tuple), type(data)
    if shapes is None:
        shapes = (None,) * len(data)
    info = TypeInfoTuple(
        _get_type(name, i, array, accept_none, shape)
        for i, (array, shape) in enumerate(zip(data, shapes, strict=True))
    )
    info.name = name
    return info


def get_light_types(
    data: Arrays, *, shapes: tp.Sequence[tuple[int, ...]] | None = None
) -> LightTypeInfoTuple:
    """As `get_types`, for light mode.

    Args:
        data (tuple of array): The inputs.
        shapes: Shapes to check instead of the arrays' own.

    Returns:
        LightTypeInfoTuple: The arrays, or a `TypeInfo` of each if there are shapes.
    """
    assert isinstance(data, tuple), type(data)
    if shapes is None:
        return LightTypeInfoTuple(data)
    return LightTypeInfoTuple(
        TypeInfo(shape, array.dtype) for array, shape in zip(data, shapes, strict=True)
    )


def _get_type(
    name: str, index: int, array: NdArray, accept_none: bool, shape: tuple[int, ...] | None
) -> Variable:
    variable_name = f'{name}[{index}]'
    if accept_none and array is None:
        return Variable(TypeInfo((), None), variable_name)
    return _make_variable_from_array(array, variable_name, shape)


def _make_variable_from_array(
    array: NdArray, name: str, shape: tuple[int, ...] | None = None
) -> Variable:
    if not isinstance(array, environment.get_array_types()):
        raise InvalidType(f'isinstance({name}, ndarray)', f'type({name}) == {type(array)}')
    return Variable(TypeInfo(array.shape if shape is None else shape, array.dtype), name)


def _argname(in_types: tuple, names: tuple[str, ...]) -> None:
    """Checks the number of inputs and names them for messages, as functions do first."""
    if len(in_types) != len(names):
        raise InvalidType(
            f'{len(names)} argument(s)',
            f'{len(in_types)} argument(s)',
            f'{_where()}Invalid number of arguments',
        )
    if not _thread_local.light_mode:
        for variable, name in zip(in_types, names, strict=True):
            variable.name = name


def _make_un_operator(exp: str, priority: int, func: tp.Callable) -> tp.Callable:
    return lambda x: UnaryOperator(priority, x, exp, func)


def _make_bin_operator(
    exp: str, priority: int, func: tp.Callable, right_associative: bool = False
) -> tp.Callable:
    return lambda x, y: BinaryOperator(priority, x, y, exp, func, right_associative)


def _make_bool_operator(exp: str, inv: str, func: tp.Callable) -> tp.Callable:
    return lambda x, y: BoolBinaryOperator(x, y, exp, inv, func)


def _flip(f: tp.Callable) -> tp.Callable:
    return lambda x, y: f(y, x)


class Expr:
    """An expression: operators and attributes make larger ones, `eval` computes.

    Args:
        priority (int): How tightly it binds, which decides where parentheses are printed.
    """

    # So that a NumPy scalar on the left leaves the operation to us.
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, priority: int) -> None:
        self.priority = priority

    def eval(self) -> tp.Any:
        """The value."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> tp.Any:
        if name.startswith('__') and name.endswith('__'):  # protocols that Python looks for
            raise AttributeError(name)
        return GetAttr(self, name)

    def __getitem__(self, key: object) -> GetItem:
        return GetItem(self, key)

    def __call__(self, *args: object) -> Call:
        return Call(self, args)

    def __bool__(self) -> bool:
        raise RuntimeError(
            'An Expr instance cannot be evaluated as bool. '
            'Please use chainer.utils.type_check.eval() to evaluate an expression.'
        )

    __eq__ = _make_bool_operator('==', '!=', operator.eq)
    __ne__ = _make_bool_operator('!=', '==', operator.ne)
    __lt__ = _make_bool_operator('<', '>=', operator.lt)
    __le__ = _make_bool_operator('<=', '>', operator.le)
    __gt__ = _make_bool_operator('>', '<=', operator.gt)
    __ge__ = _make_bool_operator('>=', '<', operator.ge)

    # Priorities are in the order of Python's own.
    __or__ = _make_bin_operator('|', 0, operator.or_)
    __xor__ = _make_bin_operator('^', 1, operator.xor)
    __and__ = _make_bin_operator('&', 2, operator.and_)
    __lshift__ = _make_bin_operator('<<', 3, operator.lshift)
    __rshift__ = _make_bin_operator('>>', 3, operator.rshift)
    __add__ = _make_bin_operator('+', 4, operator.add)
    __sub__ = _make_bin_operator('-', 4, operator.sub)
    __mul__ = _make_bin_operator('*', 5, operator.mul)
    __truediv__ = _make_bin_operator('/', 5, operator.truediv)
    __floordiv__ = _make_bin_operator('//', 5, operator.floordiv)
    __mod__ = _make_bin_operator('%', 5, operator.mod)
    __neg__ = _make_un_operator('-', 6, operator.neg)
    __pos__ = _make_un_operator('+', 6, operator.pos)
    __invert__ = _make_un_operator('~', 6, operator.invert)
    __pow__ = _make_bin_operator('**', 7, operator.pow, right_associative=True)

    __ror__ = _flip(__or__)
    __rxor__ = _flip(__xor__)
    __rand__ = _flip(__and__)
    __rlshift__ = _flip(__lshift__)
    __rrshift__ = _flip(__rshift__)
    __radd__ = _flip(__add__)
    __rsub__ = _flip(__sub__)
    __rmul__ = _flip(__mul__)
    __rtruediv__ = _flip(__truediv__)
    __rfloordiv__ = _flip(__floordiv__)
    __rmod__ = _flip(__mod__)
    __rpow__ = _flip(__pow__)


def _eval_expr(v: object) -> tp.Any:
    if isinstance(v, Expr):
        return v.eval()
    if isinstance(v, list):
        return [_eval_expr(x) for x in v]
    if isinstance(v, tuple):
        return tuple(_eval_expr(x) for x in v)
    if isinstance(v, slice):
        return slice(_eval_expr(v.start), _eval_expr(v.stop), _eval_expr(v.step))
    return v


def _repr(v: object) -> str:
    """How messages print a value: an expression as itself, all else as Python does."""
    if isinstance(v, Expr):
        return str(v)
    if isinstance(v, tuple):
        return f'({", ".join(map(_repr, v))}{"," if len(v) == 1 else ""})'
    if isinstance(v, list):
        return f'[{", ".join(map(_repr, v))}]'
    if isinstance(v, dict):
        return f'{{{", ".join(f"{_repr(k)}: {_repr(x)}" for k, x in v.items())}}}'
    return repr(v)


def _str_subscript(exp: object) -> str:
    if isinstance(exp, slice):
        parts = ['' if x is None else str(x) for x in (exp.start, exp.stop, exp.step)]
        return ':'.join(parts if parts[2] else parts[:2])
    if isinstance(exp, tuple):
        return ', '.join(map(_str_subscript, exp))
    return '...' if exp is Ellipsis else _repr(exp)


class Atom(Expr):
    """An expression that never needs parentheses."""

    def __init__(self) -> None:
        super().__init__(8)


class Constant(Atom):
    """A value without a name.

    Args:
        value: The value.
    """

    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value

    def __str__(self) -> str:
        return _repr(self.value)

    def eval(self) -> tp.Any:
        return self.value


class Variable(Atom):
    """A value with a name; `chainer.Variable` is something else.

    Args:
        value: The value.
        name (str): How to print it.
    """

    def __init__(self, value: object, name: str) -> None:
        super().__init__()
        self.value = value
        self.name = name

    def __str__(self) -> str:
        return self.name

    def eval(self) -> tp.Any:
        return self.value


class GetAttr(Atom):
    """An attribute of an expression, ``obj.name``.

    Args:
        obj (Expr): Whose.
        name (str): Which.
    """

    def __init__(self, obj: Expr, name: str) -> None:
        super().__init__()
        self.obj = obj
        self.name = name

    def __str__(self) -> str:
        return f'{self.obj}.{self.name}'

    def eval(self) -> tp.Any:
        return getattr(_eval_expr(self.obj), self.name)


class GetItem(Atom):
    """An item of an expression, ``obj[key]``.

    Args:
        obj (Expr): Whose.
        key: Which; may have expressions in it.
    """

    def __init__(self, obj: Expr, key: object) -> None:
        super().__init__()
        self.obj = obj
        self.key = key

    def __str__(self) -> str:
        return f'{self.obj}[{_str_subscript(self.key)}]'

    def eval(self) -> tp.Any:
        return _eval_expr(self.obj)[_eval_expr(self.key)]


class Call(Atom):
    """A call of an expression, ``obj(*args)``.

    Args:
        obj (Expr): The function expression.
        args (tuple): The arguments; may have expressions in them.
    """

    def __init__(self, obj: Expr, args: tuple) -> None:
        super().__init__()
        self.obj = obj
        self.args = args

    def __str__(self) -> str:
        return f'{self.obj}({", ".join(map(_repr, self.args))})'

    def eval(self) -> tp.Any:
        return _eval_expr(self.obj)(*_eval_expr(self.args))


class UnaryOperator(Expr):
    """An operator before a term.

    Args:
        priority (int): See `Expr`.
        term: An expression or a value.
        exp (str): How the operator is printed.
        func (callable): The function that computes it.
    """

    def __init__(self, priority: int, term: tp.Any, exp: str, func: tp.Callable) -> None:
        super().__init__(priority)
        self.term = term
        self.exp = exp
        self.func = func

    def __str__(self) -> str:
        return self.exp + _parenthesize(self.term, self.priority)

    def eval(self) -> tp.Any:
        return self.func(_eval_expr(self.term))


class BinaryOperator(Expr):
    """An operator between two terms.

    Args:
        priority (int): See `Expr`.
        lhs, rhs: Expressions or values.
        exp (str): How the operator is printed.
        func (callable): The function that computes it.
        right_associative (bool): Whether ``a ^ b ^ c`` is ``a ^ (b ^ c)``.
    """

    def __init__(
        self,
        priority: int,
        lhs: tp.Any,
        rhs: tp.Any,
        exp: str,
        func: tp.Callable,
        right_associative: bool = False,
    ) -> None:
        super().__init__(priority)
        self.lhs = lhs
        self.rhs = rhs
        self.exp = exp
        self.func = func
        self.right_associative = right_associative

    def _eval_left(self) -> tp.Any:
        return _eval_expr(self.lhs)

    def _eval_right(self) -> tp.Any:
        return _eval_expr(self.rhs)

    def __str__(self) -> str:
        # On the side to which it does not associate, an equal priority needs parentheses too.
        left = _parenthesize(self.lhs, self.priority + self.right_associative)
        right = _parenthesize(self.rhs, self.priority + (not self.right_associative))
        return f'{left} {self.exp} {right}'

    def eval(self) -> tp.Any:
        return self.func(self._eval_left(), self._eval_right())


def _parenthesize(x: object, priority: int) -> str:
    return f'({x})' if isinstance(x, Expr) and x.priority < priority else str(x)


class Testable:
    """What `expect` takes."""

    def expect(self) -> None:
        """Raises `InvalidType` if it does not hold."""
        raise NotImplementedError


class BoolBinaryOperator(BinaryOperator, Testable):
    """A comparison.

    Args:
        lhs, rhs: Expressions or values.
        exp (str): How it is printed as the expected condition.
        inv (str): How it is printed as the actual condition.
        func (callable): The function that computes it.
    """

    def __init__(self, lhs: tp.Any, rhs: tp.Any, exp: str, inv: str, func: tp.Callable) -> None:
        super().__init__(-1, lhs, rhs, exp, func)
        self.inv = inv

    def expect(self) -> None:
        left, right = self._eval_left(), self._eval_right()
        if not self.func(left, right):
            expected, actual = str(self), f'{left} {self.inv} {right}'
            raise InvalidType(expected, actual, f'{_where()}Expect: {expected}\nActual: {actual}')


class InvalidType(Exception):
    """The inputs of a function have invalid types.

    Args:
        expect (str): The condition that does not hold.
        actual (str): The same with the values in it.
        msg (str): The message; both of these if None.

    Attributes:
        expect, actual (str): As given.
        link (str or None): Path and class of the link that called the function; links set it while
            the error passes through them.
    """

    link: str | None = None

    def __init__(self, expect: str, actual: str, msg: str | None = None) -> None:
        super().__init__(f'Expect: {expect}\nActual: {actual}' if msg is None else msg)
        self.expect = expect
        self.actual = actual

    def __str__(self) -> str:
        message = self.args[0]
        if self.link is None:
            return message
        if not message.startswith(_FUNCTION):
            return f'\nIn link: {self.link}\n\n{message}'
        where, _, what = message.partition('\n\n')
        return f'{where}\nIn link: {self.link}\n\n{what}'

    def __reduce__(self) -> tuple:
        state = None if self.link is None else {'link': self.link}
        return (type(self), (self.expect, self.actual, self.args[0]), state)


_FUNCTION = '\nInvalid operation is performed in: '


def _where() -> str:
    """The lines of a message that name the function."""
    function = _thread_local.current_function
    if function is None or _thread_local.light_mode:
        return ''
    return f'{_FUNCTION}{function.label} (Forward)\n\n'


def expect(*bool_exprs: object) -> None:
    """Checks conditions.

    In light mode the conditions are plain booleans and the error is empty: the caller of the
    checks runs them again, on expressions, for the message.

    Args:
        *bool_exprs (bool or Testable): Comparisons of expressions; in light mode plain booleans.

    Raises:
        InvalidType: If one does not hold.
        TypeError: For an expression that is no comparison.
    """
    if _thread_local.light_mode:
        for expr in bool_exprs:
            if not expr:
                raise InvalidType('', '')
        return
    for expr in bool_exprs:
        if isinstance(expr, Testable):
            expr.expect()
        elif isinstance(expr, Expr):
            raise TypeError(f'expect: expected a comparison, got {expr}')
        elif not expr:
            raise InvalidType(
                'a condition of the function',
                repr(expr),
                f'{_where()}A condition of the function does not hold',
            )


def same_types(*arrays: object) -> bool:
    """Whether all arrays are of one array library.

    Args:
        *arrays (array): None is of no library.

    Returns:
        bool: True for no arrays.
    """
    for array in arrays:
        if array is None:
            return False
    return environment.is_arrays_compatible(arrays)


def eval(exp: tp.Any) -> tp.Any:
    """The value of an expression; in light mode the argument is the value.

    Args:
        exp (Expr): In light mode, a value.

    Returns:
        The value.
    """
    return exp if _thread_local.light_mode else exp.eval()


def make_variable(value: object, name: str) -> tp.Any:
    """Names a value for use in expressions; in light mode it stays itself.

    Args:
        value: The value.
        name (str): How to print it.

    Returns:
        Variable: Or, in light mode, the value.
    """
    return value if _thread_local.light_mode else Variable(value, name)


def _prod_impl(xs: tp.Iterable) -> tp.Any:
    return functools.reduce(operator.mul, xs, 1)


_prod = Variable(_prod_impl, 'prod')


def prod(xs: tp.Any) -> tp.Any:
    """The product of a sequence, 1 if it is empty.

    Args:
        xs: A sequence, or an expression of one.

    Returns:
        An expression; in light mode a value.
    """
    return _prod_impl(xs) if _thread_local.light_mode else _prod(xs)


def expect_broadcast_shapes(*shape_types: object) -> None:
    """Checks that shapes can be broadcast together.

    Args:
        *shape_types: Shapes, or expressions of such.

    Raises:
        InvalidType: If they can not.
    """
    shapes = [_eval_expr(s) for s in shape_types]
    for dims in itertools.zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1):
        if len({d for d in dims if d != 1}) > 1:
            break
    else:
        return
    lines = [f'{_repr(t)} = {s}' for t, s in zip(shape_types, shapes, strict=True)]
    raise InvalidType(
        f'shapes that can be broadcast: {", ".join(map(_repr, shape_types))}',
        ', '.join(map(str, shapes)),
        '\n'.join([f'{_where()}cannot broadcast inputs of the following shapes:', *lines]),
    )
