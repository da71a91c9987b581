#include "chainerx/onnx/model.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>

#include "chainerx/autograd/record.h"
#include "chainerx/core/capture_observer.h"
#include "chainerx/core/context.h"
#include "chainerx/core/error.h"
#include "chainerx/core/kernel_error.h"
#include "chainerx/onnx/build.h"
#include "chainerx/onnx/call.h"
#include "chainerx/onnx/captured_runs.h"
#include "chainerx/onnx/dtypes.h"
#include "chainerx/onnx/file_bytes.h"
#include "chainerx/onnx/fuse.h"
#include "chainerx/onnx/messages.h"
#include "chainerx/onnx/select.h"
#include "chainerx/ops/shape/creation.h"

namespace chainerx::onnx {
namespace {

// Shapes and the like are read by the host, so they stay there.
bool StaysOnHost(const Array& x) {
    return !IsDifferentiable(x.dtype()) && x.ndim() <= 1 && x.GetTotalSize() <= 64;
}

Value Moved(const Value& value, Device& device) {
    if (value.array.is_null() || StaysOnHost(value.array)) return value;
    if (&value.array.device() == &device) return value;
    return value.array.AsGradStopped().ToDevice(device);
}

ValueInfo ToInfo(const ValueMessage& v, const char* role) {
    ValueInfo info;
    info.name = v.name;
    if (v.elem_type != 0) {
        info.dtype = ToDtype(v.elem_type, StrCat("onnx: ", role, " \"", v.name, "\""));
    }
    info.has_shape = v.has_shape;
    for (const DimMessage& d : v.dims) {
        info.shape.push_back(d.length);
        info.names.push_back(d.name);
    }
    return info;
}

void CheckInput(const ValueInfo& info, const Value& value, const Device& device) {
    const auto expected = [&info] {
        return StrCat("onnx: input \"", info.name, "\" must be ", info.ToString());
    };
    if (value.array.is_null() || !info.dtype.has_value()) {
        if (info.dtype.has_value()) throw TypeError{expected(), ", got a sequence"};
        return;
    }
    const Array& x = value.array;
    if (x.dtype() != *info.dtype) throw DtypeError{expected(), ", got dtype ", x.dtype()};
    if (info.has_shape) {
        bool fits = x.shape().size() == static_cast<int64_t>(info.shape.size());
        for (int64_t i = 0; fits && i < x.ndim(); ++i) {
            const int64_t length = info.shape[static_cast<size_t>(i)];
            fits = length < 0 || length == x.shape()[i];
        }
        if (!fits) throw DimensionError{expected(), ", got shape ", x.shape()};
    }
    if (&x.device() != &device) {
        throw DeviceError{"onnx: input \"",      info.name,    "\" is on ", x.device().name(),
                          ", but the model on ", device.name()};
    }
}

// Waits for the device behind each step, and adds how long it took.
class NodeTimer : public StepWatcher {
 public:
    explicit NodeTimer(std::vector<NodeTime>& times) : times_{times} {}

    void Before() override { start_ = Clock::now(); }
    void After(const Step& step, const Frame& frame) override {
        frame.device->Synchronize();
        const std::chrono::duration<double> time = Clock::now() - start_;
        times_.push_back({step.label.name, step.label.op, time.count()});
    }

 private:
    using Clock = std::chrono::steady_clock;

    std::vector<NodeTime>& times_;
    Clock::time_point start_;
};

}  // namespace

std::string ValueInfo::ToString() const {
    if (!dtype.has_value()) return "a sequence or an optional value";
    std::string text = chainerx::ToString(*dtype);
    if (!has_shape) return text + " of any shape";
    text += " (";
    for (size_t i = 0; i < shape.size(); ++i) {
        if (i != 0) text += ", ";
        text += shape[i] >= 0 ? std::to_string(shape[i]) : names[i].empty() ? "?" : names[i];
    }
    return text + (shape.size() == 1 ? ",)" : ")");
}

class Model::Impl {
 public:
    // `file` is the owner of the bytes, if they are those of a file.
    Impl(std::string_view bytes, const std::string& folder, Device& device,
         const std::vector<std::string>& outputs, FileBytes* file)
        : device_{&device} {
        ModelMessage message = ReadModel(bytes);
        if (!outputs.empty()) SelectOutputs(message.graph, outputs);
        plan_ = BuildPlan(message, folder, file);
        for (const ValueMessage& v : message.graph.inputs) inputs_.push_back(ToInfo(v, "input"));
        for (const ValueMessage& v : message.graph.outputs) {
            outputs_.push_back(ToInfo(v, "output"));
        }
        for (ValueInfo& input : inputs_) {
            for (const Constant& c : plan_.constants) {
                if (c.name == input.name) input.is_required = false;
            }
        }
        ToDevice(device);
    }

