"""Parameters of test classes: one class per set of values."""

from __future__ import annotations

import functools
import inspect
import itertools
import random as _random
import typing as tp
import unittest
from collections.abc import Iterable, Iterator, Sequence

from chainer.testing import _bundle

# The arguments of one test, by name.
Parameters: tp.TypeAlias = dict[str, tp.Any]

_MAX_VALUE_LENGTH = 100


def _shorten(text: str, maxlen: int) -> str:
    if len(text) <= maxlen:
        return text
    rest = maxlen - 3
    return f'{text[: rest // 2]}...{text[len(text) - (rest - rest // 2) :]}'


def _param_to_str(obj: object) -> str:
    name = getattr(obj, '__name__', None)
    return name if isinstance(name, str) else repr(obj)


def _make_class_name(base_class_name: str, i_param: int, param: Parameters) -> str:
    values = ', '.join(
        f'{key}={_shorten(_param_to_str(value), _MAX_VALUE_LENGTH)}'
        for key, value in sorted(param.items())
    )
    return f'{base_class_name}_param_{i_param}_{{{values}}}'


def _explain(error: Exception, base: type, method: str, param: Parameters) -> Exception:
    """An error of the same class whose message also tells the parameters."""
    values = ''.join(f'  {key}: {value}\n' for key, value in sorted(param.items()))
    message = (
        'Parameterized test failed.\n\n'
        f'Base test method: {base.__name__}.{method}\n'
        f'Test parameters:\n{values}\n\n'
        f'(caused by)\n{type(error).__name__}: {error}\n'
    )
    try:
        explained = type(error)(message)
    except (
        Exception
    ):  # a class with a constructor of its own keeps its error; the note says the rest
        error.add_note(message)
        return error
    return explained.with_traceback(error.__traceback__)


def _wrap_test(base: type, method: str, param: Parameters):
    test = getattr(base, method)

    @functools.wraps(test)
    def run(self, *args, **kwargs):
        try:
            return test(self, *args, **kwargs)
        except unittest.SkipTest:
            raise
        except Exception as error:
            explained = _explain(error, base, method, param)
            if explained is error:
                raise
            raise explained from error

    return run


def _parameterize_test_case(base: type, i: int, param: Parameters):
    members: Parameters = {}
    for name in _bundle.list_test_methods(base):
        if inspect.isfunction(getattr(base, name)):
            members[name] = _wrap_test(base, name, param)
    for name, value in param.items():
        # A function as a value is called as it stands, without self.
        members[name] = staticmethod(value) if inspect.isfunction(value) else value
    if issubclass(base, unittest.TestCase):
        members['__str__'] = lambda self: f'{base.__str__(self)}  parameter: {param}'
    return _make_class_name(base.__name__, i, param), members


def parameterize(*params: Parameters) -> tp.Any:
    """Class decorator that runs the tests once per dict, its values as attributes of the test.

    Args:
        *params (dict): Attributes of each class. See ``product`` and ``product_dict``.

    The classes are named ``<base>_param_<index>_{<values>}`` and stand in the module of the base.
    An error of a test tells the parameters. Decorators may be stacked, also with
    ``inject_backend_tests`` and ``fix_random``.

    Returns:
        A class decorator.
    """
    return _bundle.make_decorator(
        lambda base: (_parameterize_test_case(base, i, param) for i, param in enumerate(params))
    )


def _values_to_dicts(names: str, values: Iterable[object]) -> list[Parameters]:
    assert isinstance(names, str), f'names must be a str, not {type(names)}'
    keys = names.split(',')

    def to_dict(value):
        if len(keys) == 1:
            return {keys[0]: value}
        assert isinstance(value, (tuple, list)), (
            f'values of {names!r} must be tuples or lists, not {type(value)}'
        )
        assert len(value) == len(keys), f'{names!r} has {len(keys)} names for {value!r}'
        return dict(zip(keys, value, strict=True))

    return [to_dict(value) for value in values]


def from_pytest_parameterize(names: str, values: Iterable[object]) -> list[Parameters]:
    """Dicts for ``parameterize`` from arguments of ``pytest.mark.parametrize``.

    Args:
        names (str): Separated by commas.
        values (iterable): Tuples or lists of values; or values, if there is one name.

    Returns:
        list of dict: One per element of ``values``.

    >>> from_pytest_parameterize('a,b', [(1, 2), (3, 4)])
    [{'a': 1, 'b': 2}, {'a': 3, 'b': 4}]
    """
    return _values_to_dicts(names, values)


