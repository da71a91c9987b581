"""Arrays that a step makes of Python's numbers."""

import chainerx as chx
import numpy as np
import pytest

MADE = {
    'number': lambda: chx.array(3),
    'float': lambda: chx.asarray(2.5),
    'complex': lambda: chx.array(2j),
    'NumPy': lambda: chx.array(np.float64(2)),
    'bool': lambda: chx.array([True, False]),
    'list': lambda: chx.array([[1, 2], [3, 4]], 'float32'),
    'list of scalars': lambda: chx.array([np.int16(3), np.int16(4)]),
    'float16': lambda: chx.array([1, 2, 3], 'float16'),
    'empty': lambda: chx.array([], 'int32'),
}


@pytest.mark.parametrize('name', MADE)
def test_numbers_become_arrays(name):
    make = MADE[name]
    for device in ('native:0', 'native:1'):
        step = chx.capture(lambda x: (make(), x + 1))
        for i in range(7):
            with chx.using_device(device):
                y, _ = step(chx.full((2,), i, 'float32'))
                expected = make()
            assert (y.dtype, y.shape, y.device) == (expected.dtype, expected.shape, expected.device)
            np.testing.assert_array_equal(chx.to_numpy(y), chx.to_numpy(expected))
            if y.dtype != bool:
                y += y  # it is the caller's own
        assert step.info()[0].replays == 4


def test_numbers_that_differ():
    held = [1]
    step = chx.capture(lambda x: x * chx.array(held))

    def run():
        for i in range(6):
            held[0] = i
            step(chx.ones(1))

    with pytest.raises(chx.CaptureError, match=r'array of the host .*: element 0 was 3, now 4'):
        run()


def test_numbers_that_change_later():
    held = [1, 2]
    step = chx.capture(lambda x: x * chx.array(held))
    for i in range(10):
        held[1] = 2 if i < 5 else 9
        assert step(chx.ones(2)).tolist() == [1, held[1]]
    assert step.info()[0].replays == 4
