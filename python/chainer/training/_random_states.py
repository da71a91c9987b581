"""The states of random generators, in snapshots of trainers."""

from __future__ import annotations

import contextlib
import random
import typing as tp

import chainerx
import numpy as np

from chainer.serializer import AbstractSerializer, Deserializer

_NAMES: tp.Final = (
    'numpy_keys',
    'numpy_position',
    'numpy_gauss',
    'chainerx',
    'python_gauss',
    'python_words',
)


def serialize(serializer: AbstractSerializer) -> None:
    """Saves or sets the global generators of NumPy, of chainerx and of Python.

    Snapshots without them, such as those of Chainer v7, leave the generators as they are.

    Args:
        serializer (AbstractSerializer): Where to or from.
    """
    if not isinstance(serializer, Deserializer):
        for name, state in capture().items():
            serializer(name, state)
        return
    states = {}
    for name in _NAMES:
        # All before any is set: where the snapshot is damaged, none has changed.
        with contextlib.suppress(KeyError):
            states[name] = serializer(name, None)
    restore(states)


def capture() -> dict[str, object]:
    """The states of all generators, by name."""
    states: dict[str, object] = {}
    kind, keys, position, has_gauss, gauss = np.random.get_state(legacy=True)
    # Another bit generator than the usual one, which users may set, has a state of its own.
    if kind == 'MT19937':
        states['numpy_keys'] = keys
        states['numpy_position'] = position
        states['numpy_gauss'] = gauss if has_gauss else None
    states['chainerx'] = np.array(chainerx.random.get_state(), np.uint64)
    _, words, states['python_gauss'] = random.getstate()
    states['python_words'] = np.array(words, np.uint32)
    return states


def restore(states: dict[str, tp.Any]) -> None:
    """Restores the generators whose states were captured.

    Args:
        states (dict): The result of `capture`.
    """
    keys, words = states.get('numpy_keys'), states.get('python_words')
    counters = states.get('chainerx')
    if keys is not None:
        gauss = states.get('numpy_gauss')
        cached = (0, 0.0) if gauss is None else (1, _number(gauss))
        np.random.set_state(('MT19937', keys, _number(states['numpy_position']), *cached))
    if counters is not None:
        seed, draws = (int(x) for x in counters)
        chainerx.random.set_state((seed, draws))
    if words is not None:
        gauss = states.get('python_gauss')
        cached_gauss = None if gauss is None else _number(gauss)
        random.setstate((3, tuple(int(x) for x in words), cached_gauss))


def _number(loaded: object) -> tp.Any:
    return np.asarray(loaded).item()
