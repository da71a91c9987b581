"""Names of other libraries that programs look up, but chainerx lacks; their replacements."""

from __future__ import annotations

_CUDA_SOURCE = (
    "it is CuPy's, and compiles CUDA source for its arrays; compose routines of chainerx, which "
    'run on every device, or use chainerx.cuda.{}, which compiles it for those of GPUs'
)
_POOL = "it is CuPy's; memory_stats() and free_memory_cache() are about the memory of chainerx"
_ERRORS = (
    'floating point errors are not signalled; isfinite() finds them, as does '
    "chainer.using_config('debug', True)"
)
_TEXT = 'NumPy writes the text of arrays: numpy.printoptions() says how'
_MATRICES = 'arrays of two axes are the matrices, x1 @ x2 is their product'
_POLYNOMIALS = 'arrays of coefficients are the polynomials: poly(), polyval(), roots()'
_LOOPS = 'chainerx.vectorize() calls a function for each element, chainerx.func.vmap() for arrays'
_DRAWS = 'chainerx.random draws numbers: its names are those of numpy.random'
_NO_GRAPH = 'nothing is recorded within chainerx.no_backprop_mode()'
_DTYPES = 'there is no such dtype; docs/dtypes.md lists those of arrays'

_INSTEAD = {
    'ElementwiseKernel': _CUDA_SOURCE.format('ElementwiseKernel'),
    'ReductionKernel': _CUDA_SOURCE.format('ReductionKernel'),
    'RawKernel': _CUDA_SOURCE.format('RawKernel'),
    'RawModule': _CUDA_SOURCE.format('RawKernel'),
    'fuse': "it is CuPy's, and joins CUDA kernels; chainerx.capture() does, in steps that repeat",
    'memoize': "it is CuPy's; functools.lru_cache() keeps results",
    'asnumpy': 'chainerx.to_numpy(x) gives the values of an array to NumPy',
    'get_array_module': 'chainer.backend.get_array_module(x) tells the module of an array',
    'scatter_add': 'chainerx.add_at(a, indices, b) adds in place, x.at[indices].add(b) does not',
    'get_default_memory_pool': _POOL,
    'get_default_pinned_memory_pool': _POOL,
    'errstate': _ERRORS,
    'seterr': _ERRORS,
    'geterr': _ERRORS,
    'set_printoptions': _TEXT,
    'get_printoptions': _TEXT,
    'printoptions': _TEXT,
    'array_repr': _TEXT,
    'array_str': _TEXT,
    'array2string': _TEXT,
    'matrix': _MATRICES,
    'asmatrix': _MATRICES,
    'bmat': _MATRICES,
    'poly1d': _POLYNOMIALS,
    'polynomial': _POLYNOMIALS,
    'frompyfunc': _LOOPS,
    'nditer': _LOOPS,
    'longdouble': _DTYPES,
    'float128': _DTYPES,
    'object_': _DTYPES,
    'str_': _DTYPES,
    'datetime64': _DTYPES,
    'timedelta64': _DTYPES,
    'ma': 'there are no masked arrays; reductions take `where`, nansum() and kin leave NaN out',
    # PyTorch's and JAX's.
    'tensor': 'chainerx.array() makes an array of numbers, lists or NumPy arrays',
    'from_numpy': 'asarray() shares memory with a NumPy array, array() copies it',
    'cat': 'it is concatenate() here, as in NumPy',
    'clamp': 'it is clip() here, as in NumPy',
    'gather': 'it is take_along_axis() here, as in NumPy',
    'scatter': 'put_along_axis() writes in place, x.at[indices].set(values) does not',
    'masked_fill': 'it is where(mask, value, x) here, as in NumPy',
    'unsqueeze': 'it is expand_dims() here, as in NumPy, or x[..., None]',
    'mm': 'it is matmul() here, as in NumPy, or x1 @ x2',
    'bmm': 'it is matmul() here, as in NumPy, or x1 @ x2',
    'numel': 'it is x.size here, as in NumPy',
    'rand': _DRAWS,
    'randn': _DRAWS,
    'randint': _DRAWS,
    'randperm': 'it is chainerx.random.permutation(n)',
    'manual_seed': 'it is chainerx.random.seed(n)',
    'no_grad': _NO_GRAPH,
    'inference_mode': _NO_GRAPH,
    'set_grad_enabled': _NO_GRAPH,
    'stop_gradient': 'x.as_grad_stopped() is outside of graphs, and shares the memory of x',
    'jit': 'chainerx.capture() records a step, and replays it',
    'compile': 'chainerx.capture() records a step, and replays it',
    'vmap': 'it is chainerx.func.vmap()',
    'jvp': 'it is chainerx.func.jvp()',
    'nn': 'layers are chainer.links and chainer.functions; losses are functions',
    'optim': 'it is chainer.optimizers',
    'device_put': 'x.to_device(name) copies to a device',
    'memmap': 'chainerx.asarray(numpy.memmap(...)) shares its memory on a native device',
}


def explain(name: str) -> str:
    """The message of the AttributeError for a name that the module does not have.

    Args:
        name (str): What was asked for.
    Returns:
        str: With what there is in its place, where programs are known to ask for it.
    """
    message = f"module 'chainerx' has no attribute '{name}'"
    return f'{message}: {_INSTEAD[name]}' if name in _INSTEAD else message
