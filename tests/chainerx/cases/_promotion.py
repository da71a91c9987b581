"""The dtype rules of chainerx, written a second time, so that the tests don't ask the library."""

BOOL = ('bool',)
SIGNED = ('int8', 'int16', 'int32', 'int64')
UNSIGNED = ('uint8', 'uint16', 'uint32', 'uint64')
INTS = SIGNED + UNSIGNED
FLOATS = ('float16', 'bfloat16', 'float32', 'float64')
COMPLEX = ('complex64', 'complex128')
REAL = INTS + FLOATS
NUMERIC = REAL + COMPLEX
ALL = BOOL + NUMERIC

_SIZE = {'bool': 1, 'float16': 2, 'bfloat16': 2, 'complex64': 8, 'complex128': 16}
_SIZE |= {name: int(name.lstrip('uintfloa')) // 8 for name in (*INTS, 'float32', 'float64')}


def size(dtype):
    return _SIZE[dtype]


def category(dtype):
    """0 for bool, 1 int, 2 float, 3 complex."""
    return next(i for i, g in enumerate((BOOL, INTS, FLOATS, COMPLEX)) if dtype in g)


def _pair(a, b):
    if category(a) > category(b):
        a, b = b, a
    if a == b or a == 'bool':
        return b
    if category(b) == 3:  # a complex has two parts of the float's width; ints never widen it
        return 'complex128' if a == 'float64' or 'complex128' in (a, b) else 'complex64'
    if category(a) < category(b):
        return b  # float beats int, whatever the widths
    if category(a) == 2:
        if size(a) == size(b):
            return 'float32'  # neither float16 nor bfloat16 represents all values of the other
        return max(a, b, key=size)
    if (a in SIGNED) == (b in SIGNED):
        return max(a, b, key=size)
    signed, unsigned = (a, b) if a in SIGNED else (b, a)
    if size(signed) > size(unsigned):
        return signed
    # No integer dtype represents both int64 and uint64; float64 as in NumPy.
    return {1: 'int16', 2: 'int32', 4: 'int64', 8: 'float64'}[size(unsigned)]


def scalar_dtype(value):
    """Default dtype of a Python scalar."""
    kinds = ((bool, 'bool'), (int, 'int32'), (float, 'float32'), (complex, 'complex64'))
    return next(dtype for kind, dtype in kinds if isinstance(value, kind))


def promote(*operands):
    """Result dtype of operands, each the name of an array's dtype or a Python scalar (weak)."""
    arrays = [x for x in operands if isinstance(x, str)]
    scalars = [x for x in operands if not isinstance(x, str)]
    if not arrays:
        arrays, scalars = [scalar_dtype(x) for x in scalars], []
    result = arrays[0]
    for dtype in arrays[1:]:
        result = _pair(result, dtype)
    for value in scalars:
        if isinstance(value, complex):
            result = _pair(result, 'complex64')
        elif isinstance(value, float) and category(result) < 2:
            result = 'float32'
    return result


def bits(*operands):
    """Like promote, but bool yields to numbers, too."""
    result = promote(*operands)
    numbers = [x for x in operands if isinstance(x, int) and not isinstance(x, bool)]
    return 'int32' if result == 'bool' and numbers else result


def math(dtype):
    """Floats and complex are unchanged, all other dtypes become the default float."""
    return dtype if category(dtype) >= 2 else 'float32'


def total(dtype):
    """The result dtype of sums and products: int64 for integers, uint64 for unsigned ones."""
    if dtype in UNSIGNED:
        return 'uint64'
    return dtype if category(dtype) >= 2 else 'int64'


def real(dtype):
    return {'complex64': 'float32', 'complex128': 'float64'}.get(dtype, dtype)
