// Ownership and release of the graph, in one thread.
#include <utility>

#include "test.h"

using namespace chainerx;
using cxtest::Values;
using cxtest::Vector;
using V = std::vector<double>;

namespace {

// x * x, whose gradient uses the output: gx = 2 * gy * y / x.
Array SquareByOutput(const Array& x) {
    Array y = Multiply(x.AsGradStopped(), x.AsGradStopped());
    static constexpr OpInfo kOp{"square"};
    if (Record rec{kOp, {x}, y}) {
        rec.Grad(0, [x = rec.Save(x), y = rec.SaveOutput(y)](const Array& gy) {
            CHECK_EQ(Values(y()), Values(Multiply(x(), x())));
            return Multiply(Multiply(gy, x()), 2.0);
        });
    }
    return y;
}

}  // namespace

CX_TEST(DeepGraphs) {
    constexpr int kDepth = 1000000;
    const Array x = Vector({1});
    x.RequireGrad();
    {
        Array y = x;
        for (int i = 0; i < kDepth; ++i) y = Add(y, x);
        Backward(y);
        CHECK_EQ(Values(*x.GetGrad()), V{kDepth + 1});
        CHECK_EQ(GetLiveCounts().nodes, 1);  // held by y; backward released the others
    }
    // Without backward: freed without recursion, too.
    Array y = x;
    for (int i = 0; i < kDepth; ++i) y = Multiply(y, x);
}

CX_TEST(DeepGraphWithSavedOutputs) {
    const Array x = Vector({1});
    x.RequireGrad();
    Array y = x;
    for (int i = 0; i < 20000; ++i) y = SquareByOutput(y);
}

CX_TEST(NoGraphWithoutNeed) {
    const Array x = Vector({1});
    const Array y = Multiply(x, x);
    CHECK(y.body()->slot == nullptr);
    x.RequireGrad();
    NoBackpropModeScope scope;
    CHECK(Multiply(x, x).body()->slot == nullptr);
    CHECK_EQ(GetLiveCounts().nodes, 0);
}

CX_TEST(SavedArraysOutliveTheirHandles) {
    const Array x = Vector({3});
    x.RequireGrad();
    Array y;
    {
        const Array t = Multiply(x, x);
        y = Multiply(t, t);  // saves t
    }
    Backward(y, std::nullopt, DoubleBackpropOption::kEnable);
    CHECK_EQ(Values(*x.GetGrad()), V{108});  // 4 x^3
    const Array gx = *x.GetGrad();
    x.ClearGrad();
    Backward(gx);
    CHECK_EQ(Values(*x.GetGrad()), V{108});  // 12 x^2
}

CX_TEST(BackwardFreesWhatWasSaved) {
    const Array x = Vector({3});
    x.RequireGrad();
    const Array y = Multiply(Multiply(x, 2.0), Multiply(x, 3.0));
    CHECK(GetLiveCounts().bodies > 2);
    Backward(y);
    CHECK_EQ(GetLiveCounts().bodies, 3);  // x, y and the gradient of x
    CHECK_EQ(GetLiveCounts().nodes, 1);
    x.ClearGrad();
    CHECK_THROWS(GradientError, "released at operation 'multiply'", Backward(y));
    CHECK(!x.GetGrad());
}

CX_TEST(NodeThatSavesItsOutputIsNoCycle) {
    const Array x = Vector({3});
    x.RequireGrad();
    {
        const Array y = SquareByOutput(x);
    }
    CHECK_EQ(GetLiveCounts().nodes, 0);
    Array z;
    {
        const Array y = SquareByOutput(x);
        z = Multiply(y, 1.0);
    }
    Backward(z, std::nullopt, DoubleBackpropOption::kEnable);
    CHECK_EQ(Values(*x.GetGrad()), V{6});
}

CX_TEST(GradientWithItsOwnGraphIsNoCycle) {
    const Array x = Vector({2});
    x.RequireGrad();
    const Array y = Multiply(Multiply(x, x), x);
    Backward(y, std::nullopt, DoubleBackpropOption::kEnable);
    CHECK(IsChained(*x.GetGrad()));  // x holds its gradient, whose graph holds x's slot
}

// Every test checks that nothing is left.
CX_TEST(GradientsThatHoldTheirOwnArraysAreNoCycle) {
    const Array x = Vector({2});
    x.RequireGrad();
    x.SetGrad(x);
    CHECK_EQ(Values(*x.GetGrad()), V{2});
    const Array y = Vector({3});
    const Array z = Vector({4});
    y.RequireGrad();
    z.RequireGrad();
    y.SetGrad(Multiply(z, 2.0));
    z.SetGrad(y);
    y.SetGrad(z);
    x.SetGrad(y);  // refers to a cycle, but is not part of it
    CHECK_EQ(Values(*x.GetGrad()->GetGrad()->GetGrad()), V{3});
}

