#include "chainerx/onnx/captured_runs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "chainerx/core/capture_observer.h"
#include "chainerx/core/overlap.h"
#include "chainerx/core/stream.h"
#include "chainerx/core/thread_state.h"
#include "chainerx/ops/random/random_generator.h"
#include "chainerx/ops/shape/creation.h"

namespace chainerx::onnx {
namespace {

bool OwnsMemoryOf(const std::vector<std::pair<int, Value>>& constants, const Array& x) {
    return std::ranges::any_of(constants, [&x](const auto& constant) {
        const Array& a = constant.second.array;
        return !a.is_null() && a.buffer() == x.buffer();
    });
}

}  // namespace

// Keeps the results of the steps that follow from shapes.
class CapturedRuns::ShapeFolder : public StepWatcher {
 public:
    ShapeFolder(const FusedPlan& plan, const Values& inputs)
        : plan_{plan}, known_{plan.KnownWith(inputs)}, follows_{plan.FollowFromShapes(known_)} {}

    void After(const Step& step, const Frame& frame) override {
        const auto i = static_cast<size_t>(&step - plan_.block().steps.data());
        const bool is_folded = follows_[i] && std::ranges::all_of(step.outputs, [&](int slot) {
                                   if (slot == kNoSlot) return true;
                                   const Array& x = frame.At(slot).array;
                                   return !x.is_null() && x.GetNBytes() <= kMaxFoldedBytes;
                               });
        is_folded_.push_back(is_folded);
        if (!is_folded) return;
        for (const int slot : step.outputs) {
            if (slot != kNoSlot) constants_.emplace_back(slot, frame.At(slot));
        }
    }

    // To be called after a run of all steps.
    void Finish(Kind& kind) {
        kind.known = std::move(known_);
        std::unordered_set<int> kept;
        for (const auto& [slot, value] : plan_.constants()) kept.insert(slot);
        for (const auto& [slot, value] : constants_) {
            kind.known.insert(slot);
            kept.insert(slot);
        }
        kind.constants = std::move(constants_);
        kind.block.inputs = plan_.block().inputs;
        kind.block.outputs = plan_.block().outputs;
        for (size_t i = 0; i < is_folded_.size(); ++i) {
            if (!is_folded_[i]) kind.block.steps.push_back(plan_.block().steps[i]);
        }
        FreeEarly(kept, &kind.block);
        kind.capture = std::make_unique<Capture>(
            nullptr, CaptureOptions{.variants = 1, .strict = false, .has_own_arguments = true});
    }

