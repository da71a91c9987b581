// Regions: composite functions that an upper layer shows to its users.
#include "chainerx/autograd/region.h"
#include "chainerx/autograd/backward_run.h"
#include "test.h"

using namespace chainerx;
using namespace chainerx::internal;
using cxtest::Values;
using cxtest::Vector;
using V = std::vector<double>;

namespace {

int g_released = 0;

void Release(Region& region) noexcept {
    if (region.payload == nullptr) return;
    region.payload = nullptr;
    ++g_released;
}

// A reference to a new region, released at the end.
class Held {
 public:
    Held() : region{new Region} {
        region->payload = this;
        region->release = &Release;
    }
    ~Held() { region->Unref(); }
    Region* const region;
};

// y = exp(x) * x, as one function: two nodes.
Array Compute(Region* region, const Array& x) {
    region->AddInput(x.body()->slot);
    region->rank = VisibleRank(x.body()->slot);
    const RegionScope scope{region};
    Array y = Multiply(Exp(x), x);
    region->AddOutput(y.body()->slot);
    return y;
}

class Recorder : public RunObserver {
 public:
    explicit Recorder(bool all) : RunObserver{all} { set_current(this); }
    ~Recorder() override { set_current(nullptr); }
    void Begin(Region& region, std::span<const Array> grads) override {
        text += "begin " + std::to_string(region.rank) + " " + std::to_string(Values(grads[0])[0]) +
                "\n";
    }
    void InputGrad(Node& node, int input, const Array&) override {
        text += std::string{node.op->name} + " " + std::to_string(input) + "\n";
    }
    void End(Region& region) override { text += "end " + std::to_string(region.rank) + "\n"; }
    std::string text;
};

}  // namespace

CX_TEST(RegionGoesWithItsLastNode) {
    g_released = 0;
    const Array x = Vector({1});
    x.RequireGrad();
    {
        Array y;
        {
            const Held f;
            y = Compute(f.region, x);
            CHECK_EQ(f.region->nodes.load(), 2U);
        }
        CHECK_EQ(g_released, 0);
        const Array z = Multiply(y, 2.0);
        y = Array{};
        CHECK_EQ(g_released, 0);  // z still depends on it
        CHECK_EQ(z.body()->slot->node->edges()[0].slot->node->region->outputs.size(), 1U);
    }
    CHECK_EQ(g_released, 1);
}

CX_TEST(RegionOutlivesItsNodesWhereSomebodyHoldsIt) {
    g_released = 0;
    const Array x = Vector({1});
    x.RequireGrad();
    const Held f;
    {
        const Array y = Compute(f.region, x);
    }
    CHECK_EQ(g_released, 1);
    CHECK(f.region->outputs[0] == nullptr);
    CHECK(f.region->inputs[0] == x.body()->slot);
}

CX_TEST(BackwardThatReleasesTheGraphReleasesInputsOfRegions) {
    const Array x = Vector({0});
    x.RequireGrad();
    const Held f;
    const Array y = Compute(f.region, x);
    Backward(y);
    CHECK_EQ(Values(*x.GetGrad()), V{1});
    CHECK(f.region->inputs.empty());
}

CX_TEST(BackwardMayKeepTheGraph) {
    const Array x = Vector({0});
    x.RequireGrad();
    const Held f;
    const Array y = Compute(f.region, x);
    for (int i = 1; i <= 3; ++i) {
        BackwardRun run{y.context().default_backprop_id(), false, std::nullopt};
        run.set_keep_graph(true);
        run.AddOutput(y, Vector({1}));
        run.Run(true);
        CHECK_EQ(Values(*x.GetGrad()), V{static_cast<double>(i)});
    }
    CHECK_EQ(f.region->inputs.size(), 1U);
}

CX_TEST(ObserverSeesRegionsFromTheLastToTheFirst) {
    const Array x = Vector({0});
    x.RequireGrad();
    const Held f;
    const Held g;
    const Array y = Compute(g.region, Multiply(Compute(f.region, x), 3.0));
    Recorder log{true};
    Backward(y);
    // The multiplication between them belongs to no region; its rank is that of its node.
    CHECK_EQ(log.text,
             "begin 3 1.000000\nmultiply 1\nmultiply 0\nexp 0\nend 3\nmultiply 0\n"
             "begin 0 3.000000\nmultiply 1\nmultiply 0\nexp 0\nend 0\n");
}

CX_TEST(ObserversOfSingleRegionsSeeTheseOnly) {
    const Array x = Vector({0});
    x.RequireGrad();
    const Held f, g;
    const Array y = Compute(g.region, Compute(f.region, x));
    g.region->observed = true;
    Recorder log{false};
    Backward(y);
    CHECK_EQ(log.text, "begin 1 1.000000\nend 1\n");
}

CX_TEST(OpaqueNodesMakeOutputsWithoutGradients) {
    const Array x = Vector({1, 2});
    x.RequireGrad();
    const Held f;
    f.region->AddInput(x.body()->slot);
    const Array y = Vector({3});
    AddOpaqueNode(UserOp("argmax"), f.region, std::span{&y, 1});
    f.region->AddOutput(y.body()->slot);
    CHECK_EQ(VisibleRank(y.body()->slot), 1);
    CHECK(!y.IsBackpropRequired());
    Backward(Multiply(y, 2.0));
    CHECK(!x.GetGrad());
}

CX_TEST(NodesOfIntegersAreRecordedInRegionsOnly) {
    const Array x = Full(Shape{2}, 3, Dtype::kInt32);
    MakeLeafSlot(*x.body())->live = 1;
    CHECK(Multiply(x, x).body()->slot == nullptr);
    const Held f;
    const RegionScope scope{f.region};
    const Array y = Multiply(x, x);
    CHECK(y.body()->slot != nullptr);
    x.body()->slot->required = 1;
    BackwardRun run{y.context().default_backprop_id(), false, std::nullopt};
    run.AddOutput(y, Array{});
    run.Run(true);
    CHECK_EQ(Values(AsType(x.body()->slot->GetGrad(1), Dtype::kFloat64)), (V{6, 6}));
}

CX_TEST(ANodeOutsideOfRegionsGetsOneOfItsOwn) {
    const Array x = Vector({1});
    x.RequireGrad();
    const Array y = Multiply(x, x);
    Region* region = RegionOf(y.body()->slot->node);
    CHECK(region == RegionOf(y.body()->slot->node));
    CHECK_EQ(region->inputs.size(), 2U);
    CHECK_EQ(region->outputs.size(), 1U);
    CHECK_EQ(VisibleRank(y.body()->slot), 1);
}
