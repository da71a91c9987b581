"""Parameters of 16 bits that are updated in float32, all at once."""

import json

import pytest

PROGRAM = """
import ctypes, json
import chainer, chainerx
import numpy as np
from chainer import optimizers

SHAPES = [(), (3,), (0, 4), (33, 35)]

def train(device, dtype):
    rng = np.random.RandomState(0)
    draw = lambda shape, dtype: chainerx.array(
        np.asarray(rng.randn(*shape), 'f'), device=device).astype(dtype)
    model = chainer.Link()
    with model.init_scope():
        for i in range(90):
            given = draw(SHAPES[i % 4], dtype if i % 9 else 'float32')
            setattr(model, f'p{i}', chainer.Parameter(given))
    optimizer = optimizers.MomentumSGD(2.0**-13, 0.8)
    optimizer.use_fp32_update()
    optimizer.setup(model)
    driver = ctypes.CDLL('libcuda.so.1') if 'cuda' in device else None
    for step in range(4):
        for param in model.params():
            param.grad = draw(param.shape, param.dtype)
        if step == 2:
            model.p3.array[:] = 7
            model.p7.array[0] = np.nan
        if driver and step == 3:
            driver.cx_test_log_launches(True)
        optimizer.update()
    n = driver.cx_test_launches(None, 0) if driver else 0
    text = ctypes.create_string_buffer(n)
    if driver:
        driver.cx_test_launches(text, n)
        driver.cx_test_log_launches(False)
    arrays = [p.array for p in model.params()]
    arrays += [r._fp32_param.array for p in model.params()
               if (r := p.update_rule)._fp32_param is not None]
    assert len(arrays) == 170
    assert all(p.update_rule.state['v'].dtype == 'float32' for p in model.params())
    arrays = [chainerx.to_numpy(x.astype('float32')) for x in arrays]
    return arrays, text.raw.decode().splitlines()

for dtype in ('float16', 'bfloat16'):
    expected, _ = train('native:0', dtype)
    got, launches = train('cuda:0', dtype)
    for x, y in zip(expected, got, strict=True):
        assert x.tobytes() == y.tobytes(), (dtype, x, y)
    print(json.dumps(launches))
"""


@pytest.mark.parametrize('order', ['forward', 'random:7'])
def test_updates_in_float32_have_native_bits_and_few_launches(run, order):
    for line in run(PROGRAM, ORDER=order).splitlines():
        names = [name.split('_')[0] for name in json.loads(line)]
        assert names == ['CastAll', 'CastAll', 'UpdateParameters', 'CastAll']
