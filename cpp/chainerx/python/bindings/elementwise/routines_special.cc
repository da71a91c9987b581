// chainerx.special. tests/chainerx/elementwise/test_special.py checks the stated error bounds.
#include "chainerx/ops/elementwise/tables/special.h"

#include "chainerx/python/binary.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/elementwise.h"

namespace chainerx::python {
namespace {

#define CX_UNARY(py, Name, doc, range, note) CX_UNARY_OF(kSpecial, py, Name, doc, range, note)
#define CX_UNARY_OF(kind, py, Name, doc, range, note)                                         \
    CX_ELEMENTWISE(kind, py, 1, "x: ndarray", CX_OPTIONS, &internal::Op##Name,                \
                   doc "\n\nArgs:\n    x (ndarray): Any shape, any real dtype." range         \
                       "\n" CX_OPTION_ARGS                                                    \
                       "Returns:\n    ndarray: Shape of ``x``, its float dtype; float32 for " \
                       "integers and bool. Differentiable, any order.\n"                      \
                       "Raises:\n    DtypeError: If ``x`` is complex.\nNote:\n    " note) {   \
        return Wrap(Name(ToArray(#py, "x", a[0])));                                           \
    }

// ---- functions related to the error function
CX_SPECIAL_ALIAS(erf, erf)
CX_UNARY(erfc, Erfc, "``1 - erf(x)``, accurate where erf is near 1.", "",
         "The error is at most 4 units in the last place.")
CX_UNARY(erfcx, Erfcx, "``exp(x**2) * erfc(x)``, which neither over- nor underflows above 0.", "",
         "The error is at most 4 units in the last place. Second derivatives lose accuracy for "
         "large ``x``.\n"
         "Source: Shepherd and Laframboise, Math. Comp. 36, 1981.")
CX_UNARY(erfinv, Erfinv, "The inverse of :func:`erf`.", " Infinite at -1 and 1, nan beyond.",
         "The error is at most 4 units in the last place.\n"
         "Source: Algorithm AS 241 (Wichura, 1988).")
CX_UNARY(erfcinv, Erfcinv, "The inverse of :func:`erfc`.", " Infinite at 0 and 2, nan beyond.",
         "The error is at most 4 units in the last place.\n"
         "Source: Algorithm AS 241 (Wichura, 1988).")
CX_UNARY(ndtr, Ndtr, "The cumulative distribution function of the standard normal distribution.",
         "", "The error is at most 4 units in the last place, even far below 0.")
CX_UNARY(log_ndtr, LogNdtr, "``log(ndtr(x))``, accurate even where ndtr underflows.", "",
         "The error is at most 4 units in the last place.")
CX_UNARY(ndtri, Ndtri,
         "The inverse of :func:`ndtr`: quantiles of the standard normal distribution.",
         " Infinite at 0 and 1, nan beyond.",
         "The error is at most 4 units in the last place.\n"
         "Source: Algorithm AS 241 (Wichura, 1988).")

// ---- functions related to the logarithm
CX_SPECIAL_ALIAS(expit, sigmoid)
CX_SPECIAL_ALIAS(logsumexp, logsumexp)
CX_UNARY(logit, Logit, "``log(x / (1 - x))``, the inverse of expit.",
         " Infinite at 0 and 1, nan beyond.", "It is accurate near 1/2, where it is 0.")
CX_UNARY(log_expit, LogExpit, "``log(expit(x))``, accurate even where expit underflows.", "",
         "The derivative is ``expit(-x)``.")
CX_UNARY(entr, Entr, "Elementwise entropy: ``-x * log(x)``, 0 at 0, -inf below.", "",
         "The derivative at 0 is infinite.")

// ---- modified Bessel functions
CX_UNARY_OF(kRoutine, i0, I0, "The modified Bessel function of the first kind, of order 0.", "",
            "The error is at most 4 units in the last place.\nSource: DLMF 10.25.2, 10.40.1.")
CX_SPECIAL_ALIAS(i0, i0)
CX_UNARY(i0e, I0e, "``exp(-abs(x)) * i0(x)``, which does not overflow.", "",
         "The error is at most 4 units in the last place.\nSource: DLMF 10.25.2, 10.40.1.")
CX_UNARY(i1, I1, "The modified Bessel function of the first kind, of order 1.", "",
         "The error is at most 4 units in the last place. Where ``x`` is 0, only first and\n"
         "    second gradients are correct.\n"
         "Source: DLMF 10.25.2, 10.40.1.")
CX_UNARY(i1e, I1e, "``exp(-abs(x)) * i1(x)``, which does not overflow.", "",
         "The error is at most 4 units in the last place.\nSource: DLMF 10.25.2, 10.40.1.")

// ---- functions related to the gamma function
CX_UNARY(lgamma, Lgamma, "Logarithm of the absolute value of the gamma function.",
         " Infinite at 0 and the negative integers.",
         "For ``x > 0`` the error is at most 5 units in the last place; below, at most that of the "
         "larger of the result and 1.\n"
         "Source: DLMF 5.11.1, 5.5.3.")
CX_SPECIAL_ALIAS(gammaln, lgamma)
CX_UNARY(digamma, Digamma, "The digamma function: the derivative of :func:`lgamma`.",
         " Infinite at 0, nan at the negative integers.",
         "For ``x > 0`` the error is at most 5 units in the last place; below, at most that of the "
         "largest of the result and the two terms that add up to it.\n"
         "Source: DLMF 5.11.2, 5.5.4.")
CX_SPECIAL_ALIAS(psi, digamma)
#undef CX_UNARY
#undef CX_UNARY_OF

#define CX_TAILS                                                                                  \
    "The relative error is about 1e-13 where the result is at most 1/2. It grows by a few units " \
    "in the\n"                                                                                    \
    "    last place per factor of e far out in the tails, and for shape parameters above 1e6 "    \
    "with the\n"                                                                                  \
    "    cancellation in their differences.\n"

#define CX_ONCE(first) ""
#define CX_ORDER ""
#define CX_BINARY(py, Name, first, second, doc, range1, range2, note)                               \
    CX_ELEMENTWISE(                                                                               \
        kSpecial, py, 2, first ": ndarray | Scalar, " second ": ndarray | Scalar", CX_OPTIONS,    \
        &internal::Op##Name,                                                                      \
        doc "\n\nArgs:\n    " first " (ndarray or scalar): " range1 "\n    " second               \
            " (ndarray or scalar): " range2 "\n" CX_OPTION_ARGS                                   \
            "Returns:\n    ndarray: Broadcast shape, promoted float dtype; float32 for "          \
            "integers. Differentiable in ``" second                                               \
            "``, any order" CX_ONCE(first) ".\n"                                                  \
            "Raises:\n"                                                                           \
            "    DtypeError: If an operand is complex.\n"                                         \
            "    ChainerxError: In backward, if ``" first "`` requires a " CX_ORDER               \
            "gradient.\nNote:\n    " note) { \
        return CallBinary(                                                                          \
            #py, a, [](const auto& x1, const auto& x2) { return Name(x1, x2); }, first, second);    \
    }

#define CX_LOGARITHMIC(py, Name, op, first, second, doc, note)                                   \
    CX_ELEMENTWISE(kSpecial, py, 2, first ": ndarray | Scalar, " second ": ndarray | Scalar",    \
                   CX_OPTIONS, op,                                                               \
                   doc "\n\nArgs:\n    " first                                                   \
                       " (ndarray or scalar): Any shape, any real "                              \
                       "dtype.\n    " second " (ndarray or scalar): Broadcast with ``" first     \
                       "``.\n" CX_OPTION_ARGS                                                    \
                       "Returns:\n    ndarray: Broadcast shape, promoted float dtype; float32 "  \
                       "for integers. Differentiable in both, any order.\n"                      \
                       "Raises:\n    DtypeError: If an operand is complex.\nNote:\n    " note) { \
        return CallBinary(                                                                       \
            #py, a, [](const auto& x1, const auto& x2) { return Name(x1, x2); }, first, second); \
    }

CX_LOGARITHMIC(xlogy, Xlogy, &internal::OpXlogy, "x", "y",
               "``x * log(y)``, and 0 where ``x`` is 0.",
               "The derivative in ``y`` where both are 0 is 0, that in ``x`` is -inf.")
CX_LOGARITHMIC(xlog1py, Xlog1py, &internal::OpXlog1py, "x", "y",
               "``x * log1p(y)``, and 0 where ``x`` is 0.",
               "More accurate than :func:`xlogy` for ``y`` near 0.")
CX_LOGARITHMIC(rel_entr, RelEntr, &internal::OpRelEntr, "x", "y",
               "Elementwise relative entropy: ``x * log(x / y)``; 0 where ``x`` is 0 and ``y`` is "
               "not negative; inf outside the domain.",
               "The quotient neither overflows nor underflows.")
CX_LOGARITHMIC(
    kl_div, KlDiv, nullptr, "x", "y", "``rel_entr(x, y) - x + y``.",
    "It is the Kullback-Leibler divergence of Poisson distributions with means ``x`` and ``y``.")
CX_LOGARITHMIC(betaln, Betaln, nullptr, "a", "b",
               "Logarithm of the absolute value of the beta function.",
               "Computed from three log-gamma values, or for large operands by Stirling's formula. "
               "Source: DLMF 5.12.1;\n"
               "    Didonato and Morris, Algorithm 708, 1992.")
CX_LOGARITHMIC(
    log_gamma_density, LogGammaDensity, &internal::OpLogGammaDensity, "a", "x",
    "``(a - 1) * log(x) - x - lgamma(a)``: the log-density of a gamma distribution.",
    "Terms of the size of ``a`` do not cancel. Source: DLMF 5.11.1; Loader, Fast and accurate\n"
    "    computation of binomial probabilities, 2000.")
#undef CX_LOGARITHMIC

CX_ELEMENTWISE_SPECIAL(multigammaln, "a: ndarray, d: int) -> ndarray",
                       "Logarithm of the multivariate gamma function of dimension ``d``.\n\n"
                       "Args:\n"
                       "    a (ndarray): Any shape, any real dtype; above ``(d - 1) / 2``.\n"
                       "    d (int): From 1 to 10000.\n"
                       "Returns:\n"
                       "    ndarray: Shape of ``a``, its float dtype. Differentiable, any order.\n"
                       "Raises:\n"
                       "    DtypeError: If ``a`` is complex.\n"
                       "    ValueError: If ``d`` is out of range.\n"
                       "Source: DLMF 35.3.4.") {
    return Wrap(Multigammaln(ToArray("multigammaln", "a", a[0]), ToInt("multigammaln", "d", a[1])));
}

CX_BINARY(
    polygamma, Polygamma, "n", "x",
    "The polygamma function: the ``n``-th derivative of :func:`digamma`.",
    "The order, a nonnegative integer; nan for other values.", "Broadcast with ``n``.",
    "The relative error grows with ``n``, as the function's sensitivity to its arguments does.\n"
    "Source: DLMF 25.11.12.")
CX_ELEMENTWISE(
    kSpecial, zeta, 2, "x: ndarray | Scalar, q: ndarray | Scalar | None = None", CX_OPTIONS,
    &internal::OpZeta,
    "Hurwitz zeta function, the sum of ``(k + q)**-x`` over k >= 0; Riemann's without ``q``.\n\n"
    "Args:\n"
    "    x (ndarray or scalar): The exponent; inf at 1, nan below, except for Riemann's function.\n"
    "    q (ndarray or scalar): Broadcast with ``x``. Infinite at 0 and the negative integers; nan "
    "at other negative numbers unless ``x`` is an integer.\n" CX_OPTION_ARGS
    "Returns:\n"
    "    ndarray: Broadcast shape, promoted float dtype; float32 for integers. Differentiable in "
    "``q``, any order.\n"
    "Raises:\n"
    "    DtypeError: If an operand is complex.\n"
    "    ChainerxError: In backward, if ``x`` requires a gradient.\n"
    "Note:\n"
    "    The relative error grows with ``abs(x)``, as the function's sensitivity to its arguments "
    "does.\n"
    "Source: DLMF 25.11.7, 25.2.9, 25.4.1.") {
    if (!Given(a[1])) return Wrap(Zeta(ToArray("zeta", "x", a[0])));
    return CallBinary(
        "zeta", a, [](const auto& x1, const auto& x2) { return Zeta(x1, x2); }, "x", "q");
}

// ---- the incomplete gamma and beta functions
#undef CX_ONCE
#undef CX_ORDER
#define CX_ONCE(first) ", and once in ``" first "``"
#define CX_ORDER "second "
CX_BINARY(gammainc, Gammainc, "a", "x",
          "The regularized lower incomplete gamma function: the probability below ``x`` of a gamma "
          "distribution with shape parameter ``a``.",
          "The shape parameter, >= 0; nan below.", "At least 0; nan below.",
          CX_TAILS "Source: DLMF 8.7.1, 8.9.2, and a quadrature of the tail for a >= 20.")
CX_BINARY(gammaincc, Gammaincc, "a", "x",
          "The regularized upper incomplete gamma function: the probability above ``x`` of a gamma "
          "distribution with shape parameter ``a``.",
          "The shape parameter, >= 0; nan below.", "At least 0; nan below.",
          CX_TAILS "Source: DLMF 8.7.3, 8.9.2, and a quadrature of the tail for a >= 20.")
#define CX_LOG                                                                                   \
    "Accurate even where the probability underflows. Where it is near 1, the logarithm has the " \
    "relative\n"                                                                                 \
    "    error of the complementary probability.\n"
CX_BINARY(log_gammainc, LogGammainc, "a", "x", "``log(gammainc(a, x))``.",
          "The shape parameter, >= 0; nan below.", "At least 0; nan below.",
          CX_LOG "Source: as gammainc.")
CX_BINARY(log_gammaincc, LogGammaincc, "a", "x", "``log(gammaincc(a, x))``.",
          "The shape parameter, >= 0; nan below.", "At least 0; nan below.",
          CX_LOG "Source: as gammaincc.")
CX_BINARY(gammaincinv, Gammaincinv, "a", "y", "The inverse of :func:`gammainc` in ``x``.",
          "The shape parameter, > 0; nan otherwise.",
          "The probability below the result; nan outside [0, 1].",
          "Newton's method on the logarithms, until convergence.")
CX_BINARY(gammainccinv, Gammainccinv, "a", "y", "The inverse of :func:`gammaincc` in ``x``.",
          "The shape parameter, > 0; nan otherwise.",
          "The probability above the result; nan outside [0, 1].",
          "Newton's method on the logarithms, until convergence.")
#undef CX_BINARY

#define CX_ORDERS                                 \
    "any order, and once in ``a`` and ``b``.\n"   \
    "Raises:\n"                                   \
    "    DtypeError: If an operand is complex.\n" \
    "    ChainerxError: In backward, if ``a`` or ``b`` requires a second gradient.\n"
#define CX_TERNARY(py, Name, third, doc, range, note) \
    CX_TERNARY_OF(py, Name, third, doc, range, CX_ORDERS, note)
#define CX_TERNARY_OF(py, Name, third, doc, range, orders, note)                                  \
    CX_ELEMENTWISE(                                                                               \
        kSpecial, py, 3, "a: ndarray | Scalar, b: ndarray | Scalar, " third ": ndarray | Scalar", \
        CX_OPTIONS, &internal::Op##Name,                                                          \
        doc                                                                                       \
        "\n\n"                                                                                    \
        "Args:\n"                                                                                 \
        "    a (ndarray or scalar): First shape parameter, > 0; nan below 0.\n"                   \
        "    b (ndarray or scalar): Second shape parameter.\n"                                    \
        "    " third " (ndarray or scalar): " range "\n" CX_OPTION_ARGS                           \
        "Returns:\n    ndarray: Broadcast shape, promoted float dtype; float32 for integers. "    \
        "Differentiable in ``" third "``, " orders "Note:\n    " note) {                          \
        return CallTernary(                                                                       \
            #py, a,                                                                               \
            [](const auto& x1, const auto& x2, const auto& x3) { return Name(x1, x2, x3); },      \
            {"a", "b", third});                                                                   \
    }

CX_TERNARY(
    betainc, Betainc, "x",
    "The regularized incomplete beta function: the probability below ``x`` of a beta distribution.",
    "From 0 to 1; nan outside.",
    CX_TAILS "Source: DLMF 8.17.22, and a quadrature of the tail for shape parameters >= 20.")
CX_TERNARY(betaincc, Betaincc, "x",
           "The probability above ``x`` of a beta distribution: ``1 - betainc(a, b, x)``, without "
           "cancellation.",
           "From 0 to 1; nan outside.", CX_TAILS "Source: as betainc.")
CX_TERNARY(log_betainc, LogBetainc, "x", "``log(betainc(a, b, x))``.", "From 0 to 1; nan outside.",
           CX_LOG "Source: as betainc.")
CX_TERNARY(log_betaincc, LogBetaincc, "x", "``log(betaincc(a, b, x))``.",
           "From 0 to 1; nan outside.", CX_LOG "Source: as betainc.")
CX_TERNARY_OF(
    log_beta_density, LogBetaDensity, "x", "The log-density of a beta distribution.",
    "From 0 to 1; nan outside.",
    "any order, and in ``a`` and ``b``.\nRaises:\n    DtypeError: If an operand is "
    "complex.\n",
    "``(a - 1) * log(x) + (b - 1) * log1p(-x) - betaln(a, b)``, whose terms of the size of a\n"
    "    shape parameter do not cancel. Source: Loader, Fast and accurate computation of binomial\n"
    "    probabilities, 2000.")
CX_TERNARY(betaincinv, Betaincinv, "y", "The inverse of :func:`betainc` in ``x``.",
           "The probability; nan outside [0, 1].",
           "Newton's method on the logarithms, until convergence.")
#undef CX_TERNARY
#undef CX_TERNARY_OF
#undef CX_ORDERS
#undef CX_LOG
#undef CX_TAILS
#undef CX_ONCE
#undef CX_ORDER

}  // namespace
}  // namespace chainerx::python
