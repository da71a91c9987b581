"""`Link`: parameters with names, and all walks over trees of links.

The public module is `chainer.link`, which has the links with children.
"""

from __future__ import annotations

import contextlib
import copy
import typing as tp
import warnings
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType

import numpy as np
from chainerx._core import engine

from chainer import backend, device_resident, initializers, link_hook
from chainer._base import environment
from chainer._link import errors
from chainer._link.uninitialized import MadeByInit, without_init
from chainer.link_hook import _entered
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._link.sequential import Sequential
    from chainer._optim.update_rule import UpdateRule
    from chainer._typing import DTypeLike, InitializerSpec, Layer, ShapeSpec
    from chainer.serializer import AbstractSerializer

# Stands for the hooks of a link whose __init__ has not run: true, so that a call takes the slow
# way, which finds out.
_UNKNOWN: tp.Any = object()


def _next_call(cls: type) -> Layer:
    """`__call__` of a class of links, but for those of the engine, which come to the next one."""
    calls = (base.__dict__['__call__'] for base in cls.__mro__ if '__call__' in base.__dict__)
    return next(call for call in calls if getattr(call, '__wrapped__', None) is not Link.__call__)


def _codes_of_calls() -> tuple[CodeType, ...]:
    return Link.__call__.__code__, Link._call_base.__code__


