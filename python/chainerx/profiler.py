"""How often kernels are called, and how long they take.

with chainerx.profiler.profile() as profile:
    y = model(x)
    y.backward()
print(profile)
"""

from __future__ import annotations

import typing as tp

from chainerx._core import kernels as _kernels

__all__ = ['Profile', 'Row', 'profile']


class Row(tp.NamedTuple):
    """What one kernel took."""

    #: The name of the kernel, as in ``cpp/chainerx/kernels``.
    name: str
    #: The family that it belongs to.
    family: str
    #: How often it was called.
    calls: int
    #: Seconds, with the kernels that it called itself.
    total: float
    #: Seconds, without.
    self_time: float


class Profile:
    """Counts and times the calls of kernels of all devices and threads; a context manager.

    While none is active, a call costs nothing more; while one is, some hundred nanoseconds.

    Args:
        synchronize (bool): Wait for the device after each call. Without, a kernel of an
            asynchronous device counts for the time that it takes to launch it.
    """

    def __init__(self, *, synchronize: bool = False) -> None:
        self._hook = _kernels.Profiler(synchronize)

    def __enter__(self) -> tp.Self:
        self._hook.install()
        return self

    def __exit__(self, *_: object) -> None:
        self._hook.remove()

    @property
    def rows(self) -> list[Row]:
        """A :class:`Row` for each kernel that was called; the longest ``self_time`` first."""
        return [Row(*row) for row in self._hook.rows()]

    def reset(self) -> None:
        """Forgets what was counted."""
        self._hook.reset()

    def __str__(self) -> str:
        lines = [f'{"kernel":<28}{"calls":>10}{"total ms":>12}{"self ms":>12}']
        for r in self.rows:
            lines.append(
                f'{r.name:<28}{r.calls:>10}{r.total * 1e3:>12.3f}{r.self_time * 1e3:>12.3f}'
            )
        return '\n'.join(lines)


def profile(*, synchronize: bool = False) -> Profile:
    """Counts and times the kernels that run in a block.

    Args:
        synchronize (bool): Whether devices are waited for after each kernel.
    Returns:
        Profile: To be entered with ``with``.
    """
    return Profile(synchronize=synchronize)
