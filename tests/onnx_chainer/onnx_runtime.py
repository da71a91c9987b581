"""Runs exported models by onnxruntime."""

import onnxruntime


def run(proto, arrays, optimizes=True):
    """The outputs of a model (ModelProto, or the name of a file) for arrays, in their order."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # else each session starts and ends threads
    if not optimizes:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    source = proto if isinstance(proto, str) else proto.SerializeToString()
    session = onnxruntime.InferenceSession(source, options, providers=['CPUExecutionProvider'])
    names = [x.name for x in session.get_inputs()]
    if not isinstance(proto, str):
        tensors = {x.name for x in proto.graph.initializer}
        names = [name for name in names if name not in tensors]
    return session.run(None, dict(zip(names, arrays, strict=True)))