 private:
    const FusedPlan& plan_;
    std::unordered_set<int> known_;
    const std::vector<bool> follows_;  // by step
    std::vector<bool> is_folded_;
    Constants constants_;
};

void CapturedRuns::CopyOwned(const Constants* more, Values& outputs) const {
    for (Value& v : outputs) {
        if (v.array.is_null()) continue;
        if (OwnsMemoryOf(plan_.constants(), v.array) ||
            (more != nullptr && OwnsMemoryOf(*more, v.array))) {
            v.array = Copy(v.array);
        }
    }
}

Values CapturedRuns::RunPlain(const Runner& run) const {
    Values outputs = run(plan_.block(), plan_.NewFrame(device_), nullptr);
    CopyOwned(nullptr, outputs);
    return outputs;
}

Values CapturedRuns::Run(const Values& inputs, bool trains, size_t max_kinds,
                         std::atomic<bool>& is_refused, const Runner& run) {
    if (!MayCapture(inputs)) return RunPlain(run);
    std::shared_ptr<Kind> kind;
    bool is_ready;
    bool prepares;
    {
        std::vector<int64_t> key = KeyOf(inputs, trains);
        const std::lock_guard lock{mutex_};
        kind = Find(std::move(key), max_kinds);
        is_ready = kind->is_ready;
        prepares = std::exchange(kind->has_run, true);  // shapes may come but once
    }
    if (is_ready) return RunCaptured(*kind, inputs, is_refused, run);
    return prepares ? Prepare(*kind, inputs, is_refused, run) : RunPlain(run);
}

// A replay would leave out what others watch, and what happens to graphs; and it must know which
// memory is the input's.
bool CapturedRuns::MayCapture(const Values& inputs) const {
    // Other backends do not tell a recording what the host copies to them.
    if (device_.backend()->name() != "native") return false;
    if (internal::t_state.record_observer != nullptr || random::DrawScope::IsOpen()) return false;
    return std::ranges::all_of(inputs, [this](const Value& v) {
        if (v.array.is_null()) return v.is_none();
        return v.array.body()->slot == nullptr && !plan_.SharesMemoryOfParameter(v.array);
    });
}

std::vector<int64_t> CapturedRuns::KeyOf(const Values& inputs, bool trains) const {
    std::vector<int64_t> key{trains, reinterpret_cast<intptr_t>(GetCurrentStream(device_))};
    for (const Value& v : inputs) {
        const Array& x = v.array;
        if (x.is_null()) {
            key.push_back(-1);
            continue;
        }
        key.push_back(static_cast<int64_t>(x.dtype()) * 256 + x.ndim());
        key.push_back(reinterpret_cast<intptr_t>(&x.device()));
        key.insert(key.end(), x.shape().begin(), x.shape().end());
        key.insert(key.end(), x.strides().begin(), x.strides().end());
    }
    return key;
}

std::shared_ptr<CapturedRuns::Kind> CapturedRuns::Find(std::vector<int64_t> key, size_t max_kinds) {
    auto it = std::ranges::find(kinds_, key, [](const auto& kind) { return kind->key; });
    if (it == kinds_.end()) {
        while (kinds_.size() >= max_kinds) {
            kinds_.erase(std::ranges::min_element(kinds_, {},
                                                  [](const auto& kind) { return kind->last_use; }));
        }
        it = kinds_.insert(kinds_.end(), std::make_shared<Kind>());
        (*it)->key = std::move(key);
    }
    (*it)->last_use = ++uses_;
    return *it;
}

Values CapturedRuns::Prepare(Kind& kind, const Values& inputs, std::atomic<bool>& is_refused,
                             const Runner& run) {
    ShapeFolder folder{plan_, inputs};
    Values outputs = run(plan_.block(), plan_.NewFrame(device_), &folder);
    // Of sequences and absent values nothing is recorded.
    if (std::ranges::any_of(outputs, [](const Value& v) { return v.array.is_null(); })) {
        is_refused = true;
    }
    Kind made;
    folder.Finish(made);
    CopyOwned(&made.constants, outputs);
    const std::lock_guard lock{mutex_};
    if (kind.is_ready) return outputs;  // another thread was faster
    kind.block = std::move(made.block);
    kind.constants = std::move(made.constants);
    kind.known = std::move(made.known);
    kind.capture = std::move(made.capture);
    kind.is_ready = true;
    return outputs;
}

Values CapturedRuns::RunCaptured(const Kind& kind, const Values& inputs,
                                 std::atomic<bool>& is_refused, const Runner& run) const {
    std::vector<Array> arguments;
    for (const Value& v : inputs) {
        if (!v.array.is_null()) arguments.push_back(v.array);
    }
    Values outputs;
    const std::function<std::vector<Array>()> step = [&] {
        Frame frame = plan_.NewFrame(device_);
        for (const auto& [slot, value] : kind.constants) {
            frame.At(slot) = value;
        }
        frame.known = &kind.known;
        outputs = run(kind.block, std::move(frame), nullptr);
        CopyOwned(&kind.constants, outputs);
        std::vector<Array> arrays;
        for (const Value& v : outputs) {
            if (v.array.is_null()) {
                internal::CheckMayRead("an output is no array");
            } else {
                arrays.push_back(v.array);
            }
        }
        return arrays;
    };
    Capture::Result result = kind.capture->Run({"", arguments, step});
    if (result.is_replay) return {result.outputs.begin(), result.outputs.end()};
    const std::vector<CaptureVariant> variants = kind.capture->variants();
    if (std::ranges::any_of(variants, &CaptureVariant::is_refused)) is_refused = true;
    return outputs;
}

std::vector<CaptureVariant> CapturedRuns::variants() const {
    std::vector<std::shared_ptr<Kind>> kinds;
    {
        const std::lock_guard lock{mutex_};
        std::ranges::copy_if(kinds_, std::back_inserter(kinds),
                             [](const auto& kind) { return kind->is_ready; });
    }
    std::vector<CaptureVariant> all;
    for (const auto& kind : kinds) {
        for (CaptureVariant& v : kind->capture->variants()) all.push_back(std::move(v));
    }
    return all;
}

void CapturedRuns::Forget() {
    std::vector<std::shared_ptr<Kind>> gone;  // freed after the lock is released
    const std::lock_guard lock{mutex_};
    gone.swap(kinds_);
}

}  // namespace chainerx::onnx
