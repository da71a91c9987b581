// Activation functions, and elementwise errors.
#include "chainerx/ops/elementwise/tables/activation.h"

#include "chainerx/ops/elementwise/composed.h"
#include "chainerx/python/elementwise_rows.h"

namespace chainerx::python {
namespace {

#define CX_PLAIN(...) CX_PLAIN_EXPANDED(__VA_ARGS__)
#define CX_PLAIN_EXPANDED(py, Name, doc, dtypes, result)                                      \
    CX_ELEMENTWISE_ROUTINE(py, "x: ndarray) -> ndarray", doc CX_ARGS_X dtypes ".\n" result) { \
        return Wrap(Name(ToArray(#py, "x", a[0])));                                           \
    }

#define CX_DOC "any real dtype", CX_FLOAT CX_GRADIENT CX_RAISES_COMPLEX
CX_PLAIN(relu, Relu, "``max(x, 0)``. The derivative at 0 is 1.", CX_DOC)
CX_PLAIN(_relu, Rectify, "``max(x, 0)``. The derivative at 0 is 0, as in chainer.", CX_DOC)
CX_PLAIN(sigmoid, Sigmoid, "``1 / (1 + exp(-x))``.", CX_DOC)
CX_PLAIN(silu, Silu, "``x * sigmoid(x)`` (Elfwing et al., 2017; swish with beta 1).", CX_DOC)
CX_PLAIN(mish, Mish, "``x * tanh(log(1 + exp(x)))`` (Misra, 2019).", CX_DOC)
#undef CX_DOC

#define CX_ACTIVATION(py, parameter, fallback, doc, expression)                                \
    CX_ELEMENTWISE_ROUTINE(py, "x: ndarray, " parameter ": float = " #fallback ") -> ndarray", \
                           doc CX_ARGS_X                                                       \
                           "any real dtype.\n    " parameter                                   \
                           " (float): See above.\n" CX_FLOAT CX_GRADIENT CX_RAISES_COMPLEX) {  \
        const Array& x = ToArray(#py, "x", a[0]);                                              \
        const double p = a[1] != nullptr ? ToDouble(#py, parameter, a[1]) : fallback;          \
        return Wrap(expression);                                                               \
    }
CX_ACTIVATION(elu, "alpha", 1.0, "``x`` where it is positive, ``alpha * (exp(x) - 1)`` elsewhere.",
              Elu(x, p))
CX_ACTIVATION(leaky_relu, "slope", 0.2, "``x`` where it is not negative, ``slope * x`` elsewhere.",
              LeakyRelu(x, p))
CX_ACTIVATION(clipped_relu, "z", 20.0, "``min(max(x, 0), z)``.", ClippedRelu(x, p))
CX_ACTIVATION(softplus, "beta", 1.0,
              "Smooth rectifier, ``log(1 + exp(beta * x)) / beta`` (Dugas et al., NIPS 2000).",
              Softplus(x, p))

CX_ELEMENTWISE_ROUTINE(gelu, "x: ndarray, approximate: str = 'none') -> ndarray",
                       "Gaussian error linear unit: ``x * N(x)``, where N is the standard normal "
                       "distribution function.\n\n"
                       "Args:\n"
                       "    x (ndarray): Any shape, any real dtype.\n"
                       "    approximate (str): 'none', or 'tanh' for ``x * (1 + tanh(sqrt(2 / pi) "
                       "* (x + 0.044715 * x ** 3))) / 2``.\n"
                       "Returns:\n"
                       "    ndarray: Shape and float dtype of ``x``. Differentiable, any order.\n"
                       "Raises:\n"
                       "    DtypeError: If ``x`` is complex.\n"
                       "    ValueError: If there is no such approximation.\n"
                       "Source: Hendrycks and Gimpel, 2016.") {
    GeluApproximation approximate = GeluApproximation::kNone;
    if (a[1] != nullptr) {
        const std::string_view name = ToString("gelu", "approximate", a[1]);
        if (name != "none" && name != "tanh") {
            throw ValueError{"gelu: approximate is '", name, "', expected 'none' or 'tanh'"};
        }
        if (name == "tanh") approximate = GeluApproximation::kTanh;
    }
    return Wrap(Gelu(ToArray("gelu", "x", a[0]), approximate));
}

CX_ELEMENTWISE_ROUTINE(
    prelu, "x: ndarray, slope: ndarray) -> ndarray",
    "``x`` where it is not negative, ``slope * x`` elsewhere (He et al., ICCV 2015).\n\n"
    "Args:\n"
    "    x (ndarray): Any shape, any real dtype.\n"
    "    slope (ndarray): Broadcast with ``x``.\n" CX_PROMOTED CX_GRADIENT) {
    return Wrap(Prelu(ToArray("prelu", "x", a[0]), ToArray("prelu", "slope", a[1])));
}

CX_ELEMENTWISE_ROUTINE(swish, "x: ndarray, beta: ndarray) -> ndarray",
                       "``x * sigmoid(beta * x)`` (Ramachandran et al., 2017).\n\n"
                       "Args:\n"
                       "    x (ndarray): Any shape, any real dtype.\n"
                       "    beta (ndarray): Broadcast with ``x``.\n" CX_PROMOTED CX_GRADIENT) {
    return Wrap(Swish(ToArray("swish", "x", a[0]), ToArray("swish", "beta", a[1])));
}

CX_ROUTINE(crelu, "x: ndarray, axis: int = 1) -> ndarray",
           "``relu(x)`` and ``relu(-x)``, concatenated along an axis (Shang et al., ICML 2016).\n\n"
           "Args:\n"
           "    x (ndarray): Any real dtype.\n"
           "    axis (int): The axis of the concatenation.\n"
           "Returns:\n"
           "    ndarray: The float dtype of ``x``. Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If there is no such axis.") {
    const int8_t axis = a[1] != nullptr ? ToAxis("crelu", "axis", a[1]) : int8_t{1};
    return Wrap(Crelu(ToArray("crelu", "x", a[0]), axis));
}

#define CX_ERROR(py, Name, doc)                                                        \
    CX_ELEMENTWISE_ROUTINE(py, "x1: ndarray, x2: ndarray) -> ndarray",                 \
                           doc CX_ARGS_X1_X2 CX_PROMOTED CX_GRADIENT CX_RAISES_BOOL) { \
        return Wrap(Name(ToArray(#py, "x1", a[0]), ToArray(#py, "x2", a[1])));         \
    }
CX_ERROR(absolute_error, AbsoluteError, "``|x1 - x2|``.")
CX_ERROR(squared_error, SquaredError, "``(x1 - x2) ** 2``.")

}  // namespace
}  // namespace chainerx::python
