"""What a captured step reads of the program: variables, attributes and items, by its code."""

from __future__ import annotations

import array
import builtins
import collections
import contextvars
import functools
import gc
import os
import sys
import threading
import types
import typing as tp
import weakref

import numpy as np

from chainerx import _draws
from chainerx._bound_capture import BoundCapture
from chainerx._core import engine
from chainerx._program import is_closed, is_link, properties_of

# Where a value is: a dict, list, cell, type, or object with slots; the name, index or key in it;
# the value, if it is there. The key `...` stands for all items of a list, dict, set or deque as
# they are now. Without a key it is the number of items of a dict or list; else what the object
# itself holds: a cell or context variable, a function (code and defaults), a weak reference
# (anything), a cache (its misses), an array (its bytes). A weak reference with a key is to an
# object that the recording does not keep alive.
Dependency: tp.TypeAlias = tuple[object, object] | tuple[object, object, object]
Owner: tp.TypeAlias = list[tp.Any] | dict[tp.Any, tp.Any]

MAX_DEPENDENCIES: tp.Final = 16384  # each is looked at before each replay
_MAX_BYTES: tp.Final = 1024  # of an array whose bytes are compared
_MAX_ITEMS: tp.Final = 64  # of a container; what is in longer ones is not followed
_MAX_WHOLE: tp.Final = 1024  # of a container; longer ones are data
_MAX_WHOLE_IN_ALL: tp.Final = 8192
_NAMESPACES: tp.Final = {('argparse', 'Namespace'), ('types', 'SimpleNamespace')}
_WRAPPERS: tp.Final = (collections.UserDict, collections.UserList, collections.ChainMap)
# Names in code that reads attributes, names of which it may put together.
_READERS: tp.Final = frozenset(('getattr', 'hasattr', 'attrgetter', 'vars', '__dict__', 'dir'))
# What classes have without the program.
_OF_CLASSES: tp.Final = frozenset(
    ('__module__', '__qualname__', '__doc__', '__dict__', '__weakref__', '__slots__', '__init__',
     '__new__', '__annotations__', '__annotations_cache__', '__annotate_func__', '__hash__',
     '__firstlineno__', '__static_attributes__')
)  # fmt: skip


class Found(tp.NamedTuple):
    """What `find` has found.

    Attributes:
        dependencies (list of tuple): Where values are, and what they are now.
        owners (list of tuple): Attributes of objects, lists and dicts, and what they are called.
        generators (list): Those of random numbers, of Python and NumPy.
    """

    dependencies: list[Dependency]
    owners: list[tuple[Owner, str]]
    generators: list[object]


def find(step: object, arguments: tuple[object, ...]) -> Found:
    """Finds what a step may depend on besides its arguments.

    Follows the names in its code, and in the code of functions and classes of the program that it
    leads to, to globals, closures, attributes, and items of small containers. Calls no code of the
    program.

    Args:
        step (callable): The function.
        arguments (tuple): What it is called with; objects have attributes, too.

    Returns:
        Found: What may change, and what the step may change.
    """
    search = _Search()
    search.visit(step)
    for argument in arguments:
        search.visit(argument)
    search.follow_names()
    return Found(search.found, search.owners, search.generators)


