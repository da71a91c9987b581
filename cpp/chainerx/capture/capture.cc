#include "chainerx/capture/capture.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "chainerx/capture/recorder.h"
#include "chainerx/capture/replay.h"
#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/core/overlap.h"

namespace chainerx {
namespace {

using internal::Extent;
using internal::Recorder;
using internal::Recording;
using internal::Replay;

// A step may differ from call to call as caches fill, and once more if meanwhile something happens,
// such as a snapshot that is loaded.
constexpr int kMaxDifferences = 3;

// What a step reads of the call before may be found bit by bit, but not for ever.
constexpr int kMaxDiscards = 16;

constexpr int64_t kCallsBeforeWarning = 100;

// Of all captures: fork keeps a list of locks, which must live as long as the process. Nothing
// waits for Python while it is held.
constinit internal::ForkMutex g_shown_mutex;

// Returns whether many arguments are in memory of their own each: by pairs, this would take long.
bool AreManyApart(const std::vector<Array>& arguments) {
    constexpr size_t kMany = 16;
    if (arguments.size() < kMany) return false;
    std::vector<Extent> extents;
    extents.reserve(arguments.size());
    for (const Array& x : arguments) {
        extents.push_back(internal::RangeOf(x));
        if (extents.back().begin == extents.back().end) return false;
    }
    std::ranges::sort(extents, {}, &Extent::begin);
    const auto meet = [](const Extent& a, const Extent& b) { return b.begin < a.end; };
    return std::ranges::adjacent_find(extents, meet) == extents.end();
}

// Returns the first argument with the same elements as argument i.
size_t FindSame(const std::vector<Array>& arguments, size_t i, bool are_apart) {
    size_t k = are_apart ? i : 0;
    while (k < i && !internal::IsSamePlace(arguments[k], arguments[i])) ++k;
    return k;
}

// Which gradients are asked for.
uint64_t RequiredOf(const Array& x) {
    const internal::Slot* slot = x.body()->slot;
    return slot != nullptr ? slot->required.load(std::memory_order_relaxed) : 0;
}

// What a recording depends on: the layouts of arguments, and which of them are the same array.
class Key {
 public:
    // `text` is of the layer above.
    Key(std::string_view text, const std::vector<Array>& arguments) : text_{text} {
        const bool are_apart = AreManyApart(arguments);
        for (size_t i = 0; i < arguments.size(); ++i) {
            const Array& x = arguments[i];
            arguments_.push_back({&x.device(), x.dtype(), x.IsWritable(), x.shape(), x.strides(),
                                  RequiredOf(x), FindSame(arguments, i, are_apart)});
        }
    }

    bool Fits(std::string_view text, const std::vector<Array>& arguments, bool are_apart) const {
        if (text != text_ || arguments.size() != arguments_.size()) return false;
        for (size_t i = 0; i < arguments.size(); ++i) {
            const Array& x = arguments[i];
            const Argument& a = arguments_[i];
            if (a.device != &x.device() || a.dtype != x.dtype() || a.shape != x.shape() ||
                a.is_writable != x.IsWritable() || a.required != RequiredOf(x) ||
                a.same != FindSame(arguments, i, are_apart)) {
                return false;
            }
            // Strides of axes with one element do not matter.
            if (a.strides != x.strides() &&
                !(x.IsContiguous() && IsContiguous(a.shape, a.strides, x.GetItemSize()))) {
                return false;
            }
        }
        return true;
    }

 private:
    struct Argument {
        Device* device;
        Dtype dtype;
        bool is_writable;
        Shape shape;
        Strides strides;
        uint64_t required;
        size_t same;
    };

