#include "chainerx/onnx/fuse.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "chainerx/core/buffer.h"
#include "chainerx/core/error.h"
#include "chainerx/core/overlap.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/elementwise/tables/logic.h"
#include "chainerx/ops/reduce/reduction.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::onnx {
namespace {

// A convolution and the steps after it that it takes over.
struct Chain {
    Array w;
    std::optional<Array> b;
    int addend{kNoSlot};
    ConvLimits limits;
    bool is_folded{false};  // w and b are others than those of the model

    // Whether it may still change what it adds.
    bool is_open() const { return addend == kNoSlot && limits.is_none(); }
};

bool IsFiniteEverywhere(const Array& x) { return All(Isfinite(x)).ToHost<int64_t>()[0] != 0; }

// Multiplies the weights, and moves the bias: y = scale * (x * w + b - mean) + beta.
bool TakeNormalization(const Call& call, int, Chain* chain) {
    if (!chain->is_open() || call.n_inputs() != 5) return false;
    const bool is_training = call.opset() >= 14  ? call.Int("training_mode", 0) != 0
                             : call.opset() >= 7 ? call.n_outputs() > 1
                                                 : call.Int("is_test", 0) == 0;
    if (is_training) return false;
    const Array& w = chain->w;
    Array of_channel[4];  // scale, bias, mean, variance
    for (size_t i = 0; i < 4; ++i) {
        const Array& a = call.In(i + 1).array;
        if (a.is_null() || a.dtype() != w.dtype() || !(a.shape() == Shape{w.shape()[0]})) {
            return false;
        }
        of_channel[i] = AsType(a, Dtype::kFloat64);
    }
    const auto& [gamma, beta, mean, var] = of_channel;
    const Array scale = gamma / Sqrt(var + call.Float("epsilon", 1e-5));
    const Array b = chain->b.has_value() ? AsType(*chain->b, Dtype::kFloat64) - mean : -mean;
    Shape along = Shape::Filled(w.ndim(), 1);
    along[0] = w.shape()[0];
    const Array new_w = AsType(AsType(w, Dtype::kFloat64) * Reshape(scale, along), w.dtype());
    const Array new_b = AsType(b * scale + beta, w.dtype());
    // Where numbers overflow, the order of the operations matters.
    if (!IsFiniteEverywhere(new_w) || !IsFiniteEverywhere(new_b)) return false;
    chain->w = new_w;
    chain->b = new_b;
    chain->is_folded = true;
    return true;
}

bool TakeAddend(const Call& call, int slot, Chain* chain) {
    const std::vector<int>& inputs = call.step().inputs;
    if (!chain->is_open() || call.opset() < 7 || inputs.size() != 2) return false;
    const int other = inputs[0] == slot ? inputs[1] : inputs[0];
    if (other == slot || other == kNoSlot) return false;
    chain->addend = other;
    return true;
}

bool TakeRelu(const Call&, int, Chain* chain) {
    if (!chain->limits.is_none()) return false;
    chain->limits.low = 0;
    return true;
}

bool TakeClip(const Call& call, int slot, Chain* chain) {
    if (!chain->limits.is_none() || call.step().inputs[0] != slot) return false;
    ConvLimits limits;
    if (call.opset() < 11) {
        constexpr double kMost = std::numeric_limits<float>::max();
        limits = {call.Float("min", -kMost), call.Float("max", kMost)};
    } else {
        double* const bounds[] = {&limits.low, &limits.high};
        for (size_t i = 0; i < 2; ++i) {
            if (i + 1 >= call.n_inputs() || call.step().inputs[i + 1] == kNoSlot) continue;
            const Array& a = call.In(i + 1).array;  // null unless it is a constant
            if (a.is_null() || a.dtype() != chain->w.dtype() || a.GetTotalSize() != 1) return false;
            if (a.ndim() != 0) return false;
            *bounds[i] = call.DoubleAt(i + 1);
        }
    }
    if (std::isnan(limits.low) || std::isnan(limits.high)) return false;
    chain->limits = limits;
    return true;
}

// A step that may follow a convolution whose result, in `slot`, nobody else reads. Returns false,
// and leaves the chain as it is, if the step can't become part of it.
struct Follower {
    const char* op;
    bool (*take)(const Call& call, int slot, Chain* chain);
};

constexpr Follower kFollowers[] = {
    {"BatchNormalization", TakeNormalization},
    {"Add", TakeAddend},
    {"Relu", TakeRelu},
    {"Clip", TakeClip},
};

bool IsOp(const Step& step, std::string_view name) {
    return step.op != nullptr && step.op->domain[0] == '\0' && step.op->name == name;
}

// What a normalization gives may depend on whether the run trains.
bool DependsOnInputsAlone(const Step& step) {
    return step.is_foldable && !step.inputs.empty() && !IsOp(step, "BatchNormalization");
}

// Memory that a handle outside of chainerx may write to, uncounted.
bool IsShared(const Array& x) { return x.buffer()->MayChangeUnseen(); }

}  // namespace