    const std::vector<ValueInfo>& inputs() const { return inputs_; }
    const std::vector<ValueInfo>& outputs() const { return outputs_; }
    Device& device() const { return *device_; }

    void ToDevice(Device& device) {
        device_ = &device;
        for (Constant& c : plan_.constants) c.value = Moved(c.value, device);
    }

    Impl(const Impl& other, Device& device)
        : device_{other.device_},
          inputs_{other.inputs_},
          outputs_{other.outputs_},
          n_captures_{other.n_captures_.load()} {
        {
            const std::lock_guard lock{other.mutex_};
            plan_ = other.plan_;
        }
        for (Constant& c : plan_.constants) {
            if (c.is_parameter) c.value = {};
        }
        ToDevice(device);
    }

    Values Run(const Values& inputs, const RunOptions& options) {
        while (!Fold()) continue;
        if (inputs.size() > inputs_.size()) {
            throw DimensionError{"onnx: the model has ", inputs_.size(), " inputs, but was given ",
                                 inputs.size()};
        }
        if (MayFuse(inputs, options)) {
            try {
                return RunFused(inputs, options);
            } catch (const KernelCheckError&) {
                throw;
            } catch (const ChainerxError&) {
                // The run below names the node.
            }
        }
        Frame frame = NewFrame();
        SetParameters(options.parameters, frame);
        std::optional<NodeTimer> timer;
        if (options.times != nullptr) timer.emplace(*options.times);
        return Run(inputs, options, plan_.block, std::move(frame), timer ? &*timer : nullptr);
    }

    void SetCaptures(int n_kinds) {
        if (n_kinds < 0) {
            throw ValueError{"onnx: captures is ", n_kinds, ", expected at least 0"};
        }
        n_captures_ = n_kinds;
        is_capture_refused_ = false;
        const std::lock_guard lock{mutex_};
        if (fused_ != nullptr) fused_->Forget();
    }

    std::vector<CaptureVariant> captures() const {
        const std::lock_guard lock{mutex_};
        return fused_ != nullptr ? fused_->variants() : std::vector<CaptureVariant>{};
    }

    std::vector<std::pair<std::string, Array>> parameters() const {
        std::vector<std::pair<std::string, Array>> found;
        for (const Constant& c : plan_.constants) {
            if (c.is_parameter) found.emplace_back(c.name, c.value.array);
        }
        return found;
    }

    void SetParameter(const std::string& name, const Array& value) {
        for (Constant& c : plan_.constants) {
            if (!c.is_parameter || c.name != name) continue;
            CheckParameter(c, value);
            c.value = value;
            return;
        }
        throw NotFoundError{"onnx: the model has no parameter \"", name, "\""};
    }

    std::vector<bool> statistics() const {
        std::vector<bool> found;
        for (const Constant& c : plan_.constants) {
            if (c.is_parameter) found.push_back(c.is_statistic);
        }
        return found;
    }

 private:
    Values RunFused(const Values& inputs, const RunOptions& options) {
        const std::shared_ptr<CapturedRuns> fused = Fused();
        const CapturedRuns::Runner run = [&](const Block& block, Frame frame,
                                             StepWatcher* watcher) {
            return Run(inputs, options, block, std::move(frame), watcher);
        };
        const int n = n_captures_;
        // A key of the caller is another one in each run.
        if (n == 0 || is_capture_refused_ || options.draw_key || options.statistics != nullptr) {
            return fused->RunPlain(run);
        }
        return fused->Run(inputs, options.trains, static_cast<size_t>(n), is_capture_refused_, run);
    }

