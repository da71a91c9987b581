"""Class decorators that put several test classes in the place of one."""

import sys
import typing as tp
from collections.abc import Callable, Iterable


class _TestCaseTuple(tp.NamedTuple):
    klass: type
    module_name: str | None
    class_name: str | None


class _ParameterizedTestCaseBundle:
    """The value of the name of a decorated class: the generated classes, for further decorators.

    Args:
        cases (list of _TestCaseTuple): Each class, and where its module holds it.
    """

    def __init__(self, cases: list[_TestCaseTuple]):
        self.cases = cases


def list_test_methods(cls: type) -> list[str]:
    """Names of the test methods of a class, inherited ones too, in alphabetical order."""
    names = [name for name in dir(cls) if name.startswith('test')]
    return [name for name in names if callable(getattr(cls, name))]


def make_decorator(generate: Callable[[type], Iterable[tuple[str, dict[str, tp.Any]]]]):
    """Makes a class decorator that can be stacked on others of its kind.

    Args:
        generate: From a class, the name and the members of each class derived from it. The
            derived classes are put into the module of the class, where test runners find them.
    """

    def expand(base: type, module_name: str) -> list[_TestCaseTuple]:
        module = sys.modules[module_name]
        cases = []
        for name, members in generate(base):
            cls = type(name, (base,), {'__module__': module_name, **members})
            setattr(module, name, cls)
            cases.append(_TestCaseTuple(cls, module_name, name))
        return cases

    def decorate(target):
        if not isinstance(target, _ParameterizedTestCaseBundle):
            return _ParameterizedTestCaseBundle(expand(target, target.__module__))
        cases = []
        for case in target.cases:
            module_name = case.module_name or case.klass.__module__
            if case.class_name is not None:  # its variants run in its place
                delattr(sys.modules[module_name], case.class_name)
            cases += expand(case.klass, module_name)
        return _ParameterizedTestCaseBundle(cases)

    return decorate
