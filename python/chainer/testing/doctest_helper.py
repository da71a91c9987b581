"""Conditions for ``:skipif:`` of documents."""

from chainer.testing import attr, helper


def skipif(condition):
    """The condition, as it stands."""
    return condition


def skipif_requires_satisfied(*requirements: str) -> bool:
    """True if all the packages are there. Requirements are written as for pip."""
    return helper._are_satisfied(requirements)


def skipif_not_enough_cuda_devices(device_count: int) -> bool:
    """True if ``CHAINER_TEST_GPU_LIMIT`` allows fewer devices."""
    return 0 <= attr._gpu_limit < device_count