    Values Run(const Values& inputs, const RunOptions& options, const Block& block, Frame frame,
               StepWatcher* watcher) const {
        frame.trains = options.trains;
        if (options.draw_key) frame.draw_key = &options.draw_key;
        for (size_t i = 0; i < inputs_.size(); ++i) {
            if (i >= inputs.size() || inputs[i].is_none()) {
                // An optional value of ONNX may be empty.
                if (!inputs_[i].is_required || !inputs_[i].dtype.has_value()) continue;
                throw ValueError{"onnx: input \"", inputs_[i].name, "\" is missing, expected ",
                                 inputs_[i].ToString()};
            }
            CheckInput(inputs_[i], inputs[i], *device_);
            frame.At(plan_.block.inputs[i]) = inputs[i];
        }
        RunSteps(block, frame, watcher);
        if (options.statistics != nullptr) *options.statistics = StatisticsOf(frame);
        Values outputs;
        for (const int slot : block.outputs) {
            outputs.push_back(frame.At(slot));
            Array& y = outputs.back().array;
            if (y.is_null()) continue;
            if (&y.device() != device_) {
                y = y.ToDevice(*device_);
            } else if (IsOwned(y, options.parameters)) {
                y = Copy(y);  // writing to a result must not change the model
            }
        }
        return outputs;
    }

    void CheckParameter(const Constant& c, const Array& value) const {
        if (value.dtype() != c.dtype) {
            throw DtypeError{"onnx: parameter \"", c.name, "\" has dtype ", c.dtype, ", got ",
                             value.dtype()};
        }
        if (value.shape() != c.shape) {
            throw DimensionError{"onnx: parameter \"", c.name, "\" has shape ", c.shape, ", got ",
                                 value.shape()};
        }
        if (&value.device() != device_) {
            throw DeviceError{"onnx: parameter \"",  c.name,
                              "\" is on ",           value.device().name(),
                              ", but the model on ", device_->name()};
        }
    }

    void SetParameters(const std::vector<Array>& values, Frame& frame) const {
        size_t i = 0;
        for (const Constant& c : plan_.constants) {
            if (!c.is_parameter) continue;
            if (i < values.size() && !values[i].is_null()) {
                CheckParameter(c, values[i]);
                frame.At(c.slot) = values[i];
            } else if (c.value.is_none()) {
                throw ValueError{"onnx: parameter \"", c.name, "\" is missing"};
            }
            ++i;
        }
        if (!values.empty() && values.size() != i) {
            throw DimensionError{"onnx: the model has ", i, " parameters, but was given ",
                                 values.size()};
        }
    }

    std::vector<std::pair<size_t, Array>> StatisticsOf(const Frame& frame) const {
        std::vector<std::pair<size_t, Array>> found;
        for (const auto& [slot, value] : frame.statistics) {
            size_t i = 0;
            for (const Constant& c : plan_.constants) {
                if (!c.is_parameter) continue;
                if (c.slot == slot) found.emplace_back(i, value);
                ++i;
            }
        }
        return found;
    }

    // Whether the model computes with the memory of x.
    bool IsOwned(const Array& x, const std::vector<Array>& parameters) const {
        const auto is_same = [&x](const Array& a) {
            return !a.is_null() && a.buffer() == x.buffer();
        };
        return plan_.attributes.contains(x.buffer()) ||
               std::any_of(parameters.begin(), parameters.end(), is_same) ||
               std::any_of(plan_.constants.begin(), plan_.constants.end(),
                           [&is_same](const Constant& c) { return is_same(c.value.array); });
    }

    Frame NewFrame() const {
        Frame frame{Values(static_cast<size_t>(plan_.n_slots)), device_};
        for (const Constant& c : plan_.constants) {
            frame.At(c.slot) = c.value;
        }
        return frame;
    }

    // Parameters of the caller may be others in each run; times are those of single nodes; and a
    // step that is captured is run again with parameters as they are then.
    bool MayFuse(const Values& inputs, const RunOptions& options) const {
        if (!options.parameters.empty() || options.times != nullptr) return false;
        if (internal::CurrentCapture() != nullptr) return false;
        const auto needs_graph = [](const Value& v) {
            return v.sequence != nullptr ||
                   (!v.array.is_null() && internal::IsBackpropRequiredAny(v.array));
        };
        return std::none_of(inputs.begin(), inputs.end(), needs_graph) &&
               std::none_of(plan_.constants.begin(), plan_.constants.end(), [&](const Constant& c) {
                   return needs_graph(c.value) || (c.is_parameter && c.value.is_none());
               });
    }

    // The plan for the parameters as they are. Of threads that come at once, the last one's stays.
    std::shared_ptr<CapturedRuns> Fused() {
        {
            const std::lock_guard lock{mutex_};
            if (fused_ != nullptr && fused_->plan().IsFor(plan_, *device_)) return fused_;
        }
        auto made = std::make_shared<CapturedRuns>(plan_, *device_);
        const std::lock_guard lock{mutex_};
        fused_.swap(made);  // the old one is freed after the lock is released
        return fused_;
    }

