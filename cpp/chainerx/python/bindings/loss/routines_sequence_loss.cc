// Losses of sequences, used by chainer.
#include "chainerx/ops/loss/crf.h"
#include "chainerx/ops/loss/ctc.h"
#include "chainerx/python/convert.h"

namespace chainerx::python {
namespace {

CX_ROUTINE(_connectionist_temporal_classification,
           "x: ndarray, t: ndarray, input_length: ndarray, label_length: ndarray, "
           "blank_symbol: int) -> ndarray",
           "Connectionist temporal classification loss of (steps, rows, classes) and labels (rows, "
           "labels).") {
    constexpr const char* kOp = "connectionist_temporal_classification";
    return Wrap(ConnectionistTemporalClassification(
        ToArray(kOp, "x", a[0]), ToArray(kOp, "t", a[1]), ToArray(kOp, "input_length", a[2]),
        ToArray(kOp, "label_length", a[3]), ToInt(kOp, "blank_symbol", a[4])));
}

CX_ROUTINE(_crf1d, "cost: ndarray, xs: list[ndarray], ys: list[ndarray]) -> ndarray",
           "Negative log-likelihood of label sequences, computed step by step.") {
    return Wrap(Crf1d(ToArray("crf1d", "cost", a[0]), ToArrays("crf1d", "xs", a[1]),
                      ToArrays("crf1d", "ys", a[2])));
}

CX_ROUTINE(
    _argmax_crf1d, "cost: ndarray, xs: list[ndarray]) -> list[ndarray]",
    "The score of the best label sequences, followed by their labels, computed step by step.") {
    CrfPath path =
        ArgMaxCrf1d(ToArray("argmax_crf1d", "cost", a[0]), ToArrays("argmax_crf1d", "xs", a[1]));
    path.labels.insert(path.labels.begin(), std::move(path.score));
    return WrapList(path.labels);
}

}  // namespace
}  // namespace chainerx::python
