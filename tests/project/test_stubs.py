"""The type stubs say what the built module has."""

import importlib.util
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def generator():
    pytest.importorskip('nanobind', reason='the stubs are generated with nanobind')
    spec = importlib.util.spec_from_file_location('gen_stubs', ROOT / 'tools' / 'gen_stubs.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_stubs_are_current(generator, monkeypatch):
    import chainerx

    # copyreg leaves it in each class of which an object was to be pickled.
    monkeypatch.setattr(chainerx.Backend, '__slotnames__', [], raising=False)
    for name, text in generator.stubs().items():
        path = generator.FOLDER / name
        assert path.read_text() == text, f'{path}: run {sys.executable} tools/gen_stubs.py'


def test_stubs_name_every_member(generator):
    import chainerx

    text = (generator.FOLDER / '__init__.pyi').read_text()
    for name in vars(chainerx.ndarray):
        known_to_object = hasattr(object, name)
        # The slot of assignment by index brings __delitem__, which only raises.
        if not known_to_object and not name.startswith('__array_') and name != '__delitem__':
            assert f'def {name}(' in text or f'{name}:' in text, name
