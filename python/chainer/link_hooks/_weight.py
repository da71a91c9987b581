"""Base of hooks that normalize a weight."""

from __future__ import annotations

import typing as tp

from chainer import link_hook
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike
    from chainer.link_hook import _ForwardPostprocessCallbackArgs, _ForwardPreprocessCallbackArgs


class WeightHook(link_hook.LinkHook):
    """Puts another Variable in the place of a weight for the time of a forward."""

    _is_computed = True

    def __init__(self, weight_name: str, name: str | None) -> None:
        self.weight_name = weight_name
        self._originals: list[Variable] = []
        if name is not None:
            self.name = name

    def normalize_weight(self, link: tp.Any) -> Variable:
        """Compute the Variable that is used instead of the weight."""
        raise NotImplementedError

    def __enter__(self) -> tp.NoReturn:
        raise NotImplementedError(
            f'This hook is not supposed to be used as context manager. ({self.name}: give it to a '
            'link with add_hook)'
        )

    def __exit__(self, *_: object) -> tp.NoReturn:
        raise NotImplementedError

    def added(self, link: tp.Any | None) -> None:
        if not isinstance(getattr(link, self.weight_name, None), Parameter):
            raise ValueError(
                f"Weight '{self.weight_name}' does not exist! ({self.name} added to "
                f'{type(link).__name__})'
            )

    def forward_preprocess(self, args: _ForwardPreprocessCallbackArgs) -> None:
        link: tp.Any = args.link
        weight = used = getattr(link, self.weight_name)
        if isinstance(weight, Parameter):  # else the link calls itself
            if not weight.is_initialized:
                size = getattr(link, '_in_size_of', _channels)(*args.args, **args.kwargs)
                link._initialize_params(size)
            self.original_weight = weight
            used = self.normalize_weight(link)
        # A stack, for such a link, and because one hook may serve several links.
        self._originals.append(weight)
        setattr(link, self.weight_name, used)

    def forward_postprocess(self, args: _ForwardPostprocessCallbackArgs) -> None:
        self._restore(args.link)

    def _forward_aborted(self, link: object) -> None:
        self._restore(link)

    def _restore(self, link: object) -> None:
        setattr(link, self.weight_name, self._originals.pop())


def _channels(x: VariableLike, *_: object, **__: object) -> int:
    return x.shape[1]