class _Search:
    def __init__(self) -> None:
        self.found: list[Dependency] = []
        self.generators: list[object] = []
        self.names: set[str] = set()
        self.owners: list[tuple[Owner, str]] = []
        self._seen: dict[int, object] = {}  # by id; keeps them alive, so that ids stay unique
        # Attributes; names that are attributes if they are there, instead of a class variable;
        # whether code of the program may put names of them together.
        self._owners: list[tuple[dict[str, object], set[str], bool]] = []
        self._classes: list[type] = []
        # Of packages, which are not looked into, but may be patched, or say what the program did.
        self._modules: list[types.ModuleType] = []
        self._objects: list[object] = []
        self._noted: set[tuple[int, str]] = set()
        self._n_whole = 0

    def visit(self, value: object) -> None:
        """Notes what a value leads to."""
        todo = [value]
        while todo and len(self.found) <= MAX_DEPENDENCIES:
            value = todo.pop()
            if id(value) in self._seen or type(value) in LEAVES:
                continue
            self._seen[id(value)] = value
            todo.extend(self._look_into(value))

    def follow_names(self) -> None:
        """Notes the attributes whose names are in the code, of all objects that were found."""
        before = -1
        while before != len(self._noted) and len(self.found) <= MAX_DEPENDENCIES:
            before = len(self._noted)
            # Of names that code puts together, any may be meant.
            is_any = not _READERS.isdisjoint(self.names)
            for value in list(self._objects):
                self._note_properties(value)
            for owner, defaults, is_open in list(self._owners):
                names = owner.keys() | defaults
                if is_any and is_open:
                    self._note_size(owner)
                else:
                    names &= self.names
                for name in sorted(names):
                    self._note_once(owner, name)
            for module in list(self._modules):
                space = vars(module)
                for name in sorted(self.names & space.keys()):
                    self._note_once(space, name)
            for cls in list(self._classes):
                self._follow_class(cls)

    def _follow_class(self, cls: type) -> None:
        """Notes where attributes of a class come from, and the bases that might hide them."""
        bases = [base for base in cls.__mro__ if not is_closed(base.__module__)]
        for name in sorted(self.names.intersection(*[set().union(*map(vars, bases))])):
            for base in cls.__mro__:
                is_there = name in vars(base)
                if base in bases and (id(base), name) not in self._noted:
                    self._noted.add((id(base), name))
                    value = vars(base)[name] if is_there else None
                    self.found.append((base, name, value) if is_there else (base, name))
                    self.visit(value)
                if is_there:
                    break

    def _note_size(self, owner: dict[str, object]) -> None:
        if (id(owner), '') not in self._noted:
            self._noted.add((id(owner), ''))
            self.found.append((owner, None, len(owner)))

    def _note_once(self, owner: dict[str, object], name: str) -> None:
        if (id(owner), name) in self._noted:
            return
        self._noted.add((id(owner), name))
        if name not in owner:
            self.found.append((owner, name))
            return
        value = owner[name]
        if type(value) is not types.ModuleType:
            self.found.append((owner, name, value))
        self.visit(value)

    def _look_into(self, value: object) -> tp.Iterable[object]:
        cls = type(value)
        if cls is types.FunctionType:
            return self._function(tp.cast(types.FunctionType, value))
        if (simple := self._simple(value)) is not None:
            return simple
        if cls is types.MethodType:
            method = tp.cast(types.MethodType, value)
            return method.__func__, method.__self__
        if cls is functools.partial:
            partial = tp.cast('functools.partial[object]', value)
            for name in ('func', 'args', 'keywords'):
                self.found.append((value, name, getattr(partial, name)))
            return partial.func, *partial.args, partial.keywords
        if issubclass(cls, (list, dict)):
            items = self._items(tp.cast('list[object] | dict[object, object]', value))
            return items if is_closed(cls.__module__) else (*items, *self._instance(value))
        if issubclass(cls, (set, frozenset, collections.deque)):
            return self._unkeyed(tp.cast('set[object]', value))
        if issubclass(cls, tuple):
            values = tp.cast(tuple[object, ...], value)
            n = tuple.__len__(values)
            items = list(tuple.__iter__(values)) if n <= _MAX_ITEMS else []
            return items if cls is tuple else (*items, *self._instance(value))
        if cls is types.ModuleType:
            module = tp.cast(types.ModuleType, value)
            if is_closed(vars(module).get('__name__')):
                self._modules.append(module)
            else:
                self._owners.append((vars(module), set(), False))
            return ()
        if issubclass(cls, type):  # not isinstance, which asks the value
            return self._class(tp.cast(type, value))
        return self._instance(value)

    def _simple(self, value: object) -> tp.Iterable[object] | None:
        """Notes what an object holds that has no attributes of a program's; None for others."""
        cls = type(value)
        if cls is contextvars.ContextVar:
            self.found.append((value, None, tp.cast(tp.Any, value).get(None)))
            return ()
        if cls is weakref.ref:
            target = tp.cast('weakref.ref[object]', value)()
            if target is None:
                return ()
            self.found.append((value, None, True))
            return (target,)
        if cls is _Cache:
            cache = tp.cast('functools._lru_cache_wrapper[object]', value)
            self.found.append((value, None, cache.cache_info().misses))
            return (cache.__wrapped__,)
        if issubclass(cls, engine.CapturedFunction):
            return (tp.cast(tp.Any, value)._step,)
        if cls is BoundCapture:
            bound = tp.cast(tp.Any, value)
            return bound.__wrapped__, bound.__self__
        if cls is types.BuiltinFunctionType:
            owner = tp.cast(types.BuiltinFunctionType, value).__self__
            return () if type(owner) is types.ModuleType else (owner,)
        if _draws.is_generator(cls):
            self.generators.append(value)
            return ()
        if cls is np.ndarray:
            x = tp.cast('np.ndarray[tp.Any, tp.Any]', value)
            if x.nbytes <= _MAX_BYTES and x.flags.c_contiguous and x.dtype.kind in 'biufc':
                self.found.append((value, None, x.tobytes()))
            return ()
        if cls is bytearray or cls is array.array:
            view = memoryview(tp.cast(bytearray, value))
            if view.nbytes <= _MAX_BYTES:
                self.found.append((value, None, view.tobytes()))
            return ()
        if cls is types.MappingProxyType:
            return gc.get_referents(value)  # the mapping
        return None

    def _function(self, function: types.FunctionType) -> tp.Iterator[object]:
        # By functools.wraps, a function of the program and one of a package have each other's name.
        space = function.__globals__
        if is_closed(space.get('__name__', '')) and is_closed(function.__module__):
            return
        parts = function.__code__, function.__defaults__, function.__kwdefaults__
        self.found.append((function, None, parts))
        if function.__dict__:
            self._owners.append((function.__dict__, set(), True))
            if is_closed(space.get('__name__', '')):  # such as that of functools.singledispatch
                yield from list(function.__dict__.values())
        names: set[str] = set()
        texts: set[str] = set()
        codes = [function.__code__]
        while codes:
            code = codes.pop()
            names.update(code.co_names)
            for constant in code.co_consts:
                if type(constant) is types.CodeType:
                    codes.append(constant)
                elif type(constant) is str and constant.isidentifier():  # of getattr
                    texts.add(constant)
        names |= texts
        self.names |= names
        if not names.isdisjoint(('environ', 'environb', 'getenv', 'getenvb')):
            self._environment()
        for name in sorted(names & space.keys()):
            self._note_once(space, name)
        for name in sorted(names & vars(builtins).keys() - space.keys()):
            self._note_once(space, name)
            self._note_once(vars(builtins), name)
        for name in sorted(names & sys.modules.keys()):  # imported by the function
            if not is_closed(name):
                yield sys.modules[name]
        for cell in function.__closure__ or ():
            try:
                content = cell.cell_contents
            except ValueError:  # empty
                continue
            self.found.append((cell, None, content))
            yield content
        yield from function.__defaults__ or ()
        if function.__kwdefaults__:
            yield function.__kwdefaults__

    def _items(self, items: list[object] | dict[object, object]) -> tp.Iterable[object]:
        # By the methods of the bases: those of a subclass may do anything.
        cls: tp.Any = dict if issubclass(type(items), dict) else list
        n: int = cls.__len__(items)
        if n > _MAX_ITEMS:
            self._note_whole(items, n)
            return ()
        whole: tp.Any = items
        pairs = list(dict.items(whole) if cls is dict else enumerate(list.__iter__(whole)))
        for key, value in pairs:
            if type(key) in (str, int):  # looking for others may call code of the program
                self.found.append((items, key, value))
        if any(type(key) not in (str, int) for key, _ in pairs):
            self._note_whole(items, n)
        self.found.append((items, None, n))
        self.owners.append((items, f'a {cls.__name__}'))
        return [value for _, value in pairs]

    def _unkeyed(self, items: tp.Any) -> tp.Iterable[object]:
        cls: tp.Any = next(c for c in (set, frozenset, collections.deque) if isinstance(items, c))
        n: int = cls.__len__(items)
        self._note_whole(items, n)
        while n <= _MAX_ITEMS:
            try:
                return list(cls.__iter__(items))
            except RuntimeError:  # another thread has changed it after the first call
                n = cls.__len__(items)
        return ()

    def _note_whole(self, items: object, n: int) -> None:
        if n <= _MAX_WHOLE and self._n_whole + n <= _MAX_WHOLE_IN_ALL:
            self._n_whole += n
            self.found.append((items, ...))

    def _environment(self) -> None:
        data = vars(os.environ).get('_data')
        if type(data) is dict and id(data) not in self._seen:
            self._seen[id(data)] = data
            self._note_whole(data, len(data))

    def _class(self, cls: type) -> tp.Iterator[object]:
        if is_closed(cls.__module__):
            return
        self._classes.append(cls)
        yield from cls.__bases__
        if type(cls) is not type:
            yield type(cls)
        for name, value in list(vars(cls).items()):
            if name in _OF_CLASSES:
                continue
            if name.startswith('__'):  # most often called without being named
                self._noted.add((id(cls), name))
                self.found.append((cls, name, value))
            if type(value) in (staticmethod, classmethod):
                yield tp.cast('staticmethod[..., object]', value).__func__
            elif type(value) is property:
                yield from (f for f in (value.fget, value.fset) if f is not None)
            elif type(value) is types.FunctionType:
                yield value
            elif not callable(value):
                self._noted.add((id(cls), name))
                self.found.append((cls, name, value))
                yield value

    def _instance(self, value: object) -> tp.Iterator[object]:
        cls = type(value)
        of_link = is_link(cls)
        of_package = not of_link and is_closed(cls.__module__)
        if cls is threading.local:
            for name, content in list(vars(tp.cast(tp.Any, value)).items()):
                self.found.append((value, name, content))
                yield content
            return
        if issubclass(cls, _WRAPPERS):
            self.names.update(('data', 'maps'))
        elif of_package and (cls.__module__, cls.__name__) not in _NAMESPACES:
            self._of_chainer(value)
            return
        if not is_closed(cls.__module__) and cls.__weakrefoffset__:
            self.found.append((weakref.ref(value), '__class__', cls))
        yield from self._slots(value)
        try:
            owner = object.__getattribute__(value, '__dict__')
        except AttributeError:
            return
        if type(owner) is not dict:
            return
        defaults: set[str] = set()
        for base in cls.__mro__:
            if not is_closed(base.__module__):
                yield base
                defaults.update(name for name in vars(base) if not name.startswith('__'))
            elif base.__module__.startswith('chainer.links.'):
                for name, member in vars(base).items():
                    if type(member) is not types.FunctionType:
                        defaults.add(name)
                    elif name != '__init__':
                        self.names.update(member.__code__.co_names)
                    if name == 'forward' and (id(base), name) not in self._noted:
                        self._noted.add((id(base), name))
                        self.found.append((base, name, member))
        if of_link:
            self.names.update(('_children', '_layers'))
        elif of_package:
            self.names.update(owner)
        self._owners.append((owner, defaults, True))
        self.owners.append((owner, cls.__name__))
        if not of_link:
            self._objects.append(value)  # maybe an updater of the program

    def _note_properties(self, value: object) -> None:
        """Notes what properties of chainer say, such as the epoch of an updater."""
        cls = type(value)
        for name, member in sorted(properties_of(cls, self.names).items()):
            if (id(value), name) in self._noted:
                continue
            self._noted.add((id(value), name))
            try:
                content = member.__get__(value, cls)
            except Exception:  # it may say nothing yet
                continue
            if type(content) in LEAVES:
                self.found.append((weakref.ref(value), name, content))

    def _of_chainer(self, value: object) -> None:
        """Follows names into an updater, an optimizer or the like."""
        cls = type(value)
        if not cls.__module__.startswith('chainer.') or issubclass(cls, engine.Variable):
            return
        owner = getattr(value, '__dict__', None)
        if type(owner) is not dict:
            return
        self._objects.append(value)
        self._owners.append((owner, set(), False))

    def _slots(self, value: object) -> tp.Iterator[object]:
        for base in type(value).__mro__:
            if is_closed(base.__module__):
                continue
            for name, member in vars(base).items():
                if type(member) is not types.MemberDescriptorType:
                    continue
                try:
                    content = member.__get__(value)
                except AttributeError:
                    continue
                self.found.append((value, name, content))
                yield content


LEAVES: tp.Final = frozenset((type(None), bool, int, float, complex, str, bytes))
_Cache: tp.Final[type] = type(functools.cache(lambda: None))
