"""Helpers that run test cases of chainer.testing directly."""

CONFIGS = ({}, {'use_chainerx': True, 'chainerx_device': 'native:0'})


def run(cls, test, config):
    getattr(cls(f'test_{test}'), f'test_{test}')(config)


FUNCTION_TESTS = ('forward', 'backward', 'double_backward')


def make(base, **members):
    return type('Case', (base,), members)