class Link(device_resident.DeviceResident):
    """A callable with parameters.

    Parameters are registered by assigning them inside ``with self.init_scope():``. Other values
    that are saved with the link are registered by :meth:`add_persistent` or
    :meth:`register_persistent`. Calling a link runs its hooks and its `forward`.

    Args:
        params: A shape, or a pair of shape and dtype, of each parameter to make; filled with NaN.
    """

    if tp.TYPE_CHECKING:
        forward: Layer
        _params: set[str]
    else:
        _params = MadeByInit()

    name: str | None
    _local_link_hooks: dict[str, link_hook.LinkHook] | None = _UNKNOWN
    _within_init_scope = False
    _repeated: tp.ClassVar[type[Sequential]]  # set where it is defined, above this module
    __init_done = False

    def __init_subclass__(cls, **kwargs: tp.Any) -> None:
        super().__init_subclass__(**kwargs)
        # In ``class Mine(Link, Layer)`` a base behind Link may do the computation; an abstract
        # method only says that a subclass must.
        for base in cls.__mro__[cls.__mro__.index(Link) + 1 :]:
            call = base.__dict__.get('__call__')
            if call is None or getattr(call, '__isabstractmethod__', False):
                continue
            if _next_call(cls) is Link.__call__:
                cls.__call__ = Link._call_base  # type: ignore[method-assign]
            elif not hasattr(cls, 'forward'):
                cls.forward = call  # where a `__call__` of its own comes to
            break

    def __init__(self, **params: tp.Any) -> None:
        super().__init__()
        self._params = set()
        self._persistent: set[str] = set()
        self._local_link_hooks = None
        self.name = None
        # Pickles of v7 have this name too.
        self.__init_done = True
        for name, value in params.items():
            self.add_param(name, *_shape_and_dtype(value))

    def __check_init_done(self) -> None:
        if not self.__init_done:
            raise RuntimeError(without_init(type(self)))

    def __str__(self) -> str:
        specs = ', '.join(f'{name}={value}' for name, value in self.printable_specs)
        return f'{type(self).__name__}({specs})'

    @property
    def printable_specs(self) -> Iterator[tuple[str, object]]:
        """Pairs of name and value that `str` shows."""
        return iter(())

    @property
    def local_link_hooks(self) -> dict[str, link_hook.LinkHook]:
        """The hooks of this link by name, in the order in which they run."""
        engine.hooks_changed()  # the caller may change them
        if self._local_link_hooks is None or self._local_link_hooks is _UNKNOWN:
            self._local_link_hooks = {}
        return self._local_link_hooks

    @property
    def within_init_scope(self) -> bool:
        """Whether an assigned parameter would be registered now."""
        return self._within_init_scope

    @contextlib.contextmanager
    def init_scope(self) -> Iterator[None]:
        """Return a context in which assigned parameters, and links in a `Chain`, are registered."""
        self.__check_init_done()
        outer = self._within_init_scope
        self._within_init_scope = True
        try:
            yield
        finally:
            self._within_init_scope = outer

    @property
    def _device_id(self) -> int | None:
        """For programs from before v6: the number of the CuPy device; None elsewhere."""
        warnings.warn(
            'Link._device_id is of the time before devices were objects; take Link.device',
            DeprecationWarning,
            stacklevel=2,
        )
        device = self.device
        return device.device.id if isinstance(device, backend.GpuDevice) else None

    def __call__(self, *args: object, **kwargs: tp.Any) -> tp.Any:
        try:
            if self._local_link_hooks or _entered:
                return self.__call_with_hooks(self.forward, args, kwargs)
            if kwargs:
                return self.forward(*args, **kwargs)
            # The usual calls; spelled out they take 100 ns less.
            if len(args) == 1:
                (x,) = args
                return self.forward(x)
            if len(args) == 3:
                x, y, z = args
                return self.forward(x, y, z)
            return self.forward(*args)
        except Exception as error:
            errors.add_path(error, self, _codes_of_calls())
            raise

    def _call_base(self, *args: object, **kwargs: tp.Any) -> tp.Any:
        """The ``__call__`` of a class with another callable base behind Link; that precedes
        `forward`."""
        try:
            return self.__call_with_hooks(super().__call__, args, kwargs)  # type: ignore[misc]
        except Exception as error:
            errors.add_path(error, self, _codes_of_calls())
            raise

    def __call_with_hooks(
        self, forward: Layer, args: tuple[tp.Any, ...], kwargs: dict[str, tp.Any]
    ) -> tp.Any:
        self.__check_init_done()
        # A hook of the link's own takes the place of an entered one of the same name.
        own = self._local_link_hooks
        own = own if own and own is not _UNKNOWN else {}
        hooks = list({**link_hook._get_link_hooks(), **own}.values())
        if engine.is_capturing():
            _refuse_others(self, hooks)
        started = []
        try:
            before = link_hook._ForwardPreprocessCallbackArgs(self, 'forward', args, kwargs)
            for hook in hooks:
                hook.forward_preprocess(before)
                started.append(hook)
            out = forward(*args, **kwargs)
        except BaseException:
            for hook in reversed(started):
                hook._forward_aborted(self)
            raise
        after = link_hook._ForwardPostprocessCallbackArgs(self, 'forward', args, kwargs, out)
        for hook in hooks:
            hook.forward_postprocess(after)
        return out

    def __setattr__(self, name: str, value: object) -> None:
        if self._within_init_scope:
            self._register_assigned(name, value)
        elif engine.is_capturing():
            engine.capture_attribute(self, name)
        super().__setattr__(name, value)

    def _register_assigned(self, name: str, value: object) -> None:
        """Registers a value that is assigned within `init_scope`, besides setting the attribute."""
        if isinstance(value, Parameter):
            value.name = name
            if self._device is not device_resident.DeviceResident._device:
                value.to_device(self._device)
            self._params.add(name)
            self._persistent.discard(name)

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        self._params.discard(name)
        self._persistent.discard(name)

    def add_param(
        self,
        name: str,
        shape: ShapeSpec | None = None,
        dtype: DTypeLike = np.float32,
        initializer: InitializerSpec | None = None,
    ) -> None:
        """Make a parameter and register it.

        Args:
            name: Attribute to make.
            shape: An int or ints; None for a parameter that is initialized later.
            dtype: Of the values, if no initializer is given.
            initializer: An initializer, as for :class:`chainer.Parameter`; NaN by default.
        Raises:
            AttributeError: If the attribute exists.
        """
        self.__check_new(name, 'parameter')
        if initializer is None:
            initializer = initializers.NaN(dtype)
        with self.init_scope():
            setattr(self, name, Parameter(initializer, shape))

    def add_persistent(self, name: str, value: object) -> None:
        """Make an attribute that is saved, copied and moved with the link but not trained.

        Args:
            name (str): Of the attribute.
            value: Its value, such as an array or a number.

        Raises:
            AttributeError: If the attribute exists.
        """
        self.__check_new(name, 'persistent value')
        self._persistent.add(name)
        super().__setattr__(name, value)

    def register_persistent(self, name: str) -> None:
        """Make an existing attribute one that is saved, copied and moved with the link.

        Args:
            name (str): Of the attribute.

        Raises:
            AttributeError: If there is no such attribute.
        """
        if not hasattr(self, name):
            raise AttributeError(
                f'cannot register non-existent attribute {name} as a persistent value'
            )
        self._persistent.add(name)
        self._params.discard(name)

    def __check_new(self, name: str, kind: str) -> None:
        self.__check_init_done()
        if name in self.__dict__:
            raise AttributeError(f'cannot register a new {kind} {name}: attribute exists')

    @classmethod
    def from_params(cls, *args: tp.Any, **kwargs: tp.Any) -> tp.Self:
        """Make a link from the arrays of its parameters.

        Only some links have this.

        Args:
            *args: The arrays.
            **kwargs: Further arguments.

        Returns:
            Link: A new one.
        """
        raise NotImplementedError('This link does not implement `from_params`.')

    # -- the tree

    def _children_list(self) -> Sequence[Link]:
        return ()

    def _named_children(self) -> Iterable[tuple[str, Link]]:
        return ()

    def _own_params(self, include_uninit: bool = True) -> list[tuple[str, Parameter]]:
        # Hooks put other variables in the place of a parameter, and so do programs that compute
        # parameters, as learned optimizers do. Nothing but variables counts.
        values = ((name, self.__dict__[name]) for name in sorted(self._params))
        return [
            (name, tp.cast(Parameter, value))
            for name, value in values
            if isinstance(value, Variable) and (include_uninit or value.array is not None)
        ]

    def params(self, include_uninit: bool = True) -> Iterator[Parameter]:
        """Iterate over all parameters, those of descendants too; a shared one comes again.

        Args:
            include_uninit (bool): Whether those come, too, that have no shape yet.

        Yields:
            Parameter: In the order of names.
        """
        params = engine.params(self)
        if params is None:
            params = []
            self._collect_params(params, include_uninit)
        elif not include_uninit:
            params = [param for param in params if param.array is not None]
        return iter(params)

    def _collect_params(self, params: list[Parameter], include_uninit: bool) -> None:
        # The engine does the same, and caches the result (engine/optim/parameter_cache.cc).
        params += [p for _, p in self._own_params(include_uninit)]

    def namedparams(self, include_uninit: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Iterate over all parameters with their paths.

        Args:
            include_uninit (bool): Whether those come, too, that have no shape yet.

        Yields:
            tuple: Path, such as ``/l1/W``, and Parameter.
        """
        for name, param in self._own_params(include_uninit):
            yield '/' + name, param
        for name, child in self._named_children():
            for path, param in child.namedparams(include_uninit):
                yield f'/{name}{path}', param

    def links(self, skipself: bool = False) -> Iterator[Link]:
        """Iterate over this link and all descendants, parents first.

        Args:
            skipself (bool): Whether this one is left out.

        Yields:
            Link: The next one.
        """
        if not skipself:
            yield self
        for child in self._children_list():
            yield from child.links()

    def namedlinks(self, skipself: bool = False) -> Iterator[tuple[str, Link]]:
        """Iterate over this link and all descendants with their paths, parents first.

        Args:
            skipself (bool): Whether this one is left out.

        Yields:
            tuple: Path, ``/`` for this link, and Link.
        """
        if not skipself:
            yield '/', self
        for name, child in self._named_children():
            path = '/' + name
            yield path, child
            for below, link in child.namedlinks(skipself=True):
                yield path + below, link

    def children(self) -> Iterator[Link]:
        """Iterate over the direct children."""
        return iter(self._children_list())

    def copy(self, mode: str = 'share') -> tp.Self:
        """Copy the tree of links.

        Args:
            mode: ``'share'`` for new parameters, without gradients, over the same arrays,
                ``'copy'`` for a deep copy, ``'init'`` for one that is then initialized anew.
        """
        _check_mode(mode)
        if mode == 'share':
            ret = copy.copy(self)
            ret._params = set(self._params)
            ret._persistent = set(self._persistent)
            if self._local_link_hooks:
                ret._local_link_hooks = dict(self._local_link_hooks)
            for name, param in self._own_params():
                ret.__dict__[name] = param = copy.copy(param)
                param.cleargrad()
            ret._copy_children(mode)
        else:
            ret = copy.deepcopy(self)
            if mode == 'init':
                for param in ret.params(include_uninit=False):
                    if not isinstance(param, Parameter):
                        continue
                    if param.initializer is None or callable(param.initializer):
                        param._grad_initializer = initializers.NaN()  # as that of a new one
                        param.initialize(param.shape)
                    else:  # it was made from an array, so it had no gradient
                        param.cleargrad()
        ret.name = None
        return ret

    def _copy_children(self, mode: str) -> None:
        """Put copies in the place of the children, of which this is a shallow copy."""

    def device_resident_accept(self, visitor: device_resident.DeviceResidentsVisitor) -> None:
        super().device_resident_accept(visitor)
        for _, param in self._own_params():
            visitor.visit_variable(param)
        attributes = self.__dict__
        for name in sorted(self._persistent):
            value = attributes.get(name)
            if isinstance(value, Variable):
                visitor.visit_variable(value)
            elif isinstance(value, environment.get_array_types()):
                attributes[name] = visitor.visit_array(value)
        for child in self._children_list():
            child.device_resident_accept(visitor)

    def copyparams(self, link: Link, copy_persistent: bool = True) -> None:
        """Copy values of parameters from a link of the same structure.

        Args:
            link: Must have all parameters of this one; more does not matter.
            copy_persistent: Whether persistent values are copied too.
        Raises:
            KeyError: If a parameter, a persistent value or a child is missing there.
            ValueError: If an array has another shape there; then nothing has been copied.
        """
        _check_link(link, 'copy parameters')
        self._check_fit(link, 'copyparams', copy_persistent)
        for name, param in self._own_params():
            param.copydata(link._find(name, Variable, 'parameter'))
        if copy_persistent:
            array_types = environment.get_array_types()
            attributes = self.__dict__
            for name in sorted(self._persistent):
                value = link._find(name, object, 'persistent value')
                target = attributes.get(name)
                if isinstance(value, array_types) and isinstance(target, array_types):
                    backend.copyto(target, value)
                else:
                    attributes[name] = copy.deepcopy(value)
        for name, child in self._named_children():
            child.copyparams(link._find_child(name), copy_persistent)

    def addgrads(self, link: Link) -> None:
        """Add the gradients of a link of the same structure to those of this one.

        Args:
            link (Link): Whose gradients.

        Raises:
            KeyError: If a parameter or a child is missing there.
            ValueError: If a parameter has another shape there; then nothing has been added.
        """
        _check_link(link, 'add gradients')
        self._check_fit(link, 'addgrads', False)
        self._add_grads(link, set())

    def _add_grads(self, link: Link, added: set[tuple[int, int]]) -> None:
        for name, param in self._own_params():
            other = link._find(name, Variable, 'parameter')
            if (id(param), id(other)) not in added:  # a shared one has several paths
                added.add((id(param), id(other)))
                param.addgrad(other)
        for name, child in self._named_children():
            if type(child).addgrads is Link.addgrads:
                child._add_grads(link._find_child(name), added)
            else:
                child.addgrads(link._find_child(name))

    def _check_fit(self, link: Link, action: str, persistent: bool) -> None:
        """Looks for arrays of other shapes, before the first one is changed."""
        pairs = [
            (name, link._find(name, Variable, 'parameter').array, param.array)
            for name, param in self._own_params()
        ]
        if persistent:
            pairs += [
                (name, link._find(name, object, 'persistent value'), self.__dict__.get(name))
                for name in sorted(self._persistent)
            ]
        array_types = environment.get_array_types()
        for name, array, own in pairs:
            both = isinstance(array, array_types) and isinstance(own, array_types)
            if both and array.shape != own.shape:
                raise errors.Misfit(action, name, array.shape, own.shape)
        for name, child in self._named_children():
            if getattr(type(child), action) is not getattr(Link, action):
                continue  # its own method documents its arguments
            try:
                child._check_fit(link._find_child(name), action, persistent)
            except errors.Misfit as error:
                raise error.inside(name) from None

    def _find(self, name: str, kind: type, what: str) -> tp.Any:
        value = self.__dict__.get(name, _UNKNOWN)
        if value is _UNKNOWN or not isinstance(value, kind):
            raise KeyError(f'{type(self).__name__} has no {what} {name!r}')
        return value

    def _find_child(self, name: str) -> Link:
        children = dict(self._named_children())
        if name not in children:
            there = ', '.join(children) or 'none'
            raise KeyError(f'{type(self).__name__} has no child {name!r} (it has: {there})')
        return children[name]

    def cleargrads(self) -> None:
        """Set the gradients of all parameters to None."""
        if not engine.cleargrads(self):
            for param in self.params():
                param.cleargrad()

    def zerograds(self) -> None:
        """Set the gradients of all parameters to zero. Deprecated: use :meth:`cleargrads`."""
        warnings.warn(
            'Link.zerograds is deprecated. Use Link.cleargrads instead.',
            DeprecationWarning,
            stacklevel=2,
        )
        for param in self.params():
            if type(param).zerograd is Variable.zerograd:
                param._fill_grad_with_zeros()  # without its warning
            else:
                param.zerograd()

    def enable_update(self) -> None:
        """Let optimizers update the parameters again."""
        self.__set_update(True)

    def disable_update(self) -> None:
        """Keep optimizers from updating the parameters."""
        self.__set_update(False)

    def __set_update(self, enabled: bool) -> None:
        for param in self.params():
            if (rule := _rule_of(param)) is not None:
                rule.enabled = enabled

    @property
    def update_enabled(self) -> bool:
        """Whether an optimizer would update at least one parameter."""
        rules = map(_rule_of, self.params())
        return any(rule is not None and rule.enabled for rule in rules)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save to a serializer, or load from a deserializer, parameters and persistent values.

        A parameter that is not initialized yet takes its shape from the loaded array.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        attributes = self.__dict__
        for name, param in self._own_params():
            data = serializer(name, param.array)
            if param.array is None and data is not None:
                param.initialize(np.shape(data))
                backend.copyto(param.array, data if hasattr(data, 'dtype') else np.asarray(data))
        for name in sorted(self._persistent):
            attributes[name] = serializer(name, attributes[name])
        for name, child in self._named_children():
            child.serialize(serializer[name])

    def repeat(self, n_repeat: int, mode: str = 'init') -> Sequential:
        """Return a :class:`chainer.Sequential` of copies of this link.

        Args:
            n_repeat: How many.
            mode: As in :meth:`copy`.
        """
        _check_mode(mode)
        return self._repeated(*[self.copy(mode) for _ in range(n_repeat)])

    def count_params(self) -> int:
        """Count the elements of all parameters; warns of each that is not initialized."""
        size = 0
        for path, param in self.namedparams():
            if param.array is not None:
                size += param.size
            else:
                warnings.warn(
                    f"Parameter '{path}' has not been initialized, so the resulting count will "
                    'not include the number of parameters in it.',
                    stacklevel=2,
                )
        return size

    def add_hook(self, hook: link_hook.LinkHook, name: str | None = None) -> tp.Self:
        """Register a hook for this link alone.

        Args:
            hook (LinkHook): Which.
            name (str): By which it is removed; its own by default.

        Returns:
            This link.

        Raises:
            KeyError: If the name is taken.
        """
        if not isinstance(hook, link_hook.LinkHook):
            raise TypeError(f'Hook must be of type LinkHook, not {type(hook).__name__}')
        name = hook.name if name is None else name
        hooks = self.local_link_hooks
        if name in hooks:
            raise KeyError(f'Hook {name} already exists')
        hook.added(self)
        hooks[name] = hook
        if not hook._is_computed:
            link_hook._watch(self, name)
        return self

    def delete_hook(self, name: str) -> None:
        """Take a hook off.

        Args:
            name (str): Of the hook.

        Raises:
            KeyError: If there is none of this name.
        """
        hooks = self.local_link_hooks
        if name not in hooks:
            raise KeyError(f'Hook {name} does not exist')
        hook = hooks.pop(name)
        link_hook._end_watch(self, name)
        hook.deleted(self)


def _refuse_others(link: Link, hooks: list[link_hook.LinkHook]) -> None:
    """Refuses to record what hooks of the program do, entered in the step, or of a copied link."""
    for hook in hooks:
        if not hook._is_computed:
            engine.refuse_capture(
                f'a hook of links, {hook.name}, is called by {type(link).__name__} (enter it '
                'around the captured step, and each call will be seen)'
            )


def _rule_of(param: Variable) -> UpdateRule | None:
    """The update rule; None for a variable that stands in the place of a parameter."""
    return getattr(param, 'update_rule', None)


def _collect_params_of(link: Link, params: list[Parameter], include_uninit: bool) -> None:
    if type(link).params is Link.params:
        link._collect_params(params, include_uninit)
    else:  # the user's own choice of parameters
        params += link.params(include_uninit)


def _tree_str(link: Link, layers: Iterable[tuple[str, object]]) -> str:
    lines = [f'  ({name}): {layer},'.replace('\n', '\n  ') for name, layer in layers]
    return '\n'.join([f'{type(link).__name__}(', *lines, ')']) if lines else Link.__str__(link)


def _check_link(link: object, purpose: str = 'register a non-link object as a child') -> None:
    if not isinstance(link, Link):
        raise TypeError(f'cannot {purpose}: {type(link).__name__} is no Link')


def _check_mode(mode: str) -> None:
    if mode not in ('init', 'copy', 'share'):
        raise ValueError(
            f"The 'mode' argument should be either 'init','copy', or 'share'. But {mode} was given."
        )


def _shape_and_dtype(value: tp.Any) -> tuple[ShapeSpec | None, DTypeLike]:
    """Split an argument of `Link(x=...)`: a shape, or a pair of shape and dtype."""
    is_pair = isinstance(value, tuple) and len(value) == 2
    if is_pair and not all(isinstance(x, int | np.integer) for x in value):
        return value
    return value, np.float32


engine.set_callbacks(link_class=Link, link_params=Link.params, collect_params=Link._collect_params)
Link.__module__ = 'chainer.link'
