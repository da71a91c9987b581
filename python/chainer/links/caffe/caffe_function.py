"""`CaffeFunction`: the layers of a model of Caffe."""

from __future__ import annotations

import collections.abc as c
import functools
import os
import typing as tp
import warnings

import numpy as np

from chainer.functions.activation.leaky_relu import leaky_relu
from chainer.functions.activation.relu import relu
from chainer.functions.activation.sigmoid import sigmoid
from chainer.functions.activation.softmax import softmax
from chainer.functions.array.concat import concat
from chainer.functions.array.reshape import reshape
from chainer.functions.array.split_axis import split_axis
from chainer.functions.loss.softmax_cross_entropy import softmax_cross_entropy
from chainer.functions.noise.dropout import dropout
from chainer.functions.normalization.local_response_normalization import (
    local_response_normalization,
)
from chainer.functions.pooling.average_pooling_2d import average_pooling_2d
from chainer.functions.pooling.max_pooling_nd import max_pooling_2d
from chainer.link import Chain
from chainer.links.caffe import _extending, _schema
from chainer.links.caffe._schema import messages as caffe_pb
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.links.connection.deconvolution_2d import Deconvolution2D
from chainer.links.connection.linear import Linear
from chainer.links.connection.scale import Scale
from chainer.links.normalization.batch_normalization import BatchNormalization
from chainer.utils import argument

if tp.TYPE_CHECKING:
    from google.protobuf.message import Message

    from chainer._graph.variable import Variable
    from chainer._link.link import Link
    from chainer._typing import AnyCallable, VariableLike

Pair: tp.TypeAlias = tuple[int, int]
# Subclasses that read layers of their own import these from here.
_layer = _extending.layer
_type_to_method = _extending.type_to_method
_oldname_to_method = _extending.oldname_to_method
_get_num, _get_channels = _extending.get_num, _extending.get_channels
_get_height, _get_width = _extending.get_height, _extending.get_width
_get_ksize, _get_stride, _get_pad = (
    _extending.get_ksize,
    _extending.get_stride,
    _extending.get_pad,
)
_SingleArgumentFunction = _extending.SingleArgumentFunction
_SingleArgumentFunctionTestMode = _extending.SingleArgumentFunctionTestMode
_ListArgumentFcuntion = _extending.ListArgumentFunction
_CallChildLink = _extending.CallChildLink
_EltwiseFunction = _extending.EltwiseFunction
# Types of the older format whose names differ by more than case.
_OLD_NAMES: tp.Final = {'INNER_PRODUCT': 'InnerProduct', 'SOFTMAX_LOSS': 'SoftmaxWithLoss'}
_TYPES: tp.Final = (
    *('Concat', 'Convolution', 'Data', 'Dropout', 'LRN', 'Pooling', 'ReLU', 'Sigmoid', 'Softmax'),
    *('Split', 'Eltwise', 'Slice', 'Deconvolution'),
)
_OLD_TYPES: tp.Final = {
    _schema.OLD_TYPES[old]: new
    for old, new in (*_OLD_NAMES.items(), *((name.upper(), name) for name in _TYPES))
}


