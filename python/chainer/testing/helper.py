"""Helpers on warnings, requirements and replaced objects."""

import contextlib
import importlib
import importlib.metadata
import sys
import typing as tp
import unittest
import unittest.mock
import warnings
from collections.abc import Iterator


def run_module(name: str, file: str) -> None:
    """Runs the tests of a file with pytest if it is the main program.

    Args:
        name (str): ``__name__``.
        file (str): ``__file__``.
    """
    if name == '__main__':
        import pytest

        pytest.main([file, '-vvs', '-x', '--pdb'])


@contextlib.contextmanager
def assert_warns(expected: type[Warning]) -> Iterator[None]:
    """Raises AssertionError unless a warning of the class is issued inside.

    Args:
        expected (type): The class of the warning; those derived from it will do.

    Yields:
        None: Warnings inside are not shown.

    Raises:
        AssertionError: If no such warning was issued.
    """
    # A warning is shown once per place; the records of places must not hide it.
    for module in list(sys.modules.values()):
        registry = getattr(module, '__warningregistry__', None)
        if isinstance(registry, dict):
            registry.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        yield
    if any(isinstance(warning.message, expected) for warning in caught):
        return
    others = ', '.join(sorted({type(warning.message).__name__ for warning in caught}))
    raise AssertionError(
        f'{expected.__name__} not triggered' + (f', only {others}' if others else '')
    )


def _is_satisfied(requirement: str) -> bool:

    try:
        from packaging.requirements import InvalidRequirement, Requirement
    except ImportError:
        raise RuntimeError(
            f'the package packaging is needed to understand the requirement {requirement!r}'
        ) from None
    try:
        parsed = Requirement(requirement)
    except InvalidRequirement as error:
        raise ValueError(f'invalid requirement {requirement!r}: {error}') from error
    try:
        version = importlib.metadata.version(parsed.name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return parsed.specifier.contains(version, prereleases=True)


def _are_satisfied(requirements: tuple[str, ...]) -> bool:
    # All are evaluated, so that a malformed one is an error wherever it stands.
    return all([_is_satisfied(requirement) for requirement in requirements])


def with_requires(*requirements: str) -> tp.Any:
    """Decorator that skips a test unless all the packages are there.

    Args:
        *requirements (str): As for pip, such as ``'scipy>=1.0'``.

    Returns:
        A decorator of tests.

    >>> @with_requires('numpy>=1.0')
    ... def test_something():
    ...     pass
    """
    return unittest.skipUnless(_are_satisfied(requirements), f'requires: {",".join(requirements)}')


def without_requires(*requirements: str) -> tp.Any:
    """Decorator that skips a test if all the packages are there.

    Args:
        *requirements (str): As for pip, such as ``'scipy>=1.0'``.

    Returns:
        A decorator of tests.
    """
    return unittest.skipIf(_are_satisfied(requirements), f'requires: {",".join(requirements)}')


def _import_object_from_name(fullname: str) -> tp.Any:
    """The object of a dotted name: modules first, then attributes."""
    parts = fullname.split('.')
    for n in range(len(parts), 0, -1):
        try:
            obj: tp.Any = importlib.import_module('.'.join(parts[:n]))
        except ModuleNotFoundError as error:
            # A module that is there but lacks one of its own imports is another error.
            if error.name is None or not fullname.startswith(error.name):
                raise
            continue
        for part in parts[n:]:
            obj = getattr(obj, part)
        return obj
    raise ImportError(f'there is no module or object {fullname!r}')


def patch(target: str, *args: object, **kwargs: tp.Any) -> tp.Any:
    """``unittest.mock.patch`` whose mock still calls the object that it replaces.

    Args:
        target (str): Dotted name.
        *args, **kwargs: As for ``unittest.mock.patch``; ``wraps=None`` gives an ordinary mock.

    Returns:
        The result of ``unittest.mock.patch``: a context manager, and a decorator.
    """
    own = args or kwargs.keys() & {'new', 'new_callable'}
    if not own:
        kwargs.setdefault('wraps', _import_object_from_name(target))
    return unittest.mock.patch(target, *args, **kwargs)
