"""Extensions, which a trainer calls between updates; functions can be extensions, too."""

from __future__ import annotations

import types
import typing as tp

if tp.TYPE_CHECKING:
    from chainer._typing import AnyCallable, TriggerLike
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer

PRIORITY_WRITER: tp.Final = 300
PRIORITY_EDITOR: tp.Final = 200
PRIORITY_READER: tp.Final = 100


class Extension:
    """Base of extensions, which a trainer calls after an update when their trigger fires.

    Any callable that takes a trainer is an extension too; the trainer reads those of the attributes
    below that it has.

    Attributes:
        trigger: When it is called, unless `Trainer.extend` is told otherwise; any argument of
            `get_trigger`.
        priority (int): Extensions of high priority are called first: those that write to the
            observation (`PRIORITY_WRITER`), those that change it (`PRIORITY_EDITOR`), those that
            read it (`PRIORITY_READER`).
        name (str): Its name in the trainer; None before it has one.
    """

    trigger: tp.Any = (1, 'iteration')
    priority: int = PRIORITY_READER
    name: str | None = None

    @property
    def default_name(self) -> str:
        """The name that a trainer gives when it is told none: that of the class."""
        return type(self).__name__

    def __call__(self, trainer: Trainer) -> tp.Any:
        """Runs the extension. Overridden.

        Args:
            trainer (Trainer): The caller.
        """
        raise NotImplementedError('Extension implementation must override __call__.')

    def initialize(self, trainer: Trainer) -> None:
        """Called once, before the training loop and after a snapshot was loaded.

        Args:
            trainer (Trainer): The caller.
        """

    def on_error(self, trainer: Trainer, exc: Exception, tb: types.TracebackType | None) -> None:
        """Called when the training loop ends by an exception, before `finalize`.

        Args:
            trainer (Trainer): The caller.
            exc (Exception): The exception.
            tb (traceback): Its traceback.
        """

    def finalize(self) -> None:
        """Called once when the training loop has ended, however it did."""

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the state of the extension; nothing by default.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """


_Callable = tp.TypeVar('_Callable', bound=tp.Callable[..., tp.Any])


def make_extension(
    trigger: TriggerLike | None = None,
    default_name: str | None = None,
    priority: int | None = None,
    finalizer: tp.Callable[[], object] | None = None,
    initializer: tp.Callable[[Trainer], object] | None = None,
    on_error: AnyCallable | None = None,
    **kwargs: object,
) -> tp.Callable[[_Callable], _Callable]:
    """A decorator that gives a function the attributes of an extension.

    Args:
        trigger: When it is called; default: each iteration.
        default_name (str): Its name where `Trainer.extend` is told none; default: its own.
        priority (int): See `Extension`; default: `PRIORITY_READER`.
        finalizer (callable): Called without arguments after the training loop.
        initializer (callable): Called with the trainer before the training loop.
        on_error (callable): Called with trainer, exception and traceback when the loop fails.
        **kwargs: None is known.

    Returns:
        callable: It takes the function and gives it back.

    Raises:
        ValueError: For ``invoke_before_training``, which v2 removed.
        TypeError: For another unknown name.

    >>> from chainer import training
    >>> @training.make_extension(trigger=(10, 'epoch'), priority=training.PRIORITY_WRITER)
    ... def halve(trainer):
    ...     trainer.updater.get_optimizer('main').lr /= 2
    >>> halve.trigger
    (10, 'epoch')
    """
    refuse('make_extension', kwargs)

    def decorator(function: _Callable) -> _Callable:
        attributes = {
            'trigger': Extension.trigger if trigger is None else trigger,
            'default_name': default_name or getattr(function, '__name__', None),
            'priority': Extension.priority if priority is None else priority,
            'finalize': finalizer,
            'on_error': on_error,
            'initialize': initializer,
        }
        for key, value in attributes.items():
            setattr(function, key, value)
        return function

    return decorator


def refuse(name: str, kwargs: dict[str, tp.Any]) -> None:
    """Raises for arguments that a function does not have."""
    if 'invoke_before_training' in kwargs:
        raise ValueError(
            f'{name}: invoke_before_training has been removed since Chainer v2.0.0. Use '
            'initializer= of make_extension, or call_before_training= of Trainer.extend, instead.'
        )
    if kwargs:
        names = ', '.join(repr(key) for key in kwargs)
        raise TypeError(f'{name}() got unexpected keyword argument(s) {names}')