class CaffeFunction(Chain):
    """The layers of a ``.caffemodel``, as far as they are known; others give a warning.

    Layers with weights are children, named as in the file. Grouped convolutions become one with
    zeros. Reading needs the package protobuf.

    Args:
        model_path: The file.

    Attributes:
        forwards (dict): The call of each layer, by name.
        layers (list): A tuple of name, names of inputs and of outputs for each layer.
    """

    def __init__(self, model_path: str) -> None:
        super().__init__()
        net = caffe_pb.NetParameter()
        with open(model_path, 'rb') as file:
            try:
                net.MergeFromString(file.read())
            except Exception as error:
                raise ValueError(
                    f'CaffeFunction: {os.fspath(model_path)!r} is no .caffemodel: {error}'
                ) from None
        if not net.layer and not net.layers:
            raise ValueError(f'CaffeFunction: {os.fspath(model_path)!r} has no layers')
        self.forwards: dict[str, AnyCallable] = {}
        self.split_map: dict[str, str] = {}
        self.layers: list[tuple[str, list[str], list[str]]] = []
        for layer in net.layer or net.layers:
            setup = self._find_setup(layer.type)
            if setup is None:
                warnings.warn(
                    f'Skip the layer "{layer.name}", since CaffeFunction does not support it (type '
                    f'{layer.type})',
                    stacklevel=2,
                )
                continue
            try:
                setup(layer)
            except (ValueError, IndexError, RuntimeError) as error:
                cls = RuntimeError if isinstance(error, RuntimeError) else ValueError
                raise cls(f'CaffeFunction: layer {layer.name!r}: {error}') from None

    def _find_setup(self, kind: str | int) -> c.Callable[[tp.Any], None] | None:
        """The method for a type, or for a number of the older format."""
        if isinstance(kind, str):
            registered = _type_to_method.get(kind)
        else:
            registered = _oldname_to_method.get(kind)
        if registered is not None:
            return functools.partial(registered, self)
        name = kind if isinstance(kind, str) else _OLD_TYPES.get(kind)
        return getattr(self, f'_setup_{name}', None)

    def forward(
        self,
        inputs: c.Mapping[str, VariableLike],
        outputs: c.Sequence[str],
        disable: c.Sequence[str] = (),
        **kwargs: object,
    ) -> tuple[Variable, ...]:
        """Apply the layers.

        Args:
            inputs (dict of str to Variable): The inputs, by their names in the file.
            outputs (sequence of str): Names of the outputs to return.
            disable (sequence of str): Names of layers that are left out.

        Returns:
            tuple of Variable: As ``outputs``.

        Raises:
            KeyError: If the layers do not give all ``outputs``.
        """
        argument.check_unexpected_kwargs(
            kwargs, train='train argument is not supported anymore. Use chainer.using_config'
        )
        argument.assert_kwargs_empty(kwargs)
        found: dict[str, tp.Any] = dict(inputs)
        for name, bottom, top in self.layers:
            if name in disable or name not in self.forwards:
                continue
            if any(blob not in found for blob in bottom):
                continue
            function = self.forwards[name]
            xs = [found[blob] for blob in bottom]
            # A copy of the chain calls its own children.
            if isinstance(function, _CallChildLink):
                results = function.call_in(self, xs)
            else:
                results = function(*xs)
            if not isinstance(results, (tuple, list)):
                results = (results,)
            found.update(zip(top, results, strict=False))
        for blob in outputs:
            if blob not in found:
                raise KeyError(
                    f'CaffeFunction: outputs has {blob!r}, but the layers gave {", ".join(found)}'
                )
        return tuple(found[blob] for blob in outputs)

    def _add(self, layer: Message, function: AnyCallable) -> None:
        self.forwards[layer.name] = function
        self._add_layer(layer)

    def _add_layer(self, layer: Message) -> None:
        """Registers inputs and outputs of a layer whose function is in `forwards` already."""
        bottom = [self.split_map.get(blob, blob) for blob in layer.bottom]
        for blob in layer.top:  # a new value of this name
            self.split_map.pop(blob, None)
        self.layers.append((layer.name, bottom, list(layer.top)))

    def _add_link(self, layer: Message, link: Link) -> None:
        with self.init_scope():
            setattr(self, layer.name, link)
        self._add(layer, _CallChildLink(self, layer.name))

    def _setup_Data(self, layer: Message) -> None:
        pass  # a layer without inputs defines an input of the network

    def _setup_Split(self, layer: Message) -> None:
        (bottom,) = layer.bottom
        for top in layer.top:
            self.split_map[top] = self.split_map.get(bottom, bottom)

    def _setup_Convolution(self, layer: Message) -> None:
        param = layer.convolution_param
        w = _blob(layer, 0, 4)
        dilate = list(param.dilation) or [1]
        rest: tp.Any = {'nobias': not param.bias_term, 'dilate': (dilate[0], dilate[-1])}
        w = _ungroup(w, param.group)
        link = Convolution2D(
            w.shape[1], w.shape[0], w.shape[2:], _stride(param), _pad(param), initialW=w, **rest
        )
        _set_bias(layer, link)
        self._add_link(layer, link)

    def _setup_Deconvolution(self, layer: Message) -> None:
        param = layer.convolution_param
        w = _ungroup(_blob(layer, 0, 4), param.group)
        link = Deconvolution2D(
            w.shape[0],
            w.shape[1],
            w.shape[2:],
            _stride(param),
            _pad(param),
            nobias=not param.bias_term,
            initialW=w,
        )
        _set_bias(layer, link)
        self._add_link(layer, link)

    def _setup_InnerProduct(self, layer: Message) -> None:
        param = layer.inner_product_param
        _check_support(param.axis == 1, f'axis {param.axis}')
        w = _blob(layer, 0)
        if w.ndim < 2:
            raise ValueError(f'its weights have shape {w.shape}, expected two axes')
        rows, columns = w.shape[-2:]
        w = w.reshape(rows, columns)
        link = Linear(columns, rows, nobias=not param.bias_term, initialW=w)
        _set_bias(layer, link)
        self._add_link(layer, link)

    def _setup_BatchNorm(self, layer: Message) -> None:
        param = layer.batch_norm_param
        mean, var = (_blob(layer, i).ravel() for i in range(2))
        link = BatchNormalization(
            mean.size,
            decay=param.moving_average_fraction,
            eps=param.eps,
            use_gamma=False,
            use_beta=False,
        )
        # They are sums, unless nobody says of how many.
        scale = (_blob(layer, 2).ravel()[0] if len(layer.blobs) > 2 else 1) or 1
        link.avg_mean[...] = mean / scale
        link.avg_var[...] = var / scale
        with self.init_scope():
            setattr(self, layer.name, link)
        self._add(layer, _CallChildLink(self, layer.name, always_in_use=param.use_global_stats))

    def _setup_Scale(self, layer: Message) -> None:
        param = layer.scale_param
        if len(layer.bottom) == 1:
            w = _blob(layer, 0)
            link = Scale(param.axis, w.shape, param.bias_term)
            link.W.array[...] = w
        else:
            shape = _blob(layer, 0).shape if param.bias_term else None
            link = Scale(param.axis, None, param.bias_term, shape)
        if param.bias_term:
            link.bias.b.array[...] = _blob(layer, len(layer.blobs) - 1)
        self._add_link(layer, link)

    def _setup_Concat(self, layer: Message) -> None:
        axis = _axis(layer.concat_param, 'concat_dim')
        self._add(layer, lambda *xs: concat(xs, axis=axis))

    def _setup_Slice(self, layer: Message) -> None:
        param = layer.slice_param
        points = list(param.slice_point) or len(layer.top)
        axis = _axis(param, 'slice_dim')
        self._add(layer, lambda x: split_axis(x, points, axis))

    def _setup_Eltwise(self, layer: Message) -> None:
        param = layer.eltwise_param
        if param.operation not in (0, 1, 2):
            raise ValueError(f'operation is {param.operation}, expected 0 to 2')
        self._add(layer, _EltwiseFunction(param.operation, list(param.coeff)))

    def _setup_Dropout(self, layer: Message) -> None:
        ratio = layer.dropout_param.dropout_ratio
        self._add(layer, lambda x: dropout(x, ratio=ratio))

    def _setup_LRN(self, layer: Message) -> None:
        param = layer.lrn_param
        _check_support(param.norm_region == 0, 'norm_region WITHIN_CHANNEL')
        n, k, beta = param.local_size, param.k, param.beta
        alpha = param.alpha / n
        self._add(layer, lambda x: local_response_normalization(x, n, k, alpha, beta))

    def _setup_Pooling(self, layer: Message) -> None:
        param = layer.pooling_param
        _check_support(param.pool in (0, 1), f'pool {param.pool}, neither MAX nor AVE,')
        pool = (max_pooling_2d, average_pooling_2d)[param.pool]
        if param.global_pooling:
            self._add(layer, lambda x: pool(x, x.shape[2:]))
            return
        ksize = _pair(param, 'kernel_size', 'kernel')
        stride, pad = _stride(param), _pad(param)
        self._add(layer, lambda x: pool(x, ksize, stride=stride, pad=pad))

    def _setup_ReLU(self, layer: Message) -> None:
        slope = layer.relu_param.negative_slope
        self._add(layer, (lambda x: leaky_relu(x, slope=slope)) if slope else relu)

    def _setup_Sigmoid(self, layer: Message) -> None:
        self._add(layer, sigmoid)

    def _setup_Softmax(self, layer: Message) -> None:
        axis = layer.softmax_param.axis
        self._add(layer, lambda x: softmax(x, axis=axis))

    def _setup_SoftmaxWithLoss(self, layer: Message) -> None:
        axis = layer.softmax_param.axis
        _check_support(axis == 1, f'axis {axis}')
        self._add(layer, softmax_cross_entropy)

    def _setup_Reshape(self, layer: Message) -> None:
        param = layer.reshape_param
        _check_support((param.axis, param.num_axes) == (0, -1), 'to reshape a part of the axes')
        dims = tuple(param.shape.dim)
        # 0 stands for the length that the input has.
        self._add(
            layer,
            lambda x: reshape(x, tuple(d or x.shape[i] for i, d in enumerate(dims))),
        )