def parameterize_pytest(names: str, values: Iterable[object]) -> tp.Any:
    """``parameterize`` with the arguments of ``pytest.mark.parametrize``.

    Args:
        names (str): Separated by commas.
        values (iterable): Tuples or lists of values; or values, if there is one name.

    Returns:
        A class decorator.
    """
    return parameterize(*_values_to_dicts(names, values))


def _product_dict_orig(*parameters: Iterable[Parameters]) -> list[Parameters]:
    """Every union of one dict of each list; a later list wins where keys are the same.

    Args:
        *parameters (iterable of dict): The lists.

    Returns:
        list of dict: The last list changes fastest.

    >>> product_dict([{'a': 1}, {'a': 2}], [{'b': 3}])
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    """
    return [
        {key: value for part in parts for key, value in part.items()}
        for parts in itertools.product(*parameters)
    ]


product_dict = _product_dict_orig


def product(
    parameter: dict[str, Iterable[tp.Any]] | list[Iterable[Parameters]],
) -> list[Parameters]:
    """Every combination of values.

    Args:
        parameter (dict or list): Names (several may share an entry, joined by commas) to values,
            or a list of lists of dicts, as for ``product_dict``.

    Returns:
        list of dict: Attributes for `parameterize`.

    Raises:
        TypeError: If ``parameter`` is neither.

    >>> product({'a,b': [(1, 2)], 'c': [3, 4]})
    [{'a': 1, 'b': 2, 'c': 3}, {'a': 1, 'b': 2, 'c': 4}]
    """
    if isinstance(parameter, dict):
        return product_dict(
            *(_values_to_dicts(names, values) for names, values in sorted(parameter.items()))
        )
    if isinstance(parameter, list):
        lists = [list(part) if isinstance(part, Iterable) else None for part in parameter]
        if not all(part is not None and all(isinstance(d, dict) for d in part) for part in lists):
            raise TypeError('product: a list must be one of lists of dicts')
        return product_dict(*lists)
    raise TypeError(f'parameter must be either dict or list. Actual: {type(parameter)}')


def _nd_indices_to_cover_each_2d(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Few indices of an n-d grid such that any pair of axes shows all its pairs of values.

    Greedy: each index starts from a pair not seen yet, and takes on every other axis the value
    that shows most unseen pairs. The same shape always gives the same indices.
    """
    ndim = len(shape)
    if ndim < 2:
        yield from itertools.product(*map(range, shape))
        return
    unseen = {
        (a, i, b, j)
        for a, b in itertools.combinations(range(ndim), 2)
        for i in range(shape[a])
        for j in range(shape[b])
    }
    if 0 in shape:
        return
    random = _random.Random(0)

    def gain(chosen: dict[int, int], axis: int, value: int) -> int:
        return sum(
            ((a, v, axis, value) if a < axis else (axis, value, a, v)) in unseen
            for a, v in chosen.items()
        )

    while unseen:
        a, i, b, j = min(unseen)
        chosen = {a: i, b: j}
        for axis in range(ndim):
            if axis not in chosen:
                values = list(range(shape[axis]))
                random.shuffle(values)
                chosen[axis] = max(values, key=functools.partial(gain, chosen, axis))
        index = tuple(chosen[axis] for axis in range(ndim))
        unseen -= {(a, index[a], b, index[b]) for a, b in itertools.combinations(range(ndim), 2)}
        yield index


def _pairwise_product_dict_iter(
    *parameters: Iterable[Parameters],
) -> Iterator[Parameters]:
    lists = [list(parameter) for parameter in parameters]
    for index in _nd_indices_to_cover_each_2d([len(dicts) for dicts in lists]):
        yield {k: v for dicts, i in zip(lists, index, strict=True) for k, v in dicts[i].items()}


def _pairwise_product_dict(*parameters: Iterable[Parameters]) -> list[Parameters]:
    """``product_dict`` thinned out: every pair of values occurs, not every combination."""
    return list(_pairwise_product_dict_iter(*parameters))