    std::string text_;
    std::vector<Argument> arguments_;
};

std::string Describe(const std::vector<Array>& arguments) {
    std::string text;
    for (const Array& x : arguments) {
        if (!text.empty()) text += ' ';
        text += StrCat(x.dtype(), "[");
        for (int8_t i = 0; i < x.ndim(); ++i) text += StrCat(i == 0 ? "" : ",", x.shape()[i]);
        text += ']';
    }
    return text;
}

// Returns whether the step would have to distinguish places that arguments share in part.
bool Overlap(const std::vector<Array>& arguments) {
    for (size_t i = 0; i < arguments.size(); ++i) {
        for (size_t k = 0; k < i; ++k) {
            if (internal::MayShareMemory(arguments[i], arguments[k]) &&
                !internal::IsSamePlace(arguments[i], arguments[k])) {
                return true;
            }
        }
    }
    return false;
}

std::vector<Array> Detach(std::vector<Array> xs) {
    for (Array& x : xs) x = internal::Detached(x);
    return xs;
}

// Throws if an argument is part of a graph that began before the step: backward would leave it.
void CheckAreLeaves(std::span<const Array> arguments) {
    for (size_t i = 0; i < arguments.size(); ++i) {
        const internal::Slot* slot = arguments[i].body()->slot;
        if (slot != nullptr && !internal::IsLeaf(*slot) &&
            arguments[i].IsBackpropRequired(AnyGraph{})) {
            throw CaptureError{"capture: argument ", i,
                               " is a result in a graph, which a replay "
                               "would not go on with; pass x.as_grad_stopped(), or make it in the "
                               "step"};
        }
    }
}

}  // namespace

class Capture::Impl {
 public:
    Impl(Step step, const CaptureOptions& options) : step_{std::move(step)}, options_{options} {
        if (options.variants < 1) {
            throw ValueError{"capture: variants is ", options.variants, ", expected at least 1"};
        }
        if (options.verify < 0) {
            throw ValueError{"capture: verify is ", options.verify, ", expected 0 or more"};
        }
    }

    const Step& step() const { return step_; }

    Result Run(const Request& request) {
        if (internal::CaptureObserver* outer = internal::CurrentCapture()) {
            outer->Refuse("another captured step is called");
            return {Detach(request.step()), 0, false};
        }
        CheckAreLeaves(
            std::span{request.arguments}.first(request.arguments.size() - request.n_states));
        // Another thread, or the step itself, is inside: as without capture.
        const Exclusive inside{busy_};
        if (!inside) return {Detach(request.step()), 0, false};
        WarnOfManyKinds(request);
        const bool are_apart = AreManyApart(request.arguments);
        Variant& variant = Find(request, are_apart);
        variant.last_use = ++uses_;
        if (variant.is_refused || (!are_apart && Overlap(request.arguments))) {
            return {Detach(request.step()), 0, false};
        }
        if (variant.replay != nullptr) {
            std::vector<Array> outputs;
            const char* reason = nullptr;
            // Code of the program must not run twice.
            const bool may_verify = options_.verify > 0 && !variant.replay->calls_host();
            if (may_verify && (variant.replays + 1) % options_.verify == 0) {
                if (Verify(variant, request, outputs, reason)) {
                    return {std::move(outputs), variant.id, false};
                }
            } else if (variant.replay->Run(request.arguments, outputs, reason)) {
                ++variant.replays;
                ++replays_;
                return {std::move(outputs), variant.id, true};
            }
            variant.reason = reason;
            variant.replay = nullptr;
            variant.has_run = false;  // optimizers and caches look anew what there is to do
        }
        if (!variant.has_run) {
            std::vector<Array> outputs = Detach(request.step());
            variant.has_run = true;
            Show();
            return {std::move(outputs), variant.id, false};
        }
        if (variant.first != nullptr) {
            for (const Array& x : request.arguments) {
                if (variant.first->IsHeld(internal::RangeOf(x))) {
                    return {Detach(request.step()), variant.id, false};
                }
            }
        }
        struct ShowAtEnd {
            Impl* self;
            ~ShowAtEnd() {
                try {
                    self->Show();
                } catch (const std::bad_alloc&) {  // what is shown is that of the call before
                }
            }
        } show{this};
        bool is_discarded = false;
        std::vector<Array> outputs = Record(variant, request, is_discarded);
        const uint64_t id = is_discarded ? 0 : variant.id;
        if (is_discarded) variants_.clear();  // there will be no calls with these keys
        return {std::move(outputs), id, false};
    }

    std::vector<CaptureVariant> variants() {
        if (const Exclusive inside{busy_}) Show();
        const std::lock_guard lock{g_shown_mutex};
        return shown_;
    }

