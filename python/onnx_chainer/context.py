"""Names of the values of a graph."""

from __future__ import annotations

import typing as tp

import chainer
from chainerx.onnx._names import Names

from onnx_chainer import onnx_helper
from onnx_chainer._trace import memory_of

if tp.TYPE_CHECKING:
    from chainer._typing import ArrayLike


class Context(Names):
    """Names of values, and the tensors that the graph holds: parameters and constants.

    Args:
        model (Link or callable): What is exported. Its parameters and persistent arrays are
            called by their paths.

    Attributes:
        parameters (list of onnx.TensorProto): The tensors, in the order in which they were added.
    """

    def __init__(self, model: tp.Any) -> None:
        super().__init__()
        self.constants: set[str] = set()  # names of tensors that are no parameters
        self.arrays: dict[tp.Any, tp.Any] = {}  # by where they lie in memory
        self.wanted: set[tp.Any] = set()  # where arrays lie that functions read
        self._names: dict[int, str] = {}  # by the id of a node or array
        self._pinned: set[str] = set()
        self._kept: list[object] = []  # so that no id is used again
        self._links: dict[str, chainer.Link] = {}
        self._paths: dict[tp.Any, str] = {}
        self._link_paths: dict[int, str] = {}
        model = getattr(model, '__self__', model)  # of a method
        if isinstance(model, chainer.Link):
            self._read_paths(model)

    def _read_paths(self, model: chainer.Link) -> None:
        for prefix, link in model.namedlinks():
            self._link_paths.setdefault(id(link), prefix)
            self._kept.append(link)
            at = '' if prefix == '/' else prefix
            for param in link.params(include_uninit=False):
                if param.name is None or getattr(link, param.name, None) is not param:
                    continue  # a child's
                self._links.setdefault(f'{at}/{param.name}', link)
                self._paths.setdefault(id(_key(param)), f'{at}/{param.name}')
                self._kept.append(_key(param))
            for name in link._persistent:
                value = getattr(link, name)
                if isinstance(value, chainer.get_array_types()):
                    self._paths.setdefault(memory_of(value), f'{at}/{name}')
                    self._kept.append(value)
        for name, param in model.namedparams(include_uninit=False):
            self._paths.setdefault(id(_key(param)), name)
            self._kept.append(_key(param))

    def path_of(self, value: tp.Any) -> str | None:
        """The path of a parameter or a persistent array, None for others."""
        found = self._paths.get(id(_key(value)))
        if found is None and isinstance(value, chainer.get_array_types()):
            found = self._paths.get(memory_of(value))
        return found

    def path_of_link(self, link: chainer.Link) -> str | None:
        """The path of a link of the model, None for others."""
        return self._link_paths.get(id(link))

    def get_name(self, variable: tp.Any) -> str | None:
        """The name of a Variable, its node or an array; None if it has none yet."""
        return self._names.get(id(_key(variable)))

    def set_name(self, variable: tp.Any, name: str, pinned: bool = False) -> None:
        """Names a Variable, its node or an array.

        Args:
            variable (Variable, VariableNode or array): The value.
            name (str): Its name.
            pinned (bool): Whether the name stays, as that of an input or output.
        """
        key = _key(variable)
        if (old := self._names.get(id(key))) in self._pinned and old is not None and not pinned:
            return
        self._names[id(key)] = name
        self._kept.append(key)
        self._used.add(name)
        if pinned:
            self._pinned.add(name)

    def know_array(self, array: ArrayLike, name: str) -> None:
        """Lets attributes that are this array find the value of the graph."""
        self.arrays[memory_of(array)] = array
        self.set_name(array, name)

    def is_pinned(self, variable: tp.Any) -> bool:
        """Whether the name of the Variable stays."""
        return self.get_name(variable) in self._pinned

    def add_const(self, array: ArrayLike, name: str) -> str:
        """Adds a constant.

        Args:
            array (array): Its value.
            name (str): Its name begins with that of the function that is being written.

        Returns:
            str: The name.
        """
        full = self.unused(f'{onnx_helper.get_func_name()}_const_{name}')
        self.parameters.append(onnx_helper.make_tensor(array, full))
        self.constants.add(full)
        return full

    def tensor(self, key: tp.Any, array: ArrayLike, path: str) -> str:
        """The name of a parameter or persistent array of the model, which becomes a tensor once."""
        name = self.get_name(key)
        if name is None:
            name = self.unused(onnx_helper.cleanse_param_name(path))
            self.parameters.append(onnx_helper.make_tensor(array, name))
            self.set_name(key, name)
        return name

    def add_param(self, array: tp.Any, name: str, use_original_name: bool = False) -> str:
        """Adds a parameter, once.

        Args:
            array (array or Parameter): Its value.
            name (str): Its name begins with that of the function that is being written.
            use_original_name (bool): The name is ``name`` alone.

        Returns:
            str: The name.
        """
        if (known := self.get_name(array)) is not None:
            return known
        full = name if use_original_name else f'{onnx_helper.get_func_name()}_{name}'
        full = self.unused(full)
        self.parameters.append(onnx_helper.make_tensor(array, full))
        self.set_name(array, full)
        return full

    def get_link(self, param: chainer.Parameter) -> chainer.Link | None:
        """The link that has the parameter."""
        path = self.path_of(param)
        return None if path is None else self._links.get(path)


def _key(value: tp.Any) -> tp.Any:
    """The object by which a value is known: its node in the graph, or the array."""
    has_node = isinstance(value, chainer.Variable) and value.array is not None
    return value.node if has_node else value
