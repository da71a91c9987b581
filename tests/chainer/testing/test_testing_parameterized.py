"""`chainer.testing.parameterize` and similar: the generated tests and their failures."""

import subprocess
import sys
import textwrap
import types
import unittest

import numpy as np
import pytest
from chainer import testing
from chainer.testing import _bundle, parameterized


@pytest.fixture
def module(monkeypatch):
    """A module that test classes are added to."""
    module = types.ModuleType('module_of_generated_tests')
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def define(module, source):
    exec(textwrap.dedent(source), vars(module))
    return module


def run_all(module):
    """Runs the TestCases of a module; returns counts of runs, failures, errors and skips."""
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromModule(module).run(result)
    return result.testsRun, len(result.failures), len(result.errors), len(result.skipped)


def generated(module):
    return sorted(name for name in vars(module) if name.startswith('Test') and '_' in name)


HEAD = """
    import unittest
    import numpy as np
    from chainer import testing
"""


def test_names_places_and_values(module):
    define(
        module,
        HEAD
        + """
    def twice(x):
        return 2 * x

    class Base(unittest.TestCase):
        def test_inherited(self):
            pass

    @testing.parameterize({'a': 1, 'b': 'x'}, {'a': np.float32, 'b': twice}, {'b': None})
    class TestA(Base):
        a = 'default'

        def test_it(self):
            pass

        def helper(self):
            return self.a
    """,
    )
    assert generated(module) == [
        "TestA_param_0_{a=1, b='x'}",
        'TestA_param_1_{a=float32, b=twice}',
        'TestA_param_2_{b=None}',
    ]
    bundle = module.TestA
    assert type(bundle) is _bundle._ParameterizedTestCaseBundle
    assert [(c.klass, c.module_name, c.class_name) for c in bundle.cases] == [
        (vars(module)[name], module.__name__, name) for name in generated(module)
    ]
    first, second, third = (case.klass for case in bundle.cases)
    assert first.__module__ == module.__name__
    assert issubclass(first, unittest.TestCase)
    assert (first.a, first.b) == (1, 'x')
    assert second('test_it').b(21) == 42  # a function stays a value, and does not become a method
    assert third('test_it').helper() == 'default'
    assert "parameter: {'a': 1, 'b': 'x'}" in str(first('test_it'))
    # Each class has its own test and the inherited one; Base runs, too.
    assert run_all(module) == (7, 0, 0, 0)


def test_long_values_are_shortened():
    name = parameterized._make_class_name('T', 3, {'a': 'y' * 300, 'b': len})
    assert name.startswith("T_param_3_{a='yyy")
    assert name.endswith('..., b=len}') or '...' in name
    assert len(name) < 130
    assert parameterized._shorten('abcdefghijklm', 8) == 'ab...klm'
    assert parameterized._shorten('abcdefgh', 8) == 'abcdefgh'


def test_stacked(module):
    define(
        module,
        HEAD
        + """
    @testing.parameterize(*testing.product({'x': [1, 2]}))
    @testing.parameterize(*testing.product({'y': [3, 4, 5]}))
    class TestA(unittest.TestCase):
        def test_it(self):
            assert (self.x, self.y) != (2, 5)
    """,
    )
    assert len(module.TestA.cases) == 6
    assert generated(module)[0] == 'TestA_param_0_{y=3}_param_0_{x=1}'
    assert len(generated(module)) == 6  # those of only one decorator are absent
    assert run_all(module) == (6, 1, 0, 0)


def test_a_failure_tells_the_parameters(module):
    define(
        module,
        HEAD
        + """
    class Odd(Exception):
        def __init__(self, a, b):
            super().__init__(a, b)

    @testing.parameterize({'a': 1})
    class TestA(unittest.TestCase):
        def test_assert(self):
            self.assertEqual(1, 2)

        def test_key(self):
            raise KeyError('k')

        def test_odd(self):
            raise Odd(1, 2)

        def test_skip(self):
            self.skipTest('s')

        @unittest.expectedFailure
        def test_expected(self):
            raise AssertionError
    """,
    )
    cls = module.TestA.cases[0].klass
    with pytest.raises(AssertionError) as info:
        cls('test_assert').test_assert()
    message = str(info.value)
    assert message.startswith('Parameterized test failed.')
    assert 'Base test method: TestA.test_assert\nTest parameters:\n  a: 1\n' in message
    assert 'AssertionError: 1 != 2' in message
    assert str(info.value.__cause__) == '1 != 2'
    with pytest.raises(KeyError, match=r'TestA\.test_key'):
        cls('test_key').test_key()
    # An error class that can't be built from a message is kept as it is.
    with pytest.raises(module.Odd) as info:
        cls('test_odd').test_odd()
    assert info.value.args == (1, 2)
    assert 'Base test method: TestA.test_odd' in info.value.__notes__[0]
    assert run_all(module) == (5, 1, 2, 1)


