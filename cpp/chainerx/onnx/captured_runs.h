// Runs in which nothing is differentiated. Those whose inputs have the same shapes are captured
// (capture/capture.h): values that follow from shapes are computed once, and then the kernels are
// called without the operators.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include "chainerx/capture/capture.h"
#include "chainerx/core/device.h"
#include "chainerx/onnx/fuse.h"
#include "chainerx/onnx/plan.h"

namespace chainerx::onnx {

// Threads may call it at once; of those whose inputs have the same shapes, one is captured.
class CapturedRuns {
 public:
    // Runs these steps on the inputs, and returns the outputs.
    using Runner = std::function<Values(const Block& block, Frame frame, StepWatcher* watcher)>;

    CapturedRuns(const Plan& plan, Device& device) : plan_{plan, device}, device_{device} {}

    const FusedPlan& plan() const { return plan_; }

    // The outputs are those of `run`, and share no memory with the constants of the plan.
    Values RunPlain(const Runner& run) const;
    // The same, of a replay if there is one. `max_kinds` is how many kinds of inputs are kept
    // recorded. Sets `is_refused`, and is to be called no more, if the model can't be replayed.
    Values Run(const Values& inputs, bool trains, size_t max_kinds, std::atomic<bool>& is_refused,
               const Runner& run);

    std::vector<CaptureVariant> variants() const;
    void Forget();

 private:
    using Constants = std::vector<std::pair<int, Value>>;

    // Inputs of the same shapes, dtypes and strides.
    struct Kind {
        std::vector<int64_t> key;
        uint64_t last_use{0};
        bool has_run{false};
        // The rest does not change once this is set: the steps without those whose results follow
        // from shapes, and these results.
        bool is_ready{false};
        Block block;
        Constants constants;
        std::unordered_set<int> known;
        std::unique_ptr<Capture> capture;
    };
    class ShapeFolder;

    bool MayCapture(const Values& inputs) const;
    std::vector<int64_t> KeyOf(const Values& inputs, bool trains) const;
    std::shared_ptr<Kind> Find(std::vector<int64_t> key, size_t max_kinds);
    Values Prepare(Kind& kind, const Values& inputs, std::atomic<bool>& is_refused,
                   const Runner& run);
    Values RunCaptured(const Kind& kind, const Values& inputs, std::atomic<bool>& is_refused,
                       const Runner& run) const;
    void CopyOwned(const Constants* more, Values& outputs) const;

    const FusedPlan plan_;
    Device& device_;
    uint64_t uses_{0};
    std::vector<std::shared_ptr<Kind>> kinds_;
    mutable std::mutex mutex_;  // of what may change; no step runs while it is held
};

}  // namespace chainerx::onnx
