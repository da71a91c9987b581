"""Source text of the CuPy kernels of `chainer.utils.conv_nd`, one per number of dimensions.

Parameters are the sizes of the image (``d_0``, ...), of the output (``out``) and of the kernel
(``k``), stride (``s``), padding (``p``) and dilation (``di``). ``i`` is the position of an element.
"""

from __future__ import annotations

from chainer.backends import cuda


def vars(prefix: str, n: int) -> list[str]:
    """Names of ``n`` variables."""
    return [f'{prefix}_{i}' for i in range(n)]


def mulexp(xs: list[str]) -> str:
    """The product; 1 if there is nothing to multiply."""
    return ' * '.join(xs) or '1'


def _int_params(ndim: int) -> str:
    names = [name for prefix in ('d', 'out', 'k', 's', 'p', 'di') for name in vars(prefix, ndim)]
    return ', '.join(f'int32 {name}' for name in names)


def _unravel(names: list[str], sizes: list[str]) -> list[str]:
    """Statements that find the indices of element ``i``; the last axes of ``sizes`` are theirs."""
    lines = []
    first = len(sizes) - len(names)
    for name, size, rest in zip(
        names, sizes[first:], (sizes[j + 1 :] for j in range(first, len(sizes))), strict=True
    ):
        lines.append(f'int {name} = i / ({mulexp(rest)}) % {size};')
    return lines


def _ravel(indices: list[str], sizes: list[str]) -> str:
    """An expression of the position of an element."""
    position = indices[0]
    for index, size in zip(indices[1:], sizes[1:], strict=True):
        position = f'({position} * {size} + {index})'
    return position


class Im2colNDKernel:
    """The kernel that makes columns."""

    @staticmethod
    @cuda.memoize()
    def generate(ndim: int) -> tuple[str, str, str, str]:
        """Arguments of `chainer.backends.cuda.elementwise`."""
        return _im2col_nd_kernel._generate(ndim)

    def _generate(self, ndim: int) -> tuple[str, str, str, str]:
        d, out, k, s, p, di = (vars(x, ndim) for x in ('d', 'out', 'k', 's', 'p', 'di'))
        kx, ox, x = (vars(name, ndim) for name in ('kx', 'out_x', 'x'))
        lines = [f'int c0 = i / ({mulexp(k + out)});', *_unravel(kx + ox, k + out)]
        for j in range(ndim):
            lines.append(f'int {x[j]} = {kx[j]} * {di[j]} + {ox[j]} * {s[j]} - {p[j]};')
        inside = ' && '.join(f'0 <= {x[j]} && {x[j]} < {d[j]}' for j in range(ndim)) or 'true'
        lines.append(f'col = {inside} ? img[{_ravel(["c0", *x], ["", *d])}] : (T)0;')
        return f'raw T img, {_int_params(ndim)}', 'T col', '\n'.join(lines), f'im2col_{ndim}d'


class Col2imNDKernel:
    """The kernel that sums columns into an image."""

    @staticmethod
    @cuda.memoize()
    def generate(ndim: int) -> tuple[str, str, str, str]:
        """Arguments of `chainer.backends.cuda.elementwise`."""
        return _col2im_nd_kernel._generate(ndim)

    def _generate(self, ndim: int) -> tuple[str, str, str, str]:
        d, out, k, s, p, di = (vars(x, ndim) for x in ('d', 'out', 'k', 's', 'p', 'di'))
        kx, ox, x = (vars(name, ndim) for name in ('kx', 'out_x', 'x'))
        lines = [f'int c0 = i / ({mulexp(d)});', *_unravel(x, d), 'T val = 0;']
        for j in range(ndim):
            indent = '  ' * j
            lines += [
                f'{indent}for (int {kx[j]} = 0; {kx[j]} < {k[j]}; ++{kx[j]}) {{',
                f'{indent}  int {ox[j]} = {x[j]} + {p[j]} - {kx[j]} * {di[j]};',
                f'{indent}  if (0 > {ox[j]} || {ox[j]} >= {out[j]} * {s[j]}) continue;',
                f'{indent}  if ({ox[j]} % {s[j]} != 0) continue;',
                f'{indent}  {ox[j]} /= {s[j]};',
            ]
        position = _ravel(['c0', *kx, *ox], ['', *k, *out])
        lines.append(f'{"  " * ndim}val = val + col[{position}];')
        lines += [f'{"  " * j}}}' for j in reversed(range(ndim))]
        lines.append('img = val;')
        return f'raw T col, {_int_params(ndim)}', 'T img', '\n'.join(lines), f'col2im_{ndim}d'


_im2col_nd_kernel = Im2colNDKernel()
_col2im_nd_kernel = Col2imNDKernel()
