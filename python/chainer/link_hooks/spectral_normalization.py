"""`SpectralNormalization`: a weight divided by its largest singular value."""

from __future__ import annotations

import typing as tp

import numpy as np
from chainerx._core import engine, functional

from chainer import backend, functions
from chainer._graph.repeated import as_at_first, moves
from chainer.configuration import config
from chainer.link import Link
from chainer.link_hooks._weight import WeightHook
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from types import ModuleType

    from chainer._typing import NdArray, VariableLike

# Their weights have the axis of outputs second.
_DECONVOLUTIONS = {'Deconvolution2D', 'DeconvolutionND'}


def l2normalize(xp: ModuleType, v: NdArray, eps: float) -> NdArray:
    """Return an array divided by its norm plus `eps`."""
    return v / (xp.sqrt((v * v).sum()) + eps)


def update_approximate_vectors(
    weight_matrix: Variable, u: NdArray, n_power_iteration: int, eps: float
) -> tuple[NdArray, NdArray]:
    """Improve the guess `u` of the first left singular vector by power iteration.

    Returns:
        The left vector and the right one, arrays.
    """
    w = weight_matrix.array
    xp = backend.get_array_module(w)
    for _ in range(n_power_iteration):
        v = l2normalize(xp, xp.dot(u, w), eps)
        u = l2normalize(xp, xp.dot(w, v), eps)
    return u, v


def calculate_max_singular_value(weight_matrix: VariableLike, u: NdArray, v: NdArray) -> Variable:
    """Return ``u @ W @ v``, which is differentiable in `W`."""
    return functions.matmul(functions.matmul(u, weight_matrix), v)


class SpectralNormalization(WeightHook):
    """Divides the weight of a link by its largest singular value, estimated anew in each forward.

    The link gets a persistent value, `W_u`, the guess of the left singular vector. It moves on in
    training only.

    Args:
        n_power_iteration: Steps of power iteration per forward, positive.
        eps: Added to norms.
        use_gamma: Whether the link gets a parameter `gamma`, which multiplies the weight.
        factor: The weight is scaled so that its largest singular value is this; 1 by default.
        weight_name: Which parameter.
        name: Of the hook.

    Attributes:
        v (array): The guess of the right singular vector in the last forward.
        original_weight (Parameter): The parameter that the last forward normalized.

    Source: Miyato et al., Spectral Normalization for Generative Adversarial Networks, ICLR 2018.
    """

    name = 'SpectralNormalization'

    def __init__(
        self,
        n_power_iteration: int = 1,
        eps: float = 1e-6,
        use_gamma: bool = False,
        factor: float | None = None,
        weight_name: str = 'W',
        name: str | None = None,
    ) -> None:
        assert n_power_iteration > 0, f'n_power_iteration is {n_power_iteration}'
        super().__init__(weight_name, name)
        self.n_power_iteration = n_power_iteration
        self.eps = eps
        self.use_gamma = use_gamma
        self.factor = factor
        self.vector_name = f'{weight_name}_u'
        self.axis = 0

    def added(self, link: Link | None) -> None:
        super().added(link)
        if getattr(link, self.weight_name).is_initialized:
            self._prepare_parameters(link)

    def deleted(self, link: Link | None) -> None:
        for name in [self.vector_name, *(['gamma'] if self.use_gamma else [])]:
            if hasattr(link, name):
                delattr(link, name)
        for name in (self._right_name, self._shown_name):
            vars(link).pop(name, None)

    def _show(self, link: tp.Any, v: tp.Any) -> tp.Any:
        """Sets `v`; a step that is recorded writes it to the same array each time, as is done from
        then on."""
        owner, kept = vars(link).get(self._shown_name, (None, None))
        if owner != id(link):  # of the link that this one is a copy of
            kept = None
        if kept is None and engine.is_capturing():
            kept = engine.unobserved(v.copy)
            vars(link)[self._shown_name] = id(link), kept
        if kept is not None and backend.get_device_from_array(kept) == link.device:
            backend.copyto(kept, v)
            v = kept
        self.v = v
        return v

    @property
    def _shown_name(self) -> str:
        return f'_{self.weight_name}_v_shown'

    @property
    def _right_name(self) -> str:
        return f'_{self.weight_name}_v'

    def _prepare_parameters(self, link: tp.Any) -> None:
        w = self._matrix(link)
        if w.shape[0] == 0:
            raise ValueError(
                f'{self.name}: {self.weight_name} has shape {w.shape}: Expect W.shape[0] > 0'
            )
        if not hasattr(link, self.vector_name):
            u = np.random.normal(size=w.shape[0]).astype(w.dtype)
            link.add_persistent(self.vector_name, link.device.send(u))
        if self.use_gamma and not hasattr(link, 'gamma'):
            # NumPy has no singular values of half precision.
            host = backend.CpuDevice().send(w.array)
            work = host.astype(np.promote_types(host.dtype, np.float32))
            largest = np.linalg.svd(work, compute_uv=False)[0]
            with link.init_scope():
                link.gamma = Parameter(np.asarray(largest, host.dtype))

    def _matrix(self, link: tp.Any) -> Variable:
        is_deconvolution = any(c.__name__ in _DECONVOLUTIONS for c in type(link).__mro__)
        self.axis = 1 if is_deconvolution else 0
        return self.reshape_W(getattr(link, self.weight_name))

    def reshape_W(self, W: Variable) -> Variable:
        """Return the weight as a matrix with one row per output.

        Args:
            W (Variable): The weight.

        Returns:
            Variable: 2-d.
        """
        if self.axis != 0:
            others = [axis for axis in range(W.ndim) if axis != self.axis]
            W = functions.transpose(W, (self.axis, *others))
        return W if W.ndim == 2 else functions.reshape(W, (W.shape[0], -1))

    def normalize_weight(self, link: tp.Any) -> Variable:
        """Compute the weight that is used in this forward.

        Args:
            link (Link): Whose weight.

        Returns:
            Variable: Of the shape of the weight.
        """
        self._prepare_parameters(link)
        matrix = self._matrix(link)
        moving = getattr(link, self.vector_name)
        if (
            config.in_recomputing
            and not functional.is_repeated()
            and self._right_name in vars(link)
        ):
            # The user repeats the last forward, which has updated `u` already.
            u, v = moving, vars(link)[self._right_name]
        else:
            u, v = update_approximate_vectors(
                matrix, as_at_first(moving), self.n_power_iteration, self.eps
            )
            shown = self._show(link, v)
            if config.train and moves(moving):
                backend.copyto(moving, u)
                vars(link)[self._right_name] = shown
        sigma: tp.Any = calculate_max_singular_value(matrix, u, v)
        if self.factor is not None:
            sigma = sigma / self.factor
        weight = getattr(link, self.weight_name) / sigma
        return weight * link.gamma if self.use_gamma else weight
