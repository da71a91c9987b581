"""Runs exported models: by onnxruntime, or by chainerx where that has no kernel."""

import chainerx as chx
import numpy as np
import onnxruntime
from chainerx import onnx

# What onnxruntime has not: kernels for a dtype, windows of four axes and more, images of no
# channels (it changes their layout).
_LACKS = ('NOT_IMPLEMENTED', 'Unsupported pooling size', 'invalid channel count')
_LACKS += ('Only N can be zero',)


def run(proto, arrays):
    """The outputs for NumPy arrays, in the order of the inputs; and whether onnxruntime ran it."""
    arrays = [np.asarray(x) for x in arrays]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    tensors = {t.name for t in proto.graph.initializer}  # which were inputs as well, once
    names = [x.name for x in proto.graph.input if x.name not in tensors]
    try:
        session = onnxruntime.InferenceSession(
            proto.SerializeToString(), options, providers=['CPUExecutionProvider']
        )
        return session.run(None, dict(zip(names, arrays, strict=True))), True
    except Exception as error:
        is_bfloat16 = any(x.dtype.name == 'bfloat16' for x in arrays)
        if not is_bfloat16 and not any(text in str(error) for text in _LACKS):
            raise
    results = onnx.load(proto.SerializeToString())(*map(chx.array, arrays))
    results = results if isinstance(results, tuple) else (results,)
    return [chx.to_numpy(y) for y in results], False
