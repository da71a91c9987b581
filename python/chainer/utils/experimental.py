"""The warning of experimental features."""

from __future__ import annotations

import sys
import warnings


def experimental(api_name: str) -> None:
    """Warns that a feature may change; to be called by the feature, with its name.

    ``chainer.disable_experimental_feature_warning = True`` turns these warnings off.

    Args:
        api_name (str): Such as ``'chainer.links.Thing'``.
    """
    # Set in the package, which stands above this module.
    if not sys.modules['chainer'].disable_experimental_feature_warning:
        warnings.warn(
            f'{api_name} is experimental. The interface can change in the future.',
            FutureWarning,
            stacklevel=2,
        )
