// A plan for runs in which nothing is differentiated, while parameters stay as they are: what
// depends on parameters alone is computed once, and steps that follow a convolution become part of
// it. The plan that the model was read into stays, for all other runs.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/kernels/conv/conv_layer.h"
#include "chainerx/kernels/kept_weights.h"
#include "chainerx/onnx/build.h"
#include "chainerx/onnx/call.h"
#include "chainerx/onnx/plan.h"

namespace chainerx::onnx {

// What a step keeps of its weights: a convolution with what follows it, or a recurrent layer.
struct Prepared {
    Array kept;         // KeptWeights
    ConvLimits limits;  // of RunConvLayer
};

// A convolution and what follows it. The inputs are those of Conv, and an addend.
Values RunConvLayer(const Call& call);

class FusedPlan {
 public:
    FusedPlan(const Plan& plan, Device& device);

    // Whether the device and the parameters are those that this was made of, and have not been
    // written to. Of memory that others can write to, such as NumPy, nothing has been computed
    // beforehand.
    bool IsFor(const Plan& plan, const Device& device) const;

    const Block& block() const { return block_; }
    Frame NewFrame(Device& device) const;
    // By slot; some of them are inputs with a default.
    const std::vector<std::pair<int, Value>>& constants() const { return constants_; }
    // The slots whose values are the same in each run that is given the same inputs as this one,
    // and no others.
    std::unordered_set<int> KnownWith(const Values& inputs) const;
    // By step of the block: whether it gives the same in all such runs if shapes are the same, as
    // `Shape` does.
    std::vector<bool> FollowFromShapes(const std::unordered_set<int>& known) const;
    bool SharesMemoryOfParameter(const Array& x) const;

 private:
    friend class Fuser;

    struct Seen {
        Array array;
        uint32_t version;
        bool is_shared;

        bool IsStill(const Array& x) const;
    };

    const Device* device_;
    Block block_;
    std::vector<std::pair<int, Value>> constants_;
    std::unordered_set<int> known_;
    std::unordered_set<int> defaults_;  // of inputs
    int n_slots_{0};
    std::vector<Seen> seen_;  // the parameters, in the order of the plan
};

}  // namespace chainerx::onnx