class Fuser {
 public:
    Fuser(const Plan& plan, Device& device, FusedPlan* fused)
        : fused_{*fused}, steps_{plan.block.steps}, frame_{Values(), &device} {
        fused_.block_.inputs = plan.block.inputs;
        fused_.block_.outputs = plan.block.outputs;
        fused_.n_slots_ = plan.n_slots;
        frame_.slots.resize(static_cast<size_t>(plan.n_slots));
        const std::unordered_set<int> inputs(plan.block.inputs.begin(), plan.block.inputs.end());
        for (const Constant& c : plan.constants) {
            const Array& x = c.value.array;
            if (c.is_parameter) fused_.seen_.push_back({x, x.buffer()->version(), IsShared(x)});
            fused_.constants_.emplace_back(c.slot, c.value);
            kept_.insert(c.slot);
            // An input with a default may be given; shared memory may be written to.
            if (c.is_parameter && IsShared(x)) continue;
            if (inputs.contains(c.slot)) {
                fused_.defaults_.insert(c.slot);
                continue;
            }
            constants_.insert(c.slot);
            frame_.At(c.slot) = c.value;
        }
    }

    void Run() {
        Fold();
        FindReaders();
        for (size_t i = 0; i < steps_.size(); ++i) {
            if (IsOp(steps_[i], "Conv")) Follow(i);
            KeepWeights(&steps_[i]);
        }
        std::erase_if(steps_, [](const Step& step) { return step.routine == nullptr; });
        fused_.block_.steps = std::move(steps_);
        FreeEarly(kept_, &fused_.block_);
        fused_.known_ = std::move(constants_);
    }

 private:
    // ---- what depends on constants alone ----

    bool IsConstant(int slot) const { return slot == kNoSlot || constants_.contains(slot); }

    void AddConstant(int slot, Value value) {
        constants_.insert(slot);
        kept_.insert(slot);
        fused_.constants_.emplace_back(slot, value);
        frame_.At(slot) = std::move(value);
    }
    int NewConstant(const Array& x) {
        const int slot = fused_.n_slots_++;
        frame_.slots.resize(static_cast<size_t>(fused_.n_slots_));
        AddConstant(slot, x);
        return slot;
    }

    void Fold() {
        for (Step& step : steps_) {
            if (!DependsOnInputsAlone(step)) continue;
            if (!std::all_of(step.inputs.begin(), step.inputs.end(),
                             [this](int slot) { return IsConstant(slot); })) {
                continue;
            }
            if (FoldStep(step)) step.routine = nullptr;
        }
        std::erase_if(steps_, [](const Step& step) { return step.routine == nullptr; });
    }

    // Returns false if the results are too large to be kept, or there is an error, which then comes
    // in the run.
    bool FoldStep(const Step& step) {
        int64_t given = 0;
        for (const int slot : step.inputs) {
            if (slot != kNoSlot) given += NBytesOf(frame_.At(slot));
        }
        Values outputs;
        try {
            outputs = step.routine(Call{step, frame_});
        } catch (const ChainerxError&) {
            return false;
        }
        int64_t made = 0;
        for (size_t i = 0; i < step.outputs.size(); ++i) {
            if (step.outputs[i] == kNoSlot) continue;
            if (i >= outputs.size() || outputs[i].array.is_null()) return false;
            made += NBytesOf(outputs[i]);
        }
        if (made > std::max(kMaxFoldedBytes, 2 * given)) return false;
        for (size_t i = 0; i < step.outputs.size(); ++i) {
            if (step.outputs[i] != kNoSlot) AddConstant(step.outputs[i], std::move(outputs[i]));
        }
        return true;
    }

    static int64_t NBytesOf(const Value& value) {
        return value.array.is_null() ? 0 : value.array.GetNBytes();
    }

    // ---- convolutions ----

    void FindReaders() {
        for (size_t i = 0; i < steps_.size(); ++i) {
            for (const int slot : ReadBy(steps_[i])) readers_[slot].push_back(i);
        }
        for (const int slot : fused_.block_.outputs) readers_[slot].push_back(steps_.size());
    }

    // The step that alone reads what step i makes; the number of steps if several read it, or none.
    size_t SoleReader(size_t i) const {
        const size_t none = steps_.size();
        if (steps_[i].outputs.size() != 1) return none;
        const auto found = readers_.find(steps_[i].outputs[0]);
        return found != readers_.end() && found->second.size() == 1 ? found->second[0] : none;
    }

