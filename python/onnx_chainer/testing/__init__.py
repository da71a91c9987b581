"""Helpers for tests of exported models."""

from onnx_chainer.testing import get_test_data_set, input_generator

__all__ = ['get_test_data_set', 'input_generator']