    bool Clear() {
        const Exclusive inside{busy_};
        if (inside) variants_.clear();
        return static_cast<bool>(inside);
    }

 private:
    struct Variant {
        Key key;
        uint64_t id;
        std::string arguments;
        uint64_t last_use{0};
        bool has_run{false};
        bool is_refused{false};
        int differences{0};
        int64_t replays{0};
        std::string reason;
        std::unique_ptr<Recording> first;
        std::unique_ptr<Replay> replay;

        const Recording* recording() const {
            return replay != nullptr ? &replay->recording() : first.get();
        }
    };
    // One call at a time works with the recordings. Nobody waits for it: the step is code of the
    // user, which may call anything, or wait for another thread.
    class Exclusive {
     public:
        explicit Exclusive(std::atomic<bool>& busy)
            : busy_{busy.exchange(true) ? nullptr : &busy} {}
        ~Exclusive() {
            if (busy_ != nullptr) *busy_ = false;
        }
        Exclusive(const Exclusive&) = delete;
        Exclusive& operator=(const Exclusive&) = delete;
        explicit operator bool() const { return busy_ != nullptr; }

     private:
        std::atomic<bool>* busy_;
    };

    // Keeps what variants() says while a call is inside.
    void Show() {
        std::vector<CaptureVariant> all;
        for (const auto& v : variants_) {
            all.push_back({v->arguments, v->replay ? v->replay->call_count() : 0,
                           v->replay ? v->replay->fused_count() : 0,
                           v->replay ? v->replay->nbytes() : 0, v->replays, v->reason,
                           v->is_refused});
            const internal::GraphReplay* graph = v->replay ? v->replay->graph() : nullptr;
            if (graph == nullptr) continue;
            all.back().graph = graph->is_used();
            if (!graph->reason().empty()) {
                all.back().reason = StrCat("launched one by one: ", graph->reason());
            }
        }
        const std::lock_guard lock{g_shown_mutex};
        shown_.swap(all);
    }

    Variant& Find(const Request& request, bool are_apart) {
        bool has_run = request.has_run;
        for (const auto& v : variants_) {
            if (!v->key.Fits(request.key, request.arguments, are_apart)) continue;
            const Recording* recording = v->recording();
            if (recording == nullptr || recording->Fits(request.arguments)) return *v;
            has_run = true;
        }
        if (variants_.size() == static_cast<size_t>(options_.variants)) {
            const auto oldest =
                std::ranges::min_element(variants_, {}, [](const auto& v) { return v->last_use; });
            variants_.erase(oldest);
        }
        auto& v = variants_.emplace_back(
            std::make_unique<Variant>(Key{request.key, request.arguments}, ++last_id_));
        v->arguments = Describe(request.arguments);
        v->has_run = has_run;
        return *v;
    }

    // Warns once of a function that is recorded more often than replayed.
    void WarnOfManyKinds(const Request& request) {
        if (++calls_ != kCallsBeforeWarning || replays_ * 2 >= calls_) return;
        if (request.warn == nullptr) return;
        std::string kinds;
        for (const auto& v : variants_) kinds += StrCat(kinds.empty() ? "" : ", ", v->arguments);
        request.warn(request.user,
                     StrCat("capture: of ", calls_, " calls only ", replays_,
                            " were replays, since the arguments are of ever new kinds; the last "
                            "ones were ",
                            kinds,
                            ". Pad arrays to few shapes, pass numbers as arrays, or keep "
                            "more variants (",
                            options_.variants, ")"));
    }

    // A call that is to be replayed, and runs as it is, too. Returns false as Replay::Run does.
    bool Verify(Variant& variant, const Request& request, std::vector<Array>& outputs,
                const char*& reason) {
        const std::function<std::vector<Array>()> run = [&] { return Detach(request.step()); };
        const std::function<std::function<void()>()> hold = [&]() -> std::function<void()> {
            return request.hold_random ? request.hold_random() : [] {};
        };
        const Replay::VerifiedStep step{
            run, hold,
            [&] { return request.describe ? request.describe(request.user) : std::string{}; },
            request.name};
        std::string difference;
        if (!variant.replay->Verify(request.arguments, step, outputs, difference, reason)) {
            return false;
        }
        ++variant.replays;
        ++replays_;
        if (difference.empty()) return true;
        variant.reason = StrCat("capture: call ", calls_,
                                ", which was verified, is not the same when replayed: ", difference,
                                "; what only Python does is not replayed");
        variant.replay = nullptr;
        variant.has_run = false;
        Show();
        if (options_.strict) throw CaptureError{variant.reason};
        if (request.warn != nullptr) request.warn(request.user, variant.reason);
        return true;
    }

