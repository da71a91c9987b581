// Several simultaneous graphs: backprop ids, their scopes and modes.
#include <optional>
#include <thread>

#include "test.h"

using namespace chainerx;
using cxtest::Values;
using cxtest::Vector;
using V = std::vector<double>;

CX_TEST(TwoIdsHaveTwoGradients) {
    BackpropScope a{"a"};
    BackpropScope b{"b"};
    const Array x = Vector({3});
    const Array w = Vector({5});
    x.RequireGrad(a.backprop_id());
    w.RequireGrad(b.backprop_id());
    const Array y = Multiply(x, w);
    Backward(y, b.backprop_id());
    CHECK_EQ(Values(*w.GetGrad(b.backprop_id())), V{3});
    Backward(y, a.backprop_id());  // b has not freed it
    CHECK_EQ(Values(*x.GetGrad(a.backprop_id())), V{5});
    CHECK(!GetGraphValue(y)->creator()->inputs()[0]);  // now it has been
}

CX_TEST(InnerGradientIsInTheOuterGraph) {
    BackpropScope outer{"outer"};
    BackpropScope inner{"inner"};
    const Array x = Vector({3});
    x.RequireGrad(outer.backprop_id());
    x.RequireGrad(inner.backprop_id());
    const Array y = Multiply(Multiply(x, x), x);
    Backward(y, inner.backprop_id());
    const Array gx = *x.GetGrad(inner.backprop_id());
    CHECK_EQ(Values(gx), V{27});
    CHECK(gx.IsBackpropRequired(outer.backprop_id()));
    CHECK(!gx.IsBackpropRequired(inner.backprop_id()));
    Backward(gx, outer.backprop_id());
    CHECK_EQ(Values(*x.GetGrad(outer.backprop_id())), V{18});
}

CX_TEST(OrderRule) {
    BackpropScope outer{"outer"};
    BackpropScope inner{"inner"};
    const Array x = Vector({3});
    x.RequireGrad(outer.backprop_id());
    x.RequireGrad(inner.backprop_id());
    const Array y = Multiply(x, x);
    Backward(y, outer.backprop_id());
    CHECK_THROWS(ChainerxError, "'inner'", Backward(y, inner.backprop_id()));
}

CX_TEST(EdgesKeepTheMaskOfTheirTime) {
    BackpropScope a{"a"};
    const Array x = Vector({3});
    x.RequireGrad();
    const Array y = Multiply(x, x);
    x.RequireGrad(a.backprop_id());  // later: y is not in the graph of a
    CHECK(!y.IsBackpropRequired(a.backprop_id()));
    Backward(y, std::nullopt, DoubleBackpropOption::kEnable);
    CHECK(!x.GetGrad()->IsBackpropRequired(a.backprop_id()));
}

CX_TEST(ExpiredIds) {
    const Array x = Vector({3});
    std::optional<BackpropId> id;
    Array y;
    {
        BackpropScope scope{"gone"};
        id = scope.backprop_id();
        x.RequireGrad(id);
        y = Multiply(x, x);
    }
    CHECK_THROWS(ChainerxError, "expired", x.GetGrad(id));
    CHECK_THROWS(ChainerxError, "expired", x.RequireGrad(id));
    CHECK_THROWS(ChainerxError, "expired", Backward(y, id));
    CHECK_THROWS(ChainerxError, "multiply", Multiply(y, y));
    CHECK_EQ(Values(y.AsGradStopped()), V{9});
    internal::CheckInPlaceOutput("fill", y);  // its graph is gone, so it may be written
}

