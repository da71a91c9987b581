"""Categories of the warnings that Chainer issues."""


class PerformanceWarning(RuntimeWarning):
    """Something works, but slower than it could."""