def _check_support(is_so: bool, text: str) -> None:
    if not is_so:
        raise RuntimeError(f'{text} is not supported')


def _blob(layer: Message, i: int, ndim: int | None = None) -> np.ndarray:
    """The weights with this number, float32."""
    if i >= len(layer.blobs):
        raise ValueError(f'it has {len(layer.blobs)} blobs, expected at least {i + 1}')
    blob = layer.blobs[i]
    data = np.array(blob.data if len(blob.data) else blob.double_data, np.float32)
    shape = tuple(blob.shape.dim)
    if not shape:
        shape = (blob.num, blob.channels, blob.height, blob.width)
        if ndim is None:  # the older format has four axes always
            shape = shape[next((k for k, n in enumerate(shape) if n != 1), 3) :]
    if data.size != np.prod(shape):
        raise ValueError(f'blob {i} has {data.size} elements, but its shape is {shape}')
    return data.reshape(shape)


def _set_bias(layer: Message, link: tp.Any) -> None:
    if link.b is not None:
        b = _blob(layer, 1)
        if b.size != link.b.size:
            raise ValueError(f'its bias has {b.size} elements, its weights are for {link.b.size}')
        link.b.array[...] = b.reshape(link.b.shape)


def _ungroup(w: np.ndarray, groups: int) -> np.ndarray:
    """The weights of one convolution for those of groups."""
    if groups == 1:
        return w
    rows, columns = w.shape[0] // groups, w.shape[1]
    whole = np.zeros((w.shape[0], columns * groups, *w.shape[2:]), w.dtype)
    for g in range(groups):
        part = slice(g * rows, (g + 1) * rows)
        whole[part, g * columns : (g + 1) * columns] = w[part]
    return whole


def _pair(param: Message, name: str, by_axis: str, default: int = 0) -> Pair:
    """Down and across, which are written in either of two ways."""
    value = getattr(param, name)
    if isinstance(value, int):
        both: tuple[int, ...] = (value, value)
    else:
        both = tuple(value) or (default,)
    down, across = both[0], both[-1]
    return getattr(param, f'{by_axis}_h') or down, getattr(param, f'{by_axis}_w') or across


def _stride(param: Message) -> Pair:
    return _pair(param, 'stride', 'stride', 1)


def _pad(param: Message) -> Pair:
    return _pair(param, 'pad', 'pad', 0)


def _axis(param: Message, old_name: str) -> int:
    return int(getattr(param, old_name) if param.HasField(old_name) else param.axis)
