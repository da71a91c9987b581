// Losses and evaluation.
#include "chainerx/ops/loss/loss.h"

#include "chainerx/python/convert.h"

namespace chainerx::python {
namespace {

CX_ELEMENTWISE_ROUTINE(
    gaussian_kl_divergence, "mean: ndarray, ln_var: ndarray) -> ndarray",
    "KL divergence of a normal distribution from the standard one, elementwise:\n"
    "``(mean ** 2 + exp(ln_var) - ln_var - 1) / 2``.\n\n"
    "Args:\n"
    "    mean (ndarray): Real numbers.\n"
    "    ln_var (ndarray): Logarithm of the variance; broadcast with ``mean``.\n"
    "Returns:\n    ndarray: Elementwise, not averaged. Differentiable, any order.\n"
    "Raises:\n    DimensionError: If the shapes do not broadcast.\n"
    "    DtypeError: If one is bool or complex.") {
    return Wrap(GaussianKlDivergence(ToArray("gaussian_kl_divergence", "mean", a[0]),
                                     ToArray("gaussian_kl_divergence", "ln_var", a[1])));
}

CX_ELEMENTWISE_ROUTINE(huber_loss, "x1: ndarray, x2: ndarray, delta: float) -> ndarray",
                       "Half the squared error where ``abs(x1 - x2) <= delta``, linear beyond.\n\n"
                       "Args:\n"
                       "    x1 (ndarray): Real numbers.\n"
                       "    x2 (ndarray): Broadcast with ``x1``.\n"
                       "    delta (float): Threshold between the quadratic and the linear part.\n"
                       "Returns:\n"
                       "    ndarray: Elementwise, not averaged. Differentiable, any order.\n"
                       "Raises:\n"
                       "    DimensionError: If the shapes do not broadcast.\n"
                       "    DtypeError: If one is bool or complex.\n"
                       "Source: Huber, 1964.") {
    return Wrap(HuberLoss(ToArray("huber_loss", "x1", a[0]), ToArray("huber_loss", "x2", a[1]),
                          ToDouble("huber_loss", "delta", a[2])));
}

CX_ROUTINE(sigmoid_cross_entropy, "x1: ndarray, x2: ndarray) -> ndarray",
           "Cross entropy of sigmoid(x1) and the labels x2, elementwise.\n\n"
           "Args:\n"
           "    x1 (ndarray): Real.\n"
           "    x2 (ndarray): Labels of the shape of ``x1``, integers: 0 or 1, or -1 to ignore the "
           "element.\n"
           "Returns:\n"
           "    ndarray: Not averaged. Differentiable in ``x1``, any order.\n"
           "Raises:\n"
           "    DimensionError: If the shapes differ.\n"
           "    DtypeError: If ``x1`` is not real, or ``x2`` not of an integer dtype.") {
    return Wrap(SigmoidCrossEntropy(ToArray("sigmoid_cross_entropy", "x1", a[0]),
                                    ToArray("sigmoid_cross_entropy", "x2", a[1])));
}

CX_ROUTINE(hinge, "x1: ndarray, x2: ndarray, norm: float = 1.0) -> ndarray",
           "Hinge loss of one class against the rest.\n\n"
           "Args:\n"
           "    x1 (ndarray): (rows, classes), real.\n"
           "    x2 (ndarray): (rows,), integers from 0 to classes - 1.\n"
           "    norm (float): Exponent of the loss.\n"
           "Returns:\n"
           "    ndarray: Shape of ``x1``, ``max(0, 1 - s * x1) ** norm``, with s 1 for the right "
           "class and -1 for the others. Differentiable in ``x1``, any order.\n"
           "Raises:\n"
           "    IndexError: If a label is out of range.\n"
           "    DimensionError: If the shapes do not fit.\n"
           "    DtypeError: If ``x1`` is not real, or ``x2`` not of an integer dtype.") {
    return Wrap(Hinge(ToArray("hinge", "x1", a[0]), ToArray("hinge", "x2", a[1]),
                      a[2] == nullptr ? 1.0 : ToDouble("hinge", "norm", a[2])));
}

CX_ROUTINE(accuracy, "y: ndarray, t: ndarray, ignore_label: int | None = None) -> ndarray",
           "The share of correct predictions ``argmax(y, 1) == t``.\n\n"
           "Args:\n"
           "    y (ndarray): (rows, classes, ...), float.\n"
           "    t (ndarray): (rows, ...), integers.\n"
           "    ignore_label (int): Elements with this label do not count; the result is 0 if all "
           "have it.\n"
           "Returns:\n"
           "    ndarray: 0-dimensional, dtype of ``y``. Not differentiable.\n"
           "Raises:\n"
           "    DimensionError: If the shapes do not fit.\n"
           "    DtypeError: If ``y`` is not float, or ``t`` not of an integer dtype.") {
    std::optional<int64_t> ignore_label;
    if (Given(a[2])) ignore_label = ToInt("accuracy", "ignore_label", a[2]);
    return Wrap(
        Accuracy(ToArray("accuracy", "y", a[0]), ToArray("accuracy", "t", a[1]), ignore_label));
}

}  // namespace
}  // namespace chainerx::python
