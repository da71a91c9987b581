// Derivatives of functions, hooks and checkpoints; Python's tests check their values.
#include "test.h"

using namespace chainerx;
using cxtest::Values;
using cxtest::Vector;
using V = std::vector<double>;
using Arrays = std::vector<Array>;

CX_TEST(PullbackAndPushforward) {
    const auto f = [](const Arrays& x) { return Arrays{Multiply(x[0], x[1]), Sum(x[0])}; };
    const Arrays primals{Vector({1, 2}), Vector({3, 4})};
    const Pullback pull{f, primals};
    CHECK_EQ(Values(pull.outputs()[0]), (V{3, 8}));
    for (int i = 0; i < 2; ++i) {  // again
        const Arrays gx = pull({Vector({1, 10}), Array{}});
        CHECK_EQ(Values(gx[0]), (V{3, 40}));
        CHECK_EQ(Values(gx[1]), (V{1, 20}));
    }
    const auto [y, t] = Jvp(f, primals, {Vector({1, 1}), Array{}});
    CHECK_EQ(Values(y[0]), (V{3, 8}));
    CHECK_EQ(Values(t[0]), (V{3, 4}));
    CHECK_EQ(Values(t[1]), (V{2}));
    CHECK_THROWS(GradientError, "cotangents[0] has shape (1,)", pull({Vector({1}), Array{}}));
    CHECK_THROWS(GradientError, "1 cotangents, expected 2", pull({Vector({1, 1})}));
}

CX_TEST(ForwardOverReverse) {
    const auto gradient = [](const Arrays& x) {
        const auto cube = [](const Arrays& a) {
            return Arrays{Multiply(Multiply(a[0], a[0]), a[0])};
        };
        return Pullback{cube, x}({Vector({1, 1})});
    };
    const auto [g, h] = Jvp(gradient, {Vector({1, 2})}, {Vector({1, 1})});
    CHECK_EQ(Values(g[0]), (V{3, 12}));
    CHECK_EQ(Values(h[0]), (V{6, 12}));
    CHECK(!h[0].IsBackpropRequired(AnyGraph{}));
}

CX_TEST(DerivativesOutliveNothing) {
    {
        const auto f = [](const Arrays& x) { return Arrays{Exp(x[0])}; };
        Pushforward push{f, {Vector({1, 2})}};
        const Pushforward moved = std::move(push);
        moved({Vector({1, 1})});
    }
    CHECK_EQ(GetLiveCounts().nodes, 0);
}

CX_TEST(Hooks) {
    const Array x = Vector({1, 2});
    x.RequireGrad();
    const Array y = Multiply(x, x);
    int calls = 0;
    const GradHookHandle counted = RegisterGradHook(y, [&](const Array&) -> std::optional<Array> {
        ++calls;
        return std::nullopt;
    });
    const GradHookHandle tenfold =
        RegisterGradHook(y, [](const Array& g) { return std::optional{Multiply(g, 10)}; });
    Backward(y, std::nullopt, DoubleBackpropOption::kEnable);
    CHECK_EQ(Values(*x.GetGrad()), (V{20, 40}));
    counted.Remove();
    tenfold.Remove();
    x.ClearGrad();
    Backward(y);
    CHECK_EQ(Values(*x.GetGrad()), (V{2, 4}));
    CHECK_EQ(calls, 1);
    CHECK_THROWS(ChainerxError, "not in the graph", RegisterGradHook(Vector({1}), {}));
}

CX_TEST(Checkpoints) {
    const Array x = Vector({1, 2});
    const Array w = Vector({3, 4});
    x.RequireGrad();
    w.RequireGrad();
    int calls = 0;
    const Arrays y = Checkpoint(
        [&](const Arrays& a) {
            ++calls;
            return Arrays{Exp(Multiply(a[0], w))};
        },
        {x});
    CHECK_EQ(GetLiveCounts().nodes, 1);
    Backward(y[0]);
    CHECK_EQ(calls, 2);
    const V e = Values(y[0]);
    CHECK_EQ(Values(*x.GetGrad()), (V{3 * e[0], 4 * e[1]}));
    CHECK_EQ(Values(*w.GetGrad()), (V{e[0], 2 * e[1]}));
}