CX_TEST(GradientsOfArraysThatAreGoneAreNotKept) {
    Array y;
    {
        const Array x = Vector({2});
        x.RequireGrad();
        Array h = Exp(x);
        h.RequireGrad();
        y = Multiply(h, h);
        h = Array{};
        Backward(y, std::nullopt, DoubleBackpropOption::kEnable);
        CHECK(IsChained(*x.GetGrad()));
    }
    Backward(y, std::nullopt, DoubleBackpropOption::kEnable);
}

CX_TEST(ThirdDerivative) {
    const Array x = Vector({2});
    x.RequireGrad();
    Array y = Multiply(Multiply(x, x), Multiply(x, x));
    for (const double expected : {32.0, 48.0, 48.0}) {
        y = *Grad({y}, {x}, std::nullopt, DoubleBackpropOption::kEnable)[0];
        CHECK_EQ(Values(y), V{expected});
    }
    CHECK(!x.GetGrad());
}

CX_TEST(BackwardWithinBackward) {
    const Array x = Vector({3});
    x.RequireGrad();
    Array y = Multiply(x.AsGradStopped(), x.AsGradStopped());
    static constexpr OpInfo kOp{"recompute"};
    if (Record rec{kOp, {x}, y}) {
        rec.Grad(0, [data = x.AsGradStopped()](const Array& gy) {
            ForceBackpropModeScope scope;
            const Array again = data.AsGradStopped();
            again.RequireGrad();
            const Array inner = Multiply(again, again);
            inner.SetGrad(gy);
            Backward(inner);
            return *again.GetGrad();
        });
    }
    Backward(Multiply(y, 2.0));
    CHECK_EQ(Values(*x.GetGrad()), V{12});
}

CX_TEST(BackwardThroughTheNodeThatRuns) {
    // A gradient function that backpropagates through its own node gets an error, and runs once.
    const Array x = Vector({3});
    x.RequireGrad();
    Array y = Vector({9});
    const Array* output = &y;
    int n_run = 0;
    static constexpr OpInfo kOp{"selfish"};
    if (Record rec{kOp, {x}, y}) {
        rec.Grad(0, [&n_run, output](const Array& gy) {
            ++n_run;
            CHECK_THROWS(GradientError, "released at operation 'selfish'", Backward(*output));
            return Multiply(gy, 6.0);
        });
    }
    Backward(y);
    CHECK_EQ(n_run, 1);
    CHECK_EQ(Values(*x.GetGrad()), V{6});
}

CX_TEST(FailedBackwardChangesNoGradient) {
    const Array x = Vector({3});
    x.RequireGrad();
    Array y = Vector({9});
    static constexpr OpInfo kOp{"fails"};
    if (Record rec{kOp, {x}, y}) {
        rec.Grad(0, [](const Array&) -> Array { throw ValueError{"on purpose"}; });
    }
    CHECK_THROWS(ValueError, "on purpose", Backward(Add(Multiply(x, 2.0), y)));
    CHECK(!x.GetGrad());
    Backward(Multiply(x, 2.0));
    CHECK_EQ(Values(*x.GetGrad()), V{2});
}

CX_TEST(FailedBackwardKeepsTheGraph) {
    const Array x = Vector({3});
    x.RequireGrad();
    Array y = Vector({9});
    static constexpr OpInfo kOp{"fails"};
    bool fails = true;
    if (Record rec{kOp, {x}, y}) {
        rec.Grad(0, [&fails](const Array& gy) -> Array {
            if (std::exchange(fails, false)) throw ValueError{"on purpose"};
            return Multiply(gy, 6.0);
        });
    }
    {
        const Array z = Multiply(Multiply(y, x), 2.0);
        CHECK_THROWS(ValueError, "on purpose", Backward(z));
        Backward(z);
        CHECK_EQ(Values(*x.GetGrad()), V{2 * (9 + 3 * 6)});
        CHECK_THROWS(GradientError, "released", Backward(z));
    }
    y = Array{};
    CHECK_EQ(GetLiveCounts().nodes, 0);
}

CX_TEST(UnchainedWhileItFailsStaysUnchained) {
    const Array x = Vector({3});
    x.RequireGrad();
    Array y = Vector({9});
    static constexpr OpInfo kOp{"fails"};
    if (Record rec{kOp, {x}, y}) {
        rec.Grad(0, [](const Array&) -> Array { throw ValueError{"on purpose"}; });
    }
    const Array z = Multiply(y, 2.0);
    CHECK_THROWS(ValueError, "on purpose", Backward(z));
    GetGraphValue(y)->creator()->Unchain();
    Backward(z);
    CHECK(!x.GetGrad());
}

