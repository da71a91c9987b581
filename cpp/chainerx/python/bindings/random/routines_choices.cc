// chainerx.random: discrete distributions and choices.
#include "chainerx/ops/random/random_distributions.h"

#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/generator.h"

namespace chainerx::python {
namespace {

#define CX_COUNTS "Returns:\n    ndarray: Independent integers.\n"
#define CX_RAISES_RANGE                                                                        \
    "Raises:\n"                                                                                \
    "    ValueError: If a parameter is out of range; for elements of arrays, when the device " \
    "computes."

CX_DRAW(poisson, "lam: float | ndarray = 1.0, " CX_DRAW_SIGNATURE,
        "Samples from a Poisson distribution.\n\n"
        "Args:\n"
        "    lam (float or ndarray): Mean, at least 0.\n" CX_COUNT_ARGS CX_COUNTS CX_RAISES_RANGE
        "\nSource: Hörmann, Insurance: Mathematics and Economics, 1993.") {
    return Wrap(random::Poisson(ToParameter("poisson", "lam", a[0], 1),
                                ToDrawOptions("poisson", self, a + 1)));
}

CX_DRAW(
    binomial, "n: int | ndarray, p: float | ndarray, " CX_DRAW_SIGNATURE,
    "Samples from a binomial distribution: numbers of successes.\n\n"
    "Args:\n"
    "    n (int or ndarray): Number of trials, at least 0.\n"
    "    p (float or ndarray): Probability of a success.\n" CX_COUNT_ARGS CX_COUNTS CX_RAISES_RANGE
    "\nSource: Hörmann, Journal of Statistical Computation and Simulation, 1993.") {
    return Wrap(random::Binomial(ToParameter("binomial", "n", a[0]),
                                 ToParameter("binomial", "p", a[1]),
                                 ToDrawOptions("binomial", self, a + 2)));
}

CX_DRAW(
    negative_binomial, "n: float | ndarray, p: float | ndarray, " CX_DRAW_SIGNATURE,
    "Samples from a negative binomial distribution: numbers of failures before ``n`` successes.\n\n"
    "Args:\n"
    "    n (float or ndarray): Number of successes, above 0.\n"
    "    p (float or ndarray): Probability of a success, above 0.\n" CX_COUNT_ARGS CX_COUNTS
        CX_RAISES_RANGE) {
    return Wrap(random::NegativeBinomial(ToParameter("negative_binomial", "n", a[0]),
                                         ToParameter("negative_binomial", "p", a[1]),
                                         ToDrawOptions("negative_binomial", self, a + 2)));
}

CX_DRAW(geometric, "p: float | ndarray, " CX_DRAW_SIGNATURE,
        "Samples from a geometric distribution: numbers of trials up to the first success.\n\n"
        "Args:\n"
        "    p (float or ndarray): Probability of a success, above 0.\n" CX_COUNT_ARGS CX_COUNTS
            CX_RAISES_RANGE) {
    return Wrap(random::Geometric(ToParameter("geometric", "p", a[0]),
                                  ToDrawOptions("geometric", self, a + 1)));
}

CX_DRAW(
    zipf, "a: float | ndarray, " CX_DRAW_SIGNATURE,
    "Samples from a Zipf distribution: ``k >= 1`` with probability proportional to ``k**-a``.\n\n"
    "Args:\n"
    "    a (float or ndarray): Exponent, above 1.\n" CX_COUNT_ARGS CX_COUNTS CX_RAISES_RANGE
    "\n"
    "Note:\n"
    "    Samples beyond int64, which are likely where ``a`` is near 1, are drawn again.\n"
    "Source: Devroye, Non-Uniform Random Variate Generation, 1986.") {
    return Wrap(random::Zipf(ToParameter("zipf", "a", a[0]), ToDrawOptions("zipf", self, a + 1)));
}

CX_DRAW(logseries, "p: float | ndarray, " CX_DRAW_SIGNATURE,
        "Samples from the logarithmic series distribution: ``k >= 1`` with probability "
        "proportional to ``p**k / k``.\n\n"
        "Args:\n"
        "    p (float or ndarray): In [0, 1).\n" CX_COUNT_ARGS CX_COUNTS CX_RAISES_RANGE
        "\nSource: Kemp, Applied Statistics, 1981.") {
    return Wrap(random::LogSeries(ToParameter("logseries", "p", a[0]),
                                  ToDrawOptions("logseries", self, a + 1)));
}

CX_DRAW(hypergeometric,
        "ngood: int | ndarray, nbad: int | ndarray, nsample: int | ndarray, " CX_DRAW_SIGNATURE,
        "Samples from a hypergeometric distribution: numbers of good items among those drawn "
        "without replacement.\n\n"
        "Args:\n"
        "    ngood (int or ndarray): Number of good items, up to 10**9.\n"
        "    nbad (int or ndarray): Number of other items, up to 10**9.\n"
        "    nsample (int or ndarray): Number of items drawn, at most all.\n" CX_COUNT_ARGS
            CX_COUNTS CX_RAISES_RANGE
        "\nSource: Stadlober, Journal of Computational and Applied Mathematics, 1990.") {
    constexpr const char* kOp = "hypergeometric";
    return Wrap(
        random::Hypergeometric(ToParameter(kOp, "ngood", a[0]), ToParameter(kOp, "nbad", a[1]),
                               ToParameter(kOp, "nsample", a[2]), ToDrawOptions(kOp, self, a + 3)));
}

CX_DRAW(multivariate_hypergeometric, "colors: ndarray, nsample: int, " CX_DRAW_SIGNATURE,
        "Samples from a multivariate hypergeometric distribution: numbers of items of each kind "
        "among those drawn without replacement.\n\n"
        "Args:\n"
        "    colors (ndarray): (k,), integers: the number of items of each kind; up to 10**9 "
        "together.\n"
        "    nsample (int): Number of items drawn, at most all.\n"
        "    size: Shape of the result without the last axis; None is ().\n"
        "    dtype: An integer or real float dtype; None is int64.\n"
        "    device: That of ``colors``.\n"
        "Returns:\n"
        "    ndarray: (..., k), integers that add up to ``nsample``.\n"
        "Raises:\n"
        "    DimensionError: If ``colors`` is not 1-d.\n"
        "    DtypeError: If it is not of an integer dtype.\n"
        "    ValueError: If a number is out of range; for ``colors``, when the device computes.") {
    constexpr const char* kOp = "multivariate_hypergeometric";
    return Wrap(random::MultivariateHypergeometric(ToArray(kOp, "colors", a[0]),
                                                   ToIntNotBool(kOp, "nsample", a[1]),
                                                   ToDrawOptions(kOp, self, a + 2)));
}

CX_DRAW(bernoulli, "p: float | ndarray, " CX_DRAW_SIGNATURE,
        "Samples from a Bernoulli distribution: True with a probability.\n\n"
        "Args:\n"
        "    p (float or ndarray): The probability.\n"
        "    size: Shape; None is that of ``p``.\n"
        "    dtype: Any real dtype, for 0 and 1; None is bool.\n"
        "    device: Default: that of ``p``, else the default device.\n"
        "Returns:\n"
        "    ndarray: Independent samples.\n" CX_RAISES_RANGE) {
    return Wrap(random::Bernoulli(ToParameter("bernoulli", "p", a[0]),
                                  ToDrawOptions("bernoulli", self, a + 1)));
}

CX_DRAW(
    categorical, "p: ndarray, " CX_DRAW_SIGNATURE,
    "Samples from a categorical distribution: indices along the last axis of ``p``, with these "
    "probabilities.\n\n"
    "Args:\n"
    "    p (ndarray): (..., k), weights of at least 0, which need not add up to 1.\n"
    "    size: Shape; None is that of ``p`` without the last axis.\n"
    "    dtype: An integer or real float dtype; None is int64.\n"
    "    device: That of ``p``.\n"
    "Returns:\n"
    "    ndarray: Independent integers from 0 to k - 1.\n"
    "Raises:\n"
    "    DimensionError: If the last axis of ``p`` is missing or empty, or the shapes don't fit.\n"
    "    ValueError: If a weight is out of range, or all are 0, when the device computes.") {
    return Wrap(random::Categorical(ToArray("categorical", "p", a[0]),
                                    ToDrawOptions("categorical", self, a + 1)));
}

CX_DRAW(multinomial, "n: int | ndarray, pvals: ndarray, " CX_DRAW_SIGNATURE,
        "Samples from a multinomial distribution: how often each index occurs in ``n`` draws of "
        ":func:`categorical`.\n\n"
        "Args:\n"
        "    n (int or ndarray): Number of draws, at least 0.\n"
        "    pvals (ndarray): (..., k), weights of at least 0, which need not add up to 1.\n"
        "    size: Shape of the result without the last axis; None is that of the parameters.\n"
        "    dtype: An integer or real float dtype; None is int64.\n"
        "    device: That of ``pvals``.\n"
        "Returns:\n"
        "    ndarray: (..., k), integers that add up to ``n``.\n"
        "Raises:\n"
        "    DimensionError: If the last axis of ``pvals`` is missing or empty, or the shapes "
        "don't fit.\n"
        "    ValueError: If a parameter is out of range, or all weights are 0; raised when the "
        "device computes.") {
    return Wrap(random::Multinomial(ToParameter("multinomial", "n", a[0]),
                                    ToArray("multinomial", "pvals", a[1]),
                                    ToDrawOptions("multinomial", self, a + 2)));
}

CX_DRAW(choice,
        "a: ndarray | int, size: ShapeLike | None = None, replace: bool = True, "
        "p: ndarray | None = None, axis: int = 0, device: DeviceLike | None = None) -> ndarray",
        "Draws elements, or slices along an axis, at random.\n\n"
        "Args:\n"
        "    a: An ndarray; or a length n, for 0 ... n-1.\n"
        "    size: Shape of the sample, which replaces the axis; None draws one.\n"
        "    replace (bool): Whether an element may be drawn several times.\n"
        "    p (ndarray): (n,), the weights, which need not add up to 1; None means equal ones.\n"
        "    axis (int): The axis of an ndarray.\n"
        "    device: Default: that of the arrays, else the default device.\n"
        "Returns:\n"
        "    ndarray: The dtype of ``a``, int64 for a length. Differentiable in ``a``.\n"
        "Raises:\n"
        "    DimensionError: If ``p`` has another length, or there is no such axis.\n"
        "    ValueError: If the sample without replacement is larger than ``a``, or a weight is "
        "out of range.\n"
        "    DeviceError: If an ndarray is on another device than ``device``.") {
    constexpr const char* kOp = "choice";
    std::optional<Array> p;
    if (Given(a[3])) p = ToArray(kOp, "p", a[3]);
    const std::optional<Shape> size = ToSize(kOp, a[1]);
    const bool replace = ToBool(a[2], true);
    const int8_t axis = a[4] == nullptr ? 0 : ToAxis(kOp, "axis", a[4]);
    if (IsNdArray(a[0])) {
        if (Given(a[5])) CheckSameDevice(kOp, ToDevice(a[5]), Self(a[0]).device());
        return Wrap(random::Choice(Self(a[0]), size, replace, p, axis, GeneratorOf(self)));
    }
    if (!PyIndex_Check(a[0])) {
        throw TypeError{kOp, ": a must be a chainerx.ndarray or an integer, got ",
                        Py_TYPE(a[0])->tp_name, "; make an array with chainerx.array()"};
    }
    NormalizeAxis(kOp, axis, 1);
    Device& device = Given(a[5]) || !p ? ToDevice(a[5]) : p->device();
    return Wrap(random::Choice(ToInt(kOp, "a", a[0]), size, replace, p, device, GeneratorOf(self)));
}

CX_DRAW(shuffle, "x: ExistingArray, axis: int = 0) -> None",
        "Shuffles the slices along an axis, in place.\n\n"
        "Args:\n"
        "    x (ndarray): At least one dimension; in no graph.\n"
        "    axis (int): The axis to shuffle.\n"
        "Raises:\n"
        "    DimensionError: If there is no such axis.\n"
        "    ChainerxError: If ``x`` is in a graph, or read-only.") {
    random::Shuffle(ToArray("shuffle", "x", a[0]),
                    a[1] == nullptr ? 0 : ToAxis("shuffle", "axis", a[1]), GeneratorOf(self));
    Py_RETURN_NONE;
}

}  // namespace
}  // namespace chainerx::python
