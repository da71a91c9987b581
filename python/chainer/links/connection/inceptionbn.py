"""`InceptionBN`: the block of GoogLeNet with batch normalization."""

from __future__ import annotations

import typing as tp

from chainer.functions.activation.relu import relu
from chainer.functions.array.concat import concat
from chainer.functions.pooling.average_pooling_2d import average_pooling_2d
from chainer.functions.pooling.max_pooling_nd import max_pooling_2d
from chainer.link import Chain
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.links.normalization.batch_normalization import BatchNormalization
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike, InitializerSpec, VariableLike


class InceptionBN(Chain):
    """Convolutions of 1 x 1, 3 x 3 and twice 3 x 3 and a pooling of the same image, side by side.

    Args:
        in_channels: Channels of the input. None: taken from the first input.
        out1: Channels from the convolution of 1 x 1; 0 for none, as where `stride` is not 1.
        proj3: Channels to which the input of that of 3 x 3 is reduced.
        out3: Channels from the convolution of 3 x 3.
        proj33: Channels to which the input of the two of 3 x 3 is reduced.
        out33: Channels from each of these two.
        pooltype: 'max' or 'avg'.
        proj_pool: Channels from the pooling. None: those of the input, where there is no `out1`.
        stride: Steps of the last convolutions and of the pooling.
        conv_init: Initializer of the weights; `LeCunNormal` by default.
        dtype: Of the parameters of `BatchNormalization`.

    Source: Ioffe and Szegedy, Batch Normalization, ICML 2015.
    """

    def __init__(
        self,
        in_channels: int | None,
        out1: int,
        proj3: int,
        out3: int,
        proj33: int,
        out33: int,
        pooltype: str,
        proj_pool: int | None = None,
        stride: int = 1,
        conv_init: InitializerSpec | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        if pooltype not in ('max', 'avg'):
            raise NotImplementedError(
                f"InceptionBN: pooltype is {pooltype!r}, expected 'max' or 'avg'"
            )
        if out1 > 0 and (stride != 1 or proj_pool is None):
            raise ValueError(
                f'InceptionBN: out1 is {out1}, stride {stride} and proj_pool {proj_pool}; with '
                'out1, expected a stride of 1 and a number for proj_pool'
            )
        self.out1 = out1
        self.proj_pool = proj_pool
        self.stride = stride
        self.pooltype = pooltype

        def layer(ins: int | None, outs: int, ksize: int, stride: int = 1) -> Convolution2D:
            return Convolution2D(
                ins, outs, ksize, stride, ksize // 2, nobias=True, initialW=conv_init
            )

        with self.init_scope():
            self.proj3 = layer(in_channels, proj3, 1)
            self.conv3 = layer(proj3, out3, 3, stride)
            self.proj33 = layer(in_channels, proj33, 1)
            self.conv33a = layer(proj33, out33, 3)
            self.conv33b = layer(out33, out33, 3, stride)
            self.proj3n = BatchNormalization(proj3, dtype=dtype)
            self.conv3n = BatchNormalization(out3, dtype=dtype)
            self.proj33n = BatchNormalization(proj33, dtype=dtype)
            self.conv33an = BatchNormalization(out33, dtype=dtype)
            self.conv33bn = BatchNormalization(out33, dtype=dtype)
            if out1 > 0:
                self.conv1 = layer(in_channels, out1, 1)
                self.conv1n = BatchNormalization(out1, dtype=dtype)
            if proj_pool is not None:
                self.poolp = layer(in_channels, proj_pool, 1)
                self.poolpn = BatchNormalization(proj_pool, dtype=dtype)

    def forward(self, x: VariableLike) -> Variable:
        """Apply the block.

        Args:
            x (Variable or array): (N, in_channels, H, W).

        Returns:
            Variable: (N, out1 + out3 + out33 + proj_pool, out_h, out_w).
        """
        outs = []
        if self.out1 > 0:
            outs.append(relu(self.conv1n(self.conv1(x))))
        h3 = relu(self.proj3n(self.proj3(x)))
        outs.append(relu(self.conv3n(self.conv3(h3))))
        h33 = relu(self.proj33n(self.proj33(x)))
        h33 = relu(self.conv33an(self.conv33a(h33)))
        outs.append(relu(self.conv33bn(self.conv33b(h33))))
        if self.pooltype == 'max':
            pool = max_pooling_2d(x, 3, stride=self.stride, pad=1, cover_all=False)
        else:
            pool = average_pooling_2d(x, 3, stride=self.stride, pad=1)
        if self.proj_pool is not None:
            pool = relu(self.poolpn(self.poolp(pool)))
        outs.append(pool)
        return concat(outs, axis=1)