    void Follow(size_t first) {
        const Step& conv = steps_[first];
        if (conv.inputs.size() < 2 || conv.inputs[0] == kNoSlot || conv.inputs[1] == kNoSlot)
            return;
        const bool has_bias = conv.inputs.size() > 2 && conv.inputs[2] != kNoSlot;
        Chain chain;
        chain.w = frame_.At(conv.inputs[1]).array;
        if (has_bias) chain.b = frame_.At(conv.inputs[2]).array;
        if (!IsForLayer(chain.w) || (has_bias && !IsForBias(*chain.b, chain.w))) return;
        size_t last = first;
        for (size_t next = SoleReader(last); next != steps_.size(); next = SoleReader(last)) {
            if (!Takes(steps_[next], steps_[last].outputs[0], &chain)) break;
            if (last != first) steps_[last].routine = nullptr;
            last = next;
        }
        Step step = steps_[first];
        step.routine = &RunConvLayer;
        step.op = nullptr;
        step.outputs = {steps_[last].outputs[0]};
        step.inputs.resize(3, kNoSlot);
        step.inputs.push_back(chain.addend);
        if (chain.is_folded) {
            step.inputs[1] = NewConstant(chain.w);
            step.inputs[2] = NewConstant(*chain.b);
        }
        step.prepared = std::make_shared<const Prepared>(
            Prepared{KeptWeights::New(chain.w.device()), chain.limits});
        steps_[first].routine = nullptr;
        steps_[last] = std::move(step);
    }

    // Of recurrent layers.
    void KeepWeights(Step* step) const {
        const bool is_recurrent = IsOp(*step, "LSTM") || IsOp(*step, "GRU") || IsOp(*step, "RNN");
        const size_t n = std::min<size_t>(step->inputs.size(), 4);
        if (!is_recurrent || n < 3 || step->inputs[1] == kNoSlot) return;
        if (!std::all_of(step->inputs.begin() + 1, step->inputs.begin() + static_cast<int64_t>(n),
                         [this](int slot) { return IsConstant(slot); })) {
            return;
        }
        step->prepared =
            std::make_shared<const Prepared>(Prepared{KeptWeights::New(*frame_.device), {}});
    }

    // Constants only: others are null here.
    static bool IsForLayer(const Array& w) {
        return !w.is_null() && w.ndim() >= 3 && w.GetTotalSize() != 0 &&
               (w.dtype() == Dtype::kFloat32 || w.dtype() == Dtype::kFloat64);
    }
    static bool IsForBias(const Array& b, const Array& w) {
        return !b.is_null() && b.dtype() == w.dtype() && b.shape() == Shape{w.shape()[0]};
    }

    bool Takes(const Step& step, int slot, Chain* chain) {
        // Another convolution may have taken it.
        if (step.routine == nullptr || step.outputs.size() != 1 || step.outputs[0] == kNoSlot) {
            return false;
        }
        const auto* const found = std::find_if(std::begin(kFollowers), std::end(kFollowers),
                                               [&](const Follower& f) { return IsOp(step, f.op); });
        return found != std::end(kFollowers) && found->take(Call{step, frame_}, slot, chain);
    }

    FusedPlan& fused_;
    std::vector<Step> steps_;  // those without a routine are gone
    Frame frame_;              // of constants
    std::unordered_set<int> constants_;
    std::unordered_set<int> kept_;  // no step frees these
    std::unordered_map<int, std::vector<size_t>> readers_;
};

bool FusedPlan::Seen::IsStill(const Array& x) const {
    return x.body() == array.body() && x.buffer()->version() == version && IsShared(x) == is_shared;
}

FusedPlan::FusedPlan(const Plan& plan, Device& device) : device_{&device} {
    Fuser{plan, device, this}.Run();
}

bool FusedPlan::IsFor(const Plan& plan, const Device& device) const {
    if (&device != device_) return false;
    size_t i = 0;
    for (const Constant& c : plan.constants) {
        if (c.is_parameter && (i == seen_.size() || !seen_[i++].IsStill(c.value.array))) {
            return false;
        }
    }
    return i == seen_.size();
}

std::unordered_set<int> FusedPlan::KnownWith(const Values& inputs) const {
    std::unordered_set<int> known = known_;
    known.insert(defaults_.begin(), defaults_.end());
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i].is_none()) known.erase(block_.inputs[i]);
    }
    return known;
}

std::vector<bool> FusedPlan::FollowFromShapes(const std::unordered_set<int>& known) const {
    std::unordered_set<int> follow = known;
    follow.insert(kNoSlot);
    std::vector<bool> found;
    for (const Step& step : block_.steps) {
        const bool follows = IsOp(step, "Shape") || IsOp(step, "Size") ||
                             (DependsOnInputsAlone(step) &&
                              std::all_of(step.inputs.begin(), step.inputs.end(),
                                          [&follow](int slot) { return follow.contains(slot); }));
        found.push_back(follows);
        if (follows) follow.insert(step.outputs.begin(), step.outputs.end());
    }
    return found;
}

bool FusedPlan::SharesMemoryOfParameter(const Array& x) const {
    return std::any_of(seen_.begin(), seen_.end(),
                       [&x](const Seen& seen) { return internal::MayShareMemory(seen.array, x); });
}

Frame FusedPlan::NewFrame(Device& device) const {
    Frame frame{Values(static_cast<size_t>(n_slots_)), &device};
    for (const auto& [slot, value] : constants_) frame.At(slot) = value;
    return frame;
}

}  // namespace chainerx::onnx