    // At the first run, computes what is the same in all. An error is that of the node, each time.
    // No lock is held meanwhile: a step may release Python's and wait for it, and its holder for
    // ours. Threads that come at once compute the same; the results of the first one stay. Returns
    // false if the model was moved to another device meanwhile.
    bool Fold() {
        Block all;
        Frame frame{{}, nullptr};
        {
            const std::lock_guard lock{mutex_};
            if (plan_.folded.empty()) return true;
            all.steps = plan_.folded;
            frame = NewFrame();
        }
        RunSteps(all, frame);
        std::vector<Constant> made;
        std::vector<Step> large;
        for (Step& step : all.steps) {
            bool is_small = true;
            for (const int slot : step.outputs) {
                if (slot == kNoSlot) continue;
                const Value& value = frame.At(slot);
                is_small = is_small && value.sequence == nullptr &&
                           (value.array.is_null() || value.array.GetNBytes() <= kMaxFoldedBytes);
            }
            if (!is_small) {
                large.push_back(std::move(step));
                continue;
            }
            for (const int slot : step.outputs) {
                if (slot == kNoSlot) continue;
                const Value& value = frame.At(slot);
                made.push_back({slot, Moved(value, *frame.device), "", false});
            }
        }
        std::vector<Step> done;  // freed after the lock is released
        const std::lock_guard lock{mutex_};
        if (plan_.folded.empty()) return true;
        if (frame.device != device_) return false;
        done.swap(plan_.folded);
        plan_.constants.insert(plan_.constants.end(), std::make_move_iterator(made.begin()),
                               std::make_move_iterator(made.end()));
        std::vector<Step>& steps = plan_.block.steps;
        steps.insert(steps.begin(), std::make_move_iterator(large.begin()),
                     std::make_move_iterator(large.end()));
        return true;
    }

    Device* device_;
    Plan plan_;
    std::vector<ValueInfo> inputs_;
    std::vector<ValueInfo> outputs_;
    std::shared_ptr<CapturedRuns> fused_;  // null before the first run
    mutable std::mutex mutex_;             // of Fold and Fused
    std::atomic<int> n_captures_{4};
    std::atomic<bool> is_capture_refused_{false};
};

Model Model::Load(const std::string& path, Device& device,
                  const std::vector<std::string>& outputs) {
    FileBytes file{path};
    const size_t slash = path.rfind('/');
    const std::string folder =
        slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
    return Model{std::make_unique<Impl>(file.view(), folder, device, outputs, &file)};
}

Model Model::FromBytes(std::string_view bytes, const std::string& folder, Device& device,
                       const std::vector<std::string>& outputs) {
    return Model{std::make_unique<Impl>(bytes, folder, device, outputs, nullptr)};
}

Model::Model(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
Model::Model(Model&& o) noexcept = default;
Model& Model::operator=(Model&& o) noexcept = default;
Model::~Model() = default;

const std::vector<ValueInfo>& Model::inputs() const { return impl_->inputs(); }
const std::vector<ValueInfo>& Model::outputs() const { return impl_->outputs(); }
Device& Model::device() const { return impl_->device(); }
Values Model::Run(const Values& inputs) const { return impl_->Run(inputs, {}); }
Values Model::Run(const Values& inputs, const RunOptions& options) const {
    return impl_->Run(inputs, options);
}

std::vector<Array> Model::operator()(const std::vector<Array>& inputs) const {
    std::vector<Array> outputs;
    Values values = Run(Values(inputs.begin(), inputs.end()));
    for (size_t i = 0; i < values.size(); ++i) {
        if (values[i].array.is_null()) {
            throw TypeError{"onnx: output \"", this->outputs()[i].name,
                            "\" is a sequence or empty, expected an array"};
        }
        outputs.push_back(std::move(values[i].array));
    }
    return outputs;
}

std::vector<std::pair<std::string, Array>> Model::parameters() const { return impl_->parameters(); }
void Model::SetParameter(const std::string& name, const Array& value) {
    impl_->SetParameter(name, value);
}
std::vector<bool> Model::statistics() const { return impl_->statistics(); }
Model Model::WithoutParameters(Device& device) const {
    return Model{std::make_unique<Impl>(*impl_, device)};
}
void Model::SetCaptures(int n_kinds) { impl_->SetCaptures(n_kinds); }
std::vector<CaptureVariant> Model::captures() const { return impl_->captures(); }
void Model::ToDevice(Device& device) { impl_->ToDevice(device); }

}  // namespace chainerx::onnx
