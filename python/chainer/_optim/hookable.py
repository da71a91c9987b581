"""Lists of hooks that run before and after an update."""

from __future__ import annotations

import typing as tp
import warnings

Timing = tp.Literal['pre', 'post', 'auto']
Hook = tp.Callable[..., tp.Any]

_TIMINGS: tp.Final = ('pre', 'post')


class _Hookable:
    """The hooks of an update rule."""

    def __init__(self) -> None:
        self._pre_update_hooks: dict[str, Hook] = {}
        self._post_update_hooks: dict[str, Hook] = {}

    def __bool__(self) -> bool:
        return bool(self._pre_update_hooks or self._post_update_hooks)

    def add_hook(self, hook: Hook, name: str | None = None, timing: str = 'auto') -> None:
        """Adds a hook.

        Args:
            hook (callable): May have attributes ``name`` and ``timing``.
            name (str): Default: the hook's attribute ``name``, or that of the function.
            timing (str): ``'pre'``, ``'post'``, or ``'auto'``: the timing of the hook, else
                ``'pre'``.

        Raises:
            KeyError: If there is a hook of that name.
            ValueError: If there is no name at all.
        """
        if not callable(hook):
            raise TypeError('hook function must be callable')
        if timing not in (*_TIMINGS, 'auto'):
            raise ValueError("timing must be one of ('pre', 'post', 'auto')")
        if timing == 'auto':
            timing = getattr(hook, 'timing', 'pre')
            if timing not in _TIMINGS:
                warnings.warn(
                    "Hook timing attribute not in ('pre', 'post'), defaulting timing to 'pre'.",
                    stacklevel=3,
                )
                timing = 'pre'
        if name is None:
            name = getattr(hook, 'name', None)
        if name is None:
            name = getattr(hook, '__name__', None)
        if name is None:
            raise ValueError(
                f'add_hook: the hook, a {type(hook).__name__}, has no name; give it an attribute '
                'name, or pass one'
            )
        if name in self._pre_update_hooks or name in self._post_update_hooks:
            raise KeyError(f'hook "{name}" already exists')
        self._of(timing)[name] = hook

    def remove_hook(self, name: str) -> None:
        """Removes a hook by its name.

        Raises:
            KeyError: If there is none.
        """
        for hooks in (self._pre_update_hooks, self._post_update_hooks):
            if name in hooks:
                del hooks[name]
                return
        raise KeyError(name)

    def call_hooks(self, timing: str, args: tuple[tp.Any, ...]) -> None:
        """Calls the hooks of a timing, in the order in which they were added."""
        for hook in tuple(self._of(timing).values()):
            self.call_hook(hook, args)

    def call_hook(self, hook: Hook, args: tuple[tp.Any, ...]) -> None:
        """Calls one hook."""
        hook(*args)

    def _of(self, timing: str) -> dict[str, Hook]:
        if timing not in _TIMINGS:
            raise ValueError("timing must be either 'pre' or 'post'")
        return self._pre_update_hooks if timing == 'pre' else self._post_update_hooks


class _OptimizerHookable(_Hookable):
    """The hooks of an optimizer, which says how each is called."""

    def __init__(self, optimizer: tp.Any) -> None:
        super().__init__()
        self.optimizer = optimizer

    def call_hook(self, hook: Hook, args: tuple[tp.Any, ...]) -> None:
        self.optimizer.call_hook(hook)