def test_product():
    assert testing.product({'b': [1, 2], 'a': [3, 4]}) == [
        {'a': 3, 'b': 1},
        {'a': 3, 'b': 2},
        {'a': 4, 'b': 1},
        {'a': 4, 'b': 2},
    ]
    assert testing.product({'a,b': [(1, 2), (3, 4)], 'c': [5]}) == [
        {'a': 1, 'b': 2, 'c': 5},
        {'a': 3, 'b': 4, 'c': 5},
    ]
    assert testing.product([[{'a': 1}, {'a': 2}], [{'b': 1}]]) == [
        {'a': 1, 'b': 1},
        {'a': 2, 'b': 1},
    ]
    assert testing.product({}) == testing.product([]) == [{}]
    assert testing.product({'a': []}) == []
    for wrong in (3, 'a', ({'a': 1},), None):
        with pytest.raises(TypeError, match='must be either dict or list'):
            testing.product(wrong)
    for wrong in ([1, 2], [[1]], [('a', [1])], [{'a': 1}]):
        with pytest.raises(TypeError, match='must be one of lists of dicts'):
            testing.product(wrong)


def test_product_dict():
    product = testing.product_dict([{'a': 1}, {'a': 2}], [{'b': 1}, {'b': 3, 'a': 0}])
    assert product == [{'a': 1, 'b': 1}, {'a': 0, 'b': 3}, {'a': 2, 'b': 1}, {'a': 0, 'b': 3}]
    assert testing.product_dict() == [{}]
    assert parameterized.product_dict is parameterized._product_dict_orig


def test_pytest_style(module):
    assert testing.from_pytest_parameterize('a,b', [(1, 2), (3, 4)]) == [
        {'a': 1, 'b': 2},
        {'a': 3, 'b': 4},
    ]
    assert testing.from_pytest_parameterize('a', [(1,)]) == [{'a': (1,)}]
    for names, values in (('a,b', [(1,)]), ('a,b', [1]), (['a', 'b'], [(1, 2)])):
        with pytest.raises(AssertionError):
            testing.from_pytest_parameterize(names, values)
    define(
        module,
        HEAD
        + """
    @testing.parameterize_pytest('a,b', [(1, 2), (3, 4)])
    class TestA(unittest.TestCase):
        def test_it(self):
            assert self.a + 1 == self.b
    """,
    )
    assert generated(module) == ['TestA_param_0_{a=1, b=2}', 'TestA_param_1_{a=3, b=4}']
    assert run_all(module) == (2, 0, 0, 0)


def test_lists_of_values_for_several_names(module):
    expected = [{'a': 1, 'b': 2}, {'a': [3], 'b': 4}]
    for values in ([[1, 2], [[3], 4]], [(1, 2), [[3], 4]], ([1, 2], ([3], 4))):
        assert testing.product({'a,b': values}) == expected
        assert testing.from_pytest_parameterize('a,b', values) == expected
    define(
        module,
        HEAD
        + """
    @testing.parameterize_pytest('a,b', [[1, 2], [3, 4]])
    class TestA(unittest.TestCase):
        def test_it(self):
            assert self.a + 1 == self.b
    """,
    )
    assert run_all(module) == (2, 0, 0, 0)


@pytest.mark.parametrize(
    'sizes', [(2, 3, 2), (3, 4, 2), (2, 2, 2, 2), (5,), (3, 1), (4, 4, 4, 4, 4)]
)
def test_pairwise_product_has_every_pair(sizes):
    lists = [[{f'k{k}': i} for i in range(n)] for k, n in enumerate(sizes)]
    thin = parameterized._pairwise_product_dict(*lists)
    full = parameterized._product_dict_orig(*lists)
    assert all(case in full for case in thin)
    assert len(thin) == len({tuple(case.items()) for case in thin})

    def pairs(cases):
        return {(a, case[a], b, case[b]) for case in cases for a in case for b in case if a < b}

    assert pairs(thin) == pairs(full)
    if len(sizes) > 3:
        assert len(thin) < len(full) / 1.3
    assert parameterized._pairwise_product_dict(*lists) == thin


def test_pairwise_product_of_nothing():
    assert parameterized._pairwise_product_dict() == [{}]
    assert parameterized._pairwise_product_dict([{'a': 1}], []) == []


def test_under_pytest(tmp_path):
    """Generated tests run under pytest, with plain classes, fixtures, marks and decorators."""
    path = tmp_path / 'test_generated.py'
    path.write_text(
        textwrap.dedent(
            """
            import unittest
            import numpy as np
            import pytest
            from chainer import testing

            @testing.parameterize({'a': 1}, {'a': 2})
            @testing.inject_backend_tests(['test_backend'], [{}, {'cudnn_deterministic': True}])
            class TestPlain:
                @pytest.fixture
                def three(self):
                    return 3

                def test_backend(self, backend_config):  # 4 runs
                    assert backend_config.device.name == '@numpy'

                def test_fixture(self, three):  # 2 runs
                    assert three == 3 and self.a in (1, 2)

                @pytest.mark.parametrize('q', [1, 2])
                def test_marked(self, q):  # 4 runs
                    assert q

            @testing.fix_random()
            class TestRandom(unittest.TestCase):
                def test_it(self):  # 1 run
                    assert np.random.rand() == np.random.RandomState(100).rand()

            @testing.parameterize({'a': 1}, {'a': 2})
            @testing.fix_random(setup_method='setup_method', teardown_method='teardown_method')
            class TestRandomPlain:
                def test_it(self):  # 2 runs, of which 1 fails
                    assert np.random.rand() == np.random.RandomState(100).rand()
                    assert self.a == 1

            testing.run_module(__name__, __file__)
            """
        )
    )
    result = subprocess.run(
        [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', str(path)],
        capture_output=True,
        text=True,
    )
    assert '1 failed, 12 passed' in result.stdout, result.stdout + result.stderr
    assert 'Test parameters:' in result.stdout
    assert np.random.rand() != np.random.RandomState(100).rand()
