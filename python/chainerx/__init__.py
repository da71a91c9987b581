"""NumPy-like arrays with gradients, on any device."""

from chainerx._core import *  # noqa: F403
