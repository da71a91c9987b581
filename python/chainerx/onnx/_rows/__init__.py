"""How each routine is written, in files that have the names of the rooms of ``ops``."""

from chainerx.onnx._rows import (  # noqa: F401
    activation,
    arithmetic,
    attention,
    comparison,
    conv,
    index,
    linalg,
    loss,
    norm,
    numeric,
    pool,
    reduce,
    rnn,
    shape,
    sort,
    special,
)