CX_TEST(WrongGradientShapeNamesOpAndInput) {
    const Array x = Vector({3, 4});
    x.RequireGrad();
    Array y = Vector({9});
    static constexpr OpInfo kOp{"crooked"};
    if (Record rec{kOp, {x}, y}) {
        rec.Grad(0, [](const Array&) { return Vector({1, 2, 3}); });
    }
    CHECK_THROWS(GradientError, "crooked: the gradient of input 0 has shape (3,)", Backward(y));
}

CX_TEST(ManyInputsAndOutputs) {
    constexpr int kN = 70000;  // more than 16 bits count
    std::vector<Array> xs(kN);
    for (Array& x : xs) {
        x = Vector({1});
        x.RequireGrad();
    }
    std::vector<Array> ys(300);
    for (Array& y : ys) y = Vector({0});
    const std::vector<ConstArrayRef> refs{xs.begin(), xs.end()};
    static constexpr OpInfo kOp{"many"};
    if (Record rec{kOp, refs, ys}) {
        rec.GradAll([](GradContext& context) {
            CHECK(!context.HasOutputGrad(0));
            for (int i = 0; i < context.input_count(); ++i) {
                context.SetInputGrad(i, context.output_grad(299));
            }
        });
    }
    Backward(Multiply(ys[299], 5.0));
    CHECK_EQ(Values(*xs[0].GetGrad()), V{5});
    CHECK_EQ(Values(*xs[kN - 1].GetGrad()), V{5});
}

CX_TEST(SetGradKeepsTheIdsApart) {
    const Array x = Vector({1});
    BackpropScope a{"a"};
    BackpropScope b{"b"};
    x.RequireGrad(a.backprop_id());
    x.RequireGrad(b.backprop_id());
    x.SetGrad(Vector({1}), a.backprop_id());
    x.SetGrad(Vector({2}), b.backprop_id());
    x.ClearGrad(a.backprop_id());
    CHECK_EQ(Values(*x.GetGrad(b.backprop_id())), V{2});
    x.ClearGrad(b.backprop_id());
    CHECK(!x.GetGrad(b.backprop_id()));
    x.SetGrad(Vector({3}), b.backprop_id());
    x.SetGrad(Vector({4}), a.backprop_id());
    CHECK_EQ(Values(*x.GetGrad(b.backprop_id())), V{3});
    CHECK_EQ(Values(*x.GetGrad(a.backprop_id())), V{4});
}

CX_TEST(GradStoresInTargetsOnly) {
    const Array x = Vector({2});
    x.RequireGrad();
    const Array t = Multiply(x, x);
    t.RequireGrad();
    Grad({Multiply(t, 3.0)}, {x}, std::nullopt, DoubleBackpropOption::kDisable, true, false, {}, 8);
    CHECK_EQ(Values(*x.GetGrad()), V{12});
    CHECK(!t.GetGrad());
}

CX_TEST(GraphAsData) {
    const Array x = Vector({2});
    x.RequireGrad();
    CHECK(!GetGraphValue(x)->creator());
    std::optional<GraphNode> node;
    {
        const Array t = Multiply(x, x);
        const Array y = Add(t, x);
        node = GetGraphValue(y)->creator();
    }
    CHECK_EQ(std::string{node->name()}, "add");
    CHECK_EQ(node->rank(), 2);
    CHECK_EQ(node->backprop_ids().size(), 1u);
    const std::vector<std::optional<GraphValue>> inputs = node->inputs();
    CHECK_EQ(inputs.size(), 2u);
    CHECK(!inputs[0]->array());  // t is gone; its slot is not
    CHECK_EQ(std::string{inputs[0]->creator()->name()}, "multiply");
    CHECK(inputs[1]->array()->body() == x.body());
    CHECK(*inputs[1] == *GetGraphValue(x));
    CHECK(!node->outputs()[0].array());
    CHECK(node->sequence() > inputs[0]->creator()->sequence());
    node->Unchain();
    CHECK(!node->inputs()[0]);
}

CX_TEST(UnchainMakesALeaf) {
    const Array x = Vector({2});
    x.RequireGrad();
    const Array y = Multiply(x, x);
    const Array z = Multiply(y, 3.0);
    y.RequireGrad();
    Unchain(y);
    CHECK(!IsChained(y));
    CHECK(IsChained(z));
    Backward(z);
    CHECK_EQ(Values(*y.GetGrad()), V{3});
    CHECK(!x.GetGrad());
}
