"""Models on several GPUs of this process: their gradients meet, and their parameters part."""

from __future__ import annotations

import copy
import typing as tp

import chainerx

from chainer import backend
from chainer._base import environment
from chainer.link import Link

if tp.TYPE_CHECKING:
    from chainer.variable import Parameter


class Copies:
    """A model and its copies. What lies on a GPU of each is exchanged in few calls."""

    def __init__(self, models: list[Link]) -> None:
        self._models = models
        devices = [model.device for model in models]
        self._gpus = [
            device.device
            for device in devices
            if isinstance(device, backend.ChainerxDevice) and device.device.backend.name == 'cuda'
        ]
        if len(self._gpus) < len(models) or len(set(map(str, self._gpus))) < len(models):
            self._gpus = []
        if any(_has_ways_of_its_own(link) for model in models for link in model.links()):
            self._gpus = []

    def add_gradients(self) -> None:
        """Adds the gradients of the copies to those of the first model.

        Those of GPUs are put together before: they may share memory, and one large sum costs less
        than many small ones.
        """
        main, *others = self._models
        rows = self._rows_of_params()
        if rows is None:
            for other in others:
                main.addgrads(other)
            return
        together: dict[tp.Any, list[tuple[Parameter, list[tp.Any]]]] = {}
        for params in rows:
            grads: list[tp.Any] = [p.grad if p.array is not None else None for p in params]
            if self._are_alike(grads):
                together.setdefault(grads[0].dtype, []).append((params[0], grads))
            else:
                for param in params[1:]:
                    params[0].addgrad(param)
        for pairs in together.values():
            # Those of whole vectors first: others misalign what follows them.
            pairs.sort(key=lambda pair: pair[0].size % 8 != 0)
            flat = [
                chainerx.concatenate([grad.as_grad_stopped().ravel() for grad in grads])
                for grads in zip(*(grads for _, grads in pairs), strict=True)
            ]
            chainerx.cuda.all_reduce(flat)
            begin = 0
            for param, (grad, *_) in pairs:
                param.grad = flat[0][begin : begin + grad.size].reshape(grad.shape)
                begin += grad.size

    def copy_parameters(self) -> None:
        """Copies parameters and persistent values of the first model to the others."""
        main, *others = self._models
        rows = self._rows_of_params()
        if rows is None:
            for other in others:
                other.copyparams(main)
            return
        together: list[list[tp.Any]] = [[] for _ in self._models]
        for params in rows:
            arrays = [param.array for param in params]
            if self._are_alike(arrays):
                for one, array in zip(together, arrays, strict=True):
                    one.append(array)
            else:
                for param in params[1:]:
                    param.copydata(params[0])
        for links in zip(*(model.links() for model in self._models), strict=True):
            for name in sorted(links[0]._persistent):
                values = [link.__dict__.get(name) for link in links]
                if self._are_alike(values):
                    for one, array in zip(together, values, strict=True):
                        one.append(array)
                else:
                    _copy_value(links, name)
        chainerx.cuda.broadcast(together)

    def _rows_of_params(self) -> list[list[Parameter]] | None:
        """The parameters of all models by path; None where they are not copies on GPUs."""
        if not self._gpus:
            return None
        named = [dict(model.namedparams()) for model in self._models]
        if any(params.keys() != named[0].keys() for params in named):
            return None
        rows = [[params[path] for params in named] for path in named[0]]
        distinct = {tuple(map(id, row)): row for row in rows}  # a shared one has several paths
        if len(distinct) > len({id(row[0]) for row in rows}):
            return None  # copies do not share it
        return list(distinct.values())

    def _are_alike(self, values: tp.Sequence[tp.Any]) -> bool:
        """Whether they are arrays of one shape and dtype, each on the GPU of its model."""
        first = values[0]
        return all(
            isinstance(value, chainerx.ndarray)
            and value.device == gpu
            and (value.shape, value.dtype) == (first.shape, first.dtype)
            for value, gpu in zip(values, self._gpus, strict=True)
        )


def _has_ways_of_its_own(link: Link) -> bool:
    cls = type(link)
    return cls.addgrads is not Link.addgrads or cls.copyparams is not Link.copyparams


def _copy_value(links: tuple[Link, ...], name: str) -> None:
    """As Link.copyparams does with a persistent value."""
    array_types = environment.get_array_types()
    value = links[0].__dict__.get(name)
    for link in links[1:]:
        target = link.__dict__.get(name)
        if isinstance(value, array_types) and isinstance(target, array_types):
            backend.copyto(target, value)
        else:
            link.__dict__[name] = copy.deepcopy(value)
