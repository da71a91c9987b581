"""Random numbers that only Python draws in a captured step: a replay would leave them out."""

from __future__ import annotations

import random
import typing as tp

import numpy as np

from chainerx._core import engine


def is_generator(cls: type) -> bool:
    """Whether instances of a class draw random numbers on the host."""
    # No constant of the module, for NumPy imports np.random, which takes 10 ms, at its first use.
    return issubclass(cls, (random.Random, np.random.RandomState, np.random.Generator))


class Draws:
    """Looks for draws from a time on, of those that all programs share and of some others.

    Args:
        others (list): Generators of Python and of NumPy.
    """

    def __init__(self, others: list[object]) -> None:
        # Python's own functions are methods of one instance.
        shared = tp.cast(tp.Any, random.random).__self__, np.random.mtrand._rand
        self._shared = shared[1]
        self._states = {id(g): (g, _state_of(g)) for g in (*shared, *others)}

    def leave_out(self, function: tp.Callable[[], tp.Any]) -> tp.Any:
        """What a function returns that replays call, too: it may draw from any generator."""
        before = {key: _state_of(generator) for key, (generator, _) in self._states.items()}
        result = function()
        for key, state in before.items():
            if not _is_same(state, _state_of(self._states[key][0])):
                del self._states[key]
        return result

    def check(self) -> None:
        """Raises doubts about the step that is recorded if a replay would draw other numbers."""
        for generator, before in self._states.values():
            now = _state_of(generator)
            # The shared one may be where it was because the step has seeded it.
            is_fine = _is_drawn_again if generator is self._shared else _is_same
            if is_fine(before, now):
                continue
            engine.doubt_capture(
                f'the state of {_name_of(generator)} changes within the step (or meanwhile in '
                'another thread, which needs a generator of its own), as a replay would not do; '
                'draw before the step, and pass the numbers as arguments, or use chainerx.random'
            )
            return


def _is_drawn_again(before: tp.Any, now: object) -> bool:
    """Whether what a replay draws for functions of chainer has just that effect."""
    generator = np.random.mtrand._rand
    state = generator.get_state(legacy=False)
    generator.set_state(before)
    try:
        if not engine.capture_draw_again():
            return True  # by a function of the program, such as one of gradient noise
        return _is_same(generator.get_state(legacy=False), now)
    finally:
        generator.set_state(state)


def _state_of(generator: object) -> object:
    # By the methods of NumPy and Python: those of a subclass may do anything.
    if isinstance(generator, random.Random):
        return random.Random.getstate(generator)
    if isinstance(generator, np.random.RandomState):
        return np.random.RandomState.get_state(generator, legacy=False)
    return tp.cast(np.random.Generator, generator).bit_generator.state


def _is_same(a: object, b: object) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_is_same(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.tobytes() == b.tobytes()
    return a == b


def _name_of(generator: object) -> str:
    if generator is np.random.mtrand._rand:
        return 'numpy.random'
    if generator is tp.cast(tp.Any, random.random).__self__:
        return "Python's random"
    return f'a {type(generator).__name__}'
