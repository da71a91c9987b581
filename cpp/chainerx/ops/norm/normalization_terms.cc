#include "chainerx/ops/norm/normalization_terms.h"

#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/reduce/reduce_output.h"
#include "chainerx/ops/routine.h"

namespace chainerx::internal {
namespace {

Array Wide(const Array& x) { return AsType(x, WideDtype(x.dtype()), false); }

// All arrays have the dtype `wide`.
struct Standardized {
    const NormalizationTerms& terms;
    Dtype dtype;
    Array mean;
    Array var;
    Array r;
    Array u;

    Standardized(const NormalizationTerms& t, const Array& x)
        : terms{t}, dtype{WideDtype(x.dtype())} {
        const Array wide = Wide(x);
        mean = t.centered ? E(wide) : ZerosLike(E(Detached(wide)));
        const Array centered = t.centered ? wide - mean : wide;
        var = E(Square(centered));
        r = Reciprocal(Sqrt(var + t.eps));
        u = centered * r;
    }

    Array E(const Array& x) const { return Mean(x, terms.axes, true); }
    Array Param(const Array& p) const { return AsType(Reshape(p, terms.params), dtype, false); }
    Array ToParam(const Array& x) const { return SumTo(x, terms.params); }
    Array ToWide(const Array& x) const { return AsType(x, dtype, false); }
    // Projects v onto the complement of shifting and scaling all of x.
    Array Project(const Array& v) const {
        const Array rest = v - u * E(u * v);
        return terms.centered ? rest - E(v) : rest;
    }
};

}  // namespace

NormalizedArrays ComposedNormalization(const NormalizationTerms& terms, const Array& x,
                                       const Array& gamma, const Array& beta) {
    const Standardized s{terms, Detached(x)};
    return {s.u * s.Param(Detached(gamma)) + s.Param(Detached(beta)), s.mean, s.var, s.r};
}

NormalizationGrads ComposedNormalizationGrad(const NormalizationTerms& terms, const Array& x,
                                             const Array& gamma, const Array& gy) {
    const Standardized s{terms, x};
    const Array g = s.ToWide(gy);
    return {s.r * s.Project(g * s.Param(gamma)), s.ToParam(g * s.u), s.ToParam(g)};
}

// The gradients of the sum of ggx * gx + gggamma * ggamma + ggbeta * gbeta, where gx = r * P(g), g
// = gy * gamma, ggamma = sum of gy * u, gbeta = sum of gy. P is Project(), which is symmetric; a
// change dx of x changes u by r * P(dx), and r by -r^2 * E[u * dx].
SecondNormalizationGrads ComposedSecondGrad(const NormalizationTerms& terms, const Array& x,
                                            const Array& gamma, const Array& gy, const Array& ggx,
                                            const Array& gggamma, const Array& ggbeta) {
    const Standardized s{terms, x};
    const Array scale = s.Param(gamma);
    const Array gw = s.ToWide(gy);
    SecondNormalizationGrads out;
    const auto add = [](Array& to, const Array& more) { to = to.is_null() ? more : to + more; };
    Array of_u;
    if (!ggx.is_null()) {
        const Array a = s.ToWide(ggx);
        const Array g = gw * scale;
        const Array projected = s.r * s.Project(a);
        out.gy = scale * projected;
        out.gamma = s.ToParam(gw * projected);
        of_u = -(s.r * (a * s.E(s.u * g) + g * s.E(s.u * a)));
        out.x = -(s.r * s.u * s.E(g * projected));
    }
    if (!gggamma.is_null()) {
        const Array b = s.Param(gggamma);
        add(out.gy, b * s.u);
        add(of_u, b * gw);
    }
    if (!ggbeta.is_null()) add(out.gy, BroadcastTo(s.Param(ggbeta), gy.shape()));
    if (!of_u.is_null()) add(out.x, s.r * s.Project(of_u));
    return out;
}

}  // namespace chainerx::internal
