"""Categories of the warnings that Chainer issues."""


class PerformanceWarning(RuntimeWarning):
    """Something works, but slower than it could.

    Args:
        *args: The message.
    """

    def __init__(self, *args: object) -> None:  # inspect knows none of RuntimeWarning
        super().__init__(*args)
