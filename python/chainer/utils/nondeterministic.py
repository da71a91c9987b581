"""The warning of results that may differ from run to run."""

from __future__ import annotations

import warnings

from chainer import configuration


def nondeterministic(f_name: str) -> None:
    """Warns if ``config.warn_nondeterministic`` is set; to be called by code whose results vary.

    Args:
        f_name (str): Where it is.
    """
    if configuration.config.warn_nondeterministic:
        warnings.warn(
            'Potentially non-deterministic code is being executed while '
            f'config.warn_nondeterministic set. Source: {f_name}',
            stacklevel=2,
        )