    // Returns why this recording can't be replayed, though later ones may.
    static std::optional<std::string> FindDoubt(const Variant& variant, const Recording& now) {
        if (variant.first != nullptr) {
            // This says where; it is often due to what the doubt is about.
            if (const std::optional<std::string> difference = variant.first->FindDifference(now)) {
                return StrCat("capture: the step does not do the same in each call. ", *difference,
                              "; pass it as an argument, or as an array");
            }
        }
        if (now.doubt.empty()) return std::nullopt;
        return StrCat("capture: ", now.doubt);
    }

    // Runs the step as it is, and records it. What the step itself throws passes through.
    std::vector<Array> Record(Variant& variant, const Request& request, bool& is_discarded) {
        std::vector<Array> outputs;
        std::unique_ptr<Recording> recording;
        std::optional<std::string> problem;
        {
            Recorder recorder{request.arguments};
            outputs = Detach(request.step());
            if (recorder.has_failed()) return outputs;
            is_discarded = !recorder.discarded().empty() && ++discards_ <= kMaxDiscards;
            if (is_discarded) return outputs;
            if (!recorder.discarded().empty()) recorder.Fail(recorder.discarded());
            try {
                if (request.keeps) recorder.AddWhatIsInUse(outputs, request.collect);
                std::string result;
                if (request.describe != nullptr) result = request.describe(request.user);
                recording = recorder.Finish(outputs, request.collect, std::move(result));
                const auto is_held = [&](Extent e) { return recording->IsHeld(e); };
                if (recording->has_shared_grad ||
                    std::ranges::any_of(recording->argument_extents, is_held)) {
                    variant.has_run = false;  // this call can't be told from one with other arrays
                    variant.first = nullptr;
                    variant.reason = "an argument is an array that it uses by itself, too";
                    return outputs;
                }
            } catch (const CaptureError& e) {
                problem = e.what();
            }
        }
        if (!problem) {
            problem = FindDoubt(variant, *recording);
            if (!problem && variant.first != nullptr) {
                const Replay::Options options{options_.fuse, options_.has_own_arguments};
                variant.replay =
                    std::make_unique<Replay>(std::move(recording), *variant.first, options);
                variant.first = nullptr;
                return outputs;
            }
            if (problem && ++variant.differences < kMaxDifferences) problem = std::nullopt;
        }
        if (!problem) {
            variant.first = std::move(recording);
            return outputs;
        }
        variant.reason = *problem;
        if (options_.strict) {
            variant.first = nullptr;
            variant.differences = 0;
            throw CaptureError{*problem};
        }
        variant.is_refused = true;
        if (request.warn != nullptr) request.warn(request.user, *problem);
        return outputs;
    }

    const Step step_;
    const CaptureOptions options_;
    std::atomic<bool> busy_{false};
    std::vector<CaptureVariant> shown_;
    uint64_t uses_{0};
    int64_t calls_{0};
    int64_t replays_{0};
    uint64_t last_id_{0};
    int discards_{0};
    std::vector<std::unique_ptr<Variant>> variants_;
};

Capture::Capture(Step step, const CaptureOptions& options)
    : impl_{std::make_unique<Impl>(std::move(step), options)} {}
Capture::~Capture() = default;

std::vector<Array> Capture::operator()(const std::vector<Array>& arguments) {
    const std::function<std::vector<Array>()> step = [&] { return impl_->step()(arguments); };
    return impl_->Run({"", arguments, step}).outputs;
}

Capture::Result Capture::Run(const Request& request) { return impl_->Run(request); }

std::vector<CaptureVariant> Capture::variants() const { return impl_->variants(); }

bool Capture::Clear() { return impl_->Clear(); }

}  // namespace chainerx