CX_TEST(NextIdWithTheSameBitDoesNotWakeTheGraph) {
    const Array x = Vector({3});
    Array y;
    {
        BackpropScope scope{"first"};
        x.RequireGrad(scope.backprop_id());
        y = Multiply(x, x);
    }
    BackpropScope scope{"second"};
    y.RequireGrad(scope.backprop_id());
    Backward(Multiply(y, 2.0), scope.backprop_id());
    CHECK_EQ(Values(*y.GetGrad(scope.backprop_id())), V{2});
    CHECK(!IsChained(y, scope.backprop_id()));
    CHECK_THROWS(ChainerxError, "require_grad", x.GetGrad(scope.backprop_id()));
    CHECK_EQ(GetLiveCounts().nodes, 1);  // y's, emptied
}

CX_TEST(TooManyIds) {
    Context& context = GetDefaultContext();
    std::vector<BackpropId> ids;
    for (int i = 1; i < Context::kMaxBackpropIds; ++i) ids.push_back(context.MakeBackpropId("id"));
    CHECK_THROWS(ChainerxError, "at most 63", context.MakeBackpropId("one more"));
    for (const BackpropId& id : ids) context.ReleaseBackpropId(id);
    CHECK_THROWS(ChainerxError, "default",
                 context.ReleaseBackpropId(context.default_backprop_id()));
    CHECK_THROWS(ChainerxError, "expired", context.ReleaseBackpropId(ids[0]));
}

CX_TEST(ScopeWhoseIdWasReleasedByHand) {
    BackpropScope scope{"twice"};
    GetDefaultContext().ReleaseBackpropId(scope.backprop_id());
}

CX_TEST(ForeignIds) {
    Context other;
    const BackpropId id = other.MakeBackpropId("foreign");
    const Array x = Vector({1});
    CHECK_THROWS(ContextError, "require_grad", x.RequireGrad(id));
    CHECK_THROWS(ContextError, "backward", Backward(x, id));
    CHECK_THROWS(ContextError, "of another context", GetDefaultContext().CheckValidBackpropId(id));
    CHECK_THROWS(ContextError, "different contexts",
                 NoBackpropModeScope({id, GetDefaultContext().default_backprop_id()}));
}

CX_TEST(StoppingSomeIds) {
    BackpropScope a{"a"};
    const Array x = Vector({3});
    x.RequireGrad();
    x.RequireGrad(a.backprop_id());
    const Array y = x.AsGradStopped({a.backprop_id()});
    CHECK(!y.IsBackpropRequired(a.backprop_id()));
    Backward(Multiply(y, y));
    CHECK_EQ(Values(*x.GetGrad()), V{6});
}

CX_TEST(ModesNest) {
    const Array x = Vector({1});
    x.RequireGrad();
    {
        NoBackpropModeScope no;
        CHECK(!IsBackpropRequired());
        {
            ForceBackpropModeScope force;
            CHECK(IsBackpropRequired());
            CHECK(IsChained(Add(x, 1.0)));
        }
        CHECK(!IsChained(Add(x, 1.0)));
        bool other = false;
        std::thread{[&] { other = IsBackpropRequired(); }}.join();
        CHECK(other);  // modes are thread-local
    }
    CHECK(IsBackpropRequired());
}

CX_TEST(ModeLeftInAnotherThread) {
    bool refused = false;
    bool other = false;
    bool own = true;
    std::thread{[&] {
        auto scope = std::make_unique<BackpropModeScope>(GetDefaultContext(), ~uint64_t{0}, false);
        std::thread{[&] {
            BackpropModeScope mode{GetDefaultContext(), 0, false};
            try {
                scope->Leave();
            } catch (const ChainerxError&) {
                refused = true;
            }
            other = IsBackpropRequired();
        }}.join();
        own = IsBackpropRequired();
    }}.join();
    CHECK(refused);
    CHECK(other);
    CHECK(!own);  // the mode stays on where it was entered and not left
}

CX_TEST(ModeDestroyedInAnotherThread) {
    std::unique_ptr<BackpropModeScope> scope;
    std::thread{[&] {
        scope = std::make_unique<BackpropModeScope>(GetDefaultContext(), ~uint64_t{0}, false);
    }}.join();
    scope.reset();
    CHECK(IsBackpropRequired());
}
