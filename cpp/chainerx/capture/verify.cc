// A call of a recorded step that runs as it is, and again by its recording on copies.
#include <algorithm>
#include <cstring>
#include <utility>

#include "chainerx/capture/replay.h"
#include "chainerx/core/error.h"

namespace chainerx::internal {
namespace {

using Bytes = std::vector<std::byte>;

Bytes Read(Device& device, const void* data, int64_t nbytes) {
    Bytes bytes(static_cast<size_t>(nbytes));
    if (nbytes != 0) device.CopyToHost(bytes.data(), data, nbytes);
    return bytes;
}

void Write(Device& device, void* data, const Bytes& bytes) {
    if (bytes.empty()) return;
    device.CopyFromHost(data, bytes.data(), static_cast<int64_t>(bytes.size()));
}

// The elements of an array in order.
Bytes ElementsOf(const Array& x) {
    const Extent e = RangeOf(x);
    const Bytes all = Read(x.device(), e.begin, e.end - e.begin);
    const auto size = static_cast<size_t>(x.GetItemSize());
    Bytes elements(static_cast<size_t>(x.GetTotalSize()) * size);
    std::vector<int64_t> index(static_cast<size_t>(x.ndim()), 0);
    const int64_t start = x.raw_data() - e.begin;
    for (size_t at = 0; at < elements.size(); at += size) {
        int64_t offset = start;
        for (int8_t i = 0; i < x.ndim(); ++i) {
            offset += index[static_cast<size_t>(i)] * x.strides()[i];
        }
        std::memcpy(&elements[at], &all[static_cast<size_t>(offset)], size);
        for (int8_t i = x.ndim(); i-- != 0;) {
            if (++index[static_cast<size_t>(i)] < x.shape()[i]) break;
            index[static_cast<size_t>(i)] = 0;
        }
    }
    return elements;
}

// What an array was at some time.
struct Seen {
    explicit Seen(const Array& x) : dtype{x.dtype()}, shape{x.shape()}, elements{ElementsOf(x)} {}

    Dtype dtype;
    Shape shape;
    Bytes elements;
};

std::string Differ(const Bytes& a, const Bytes& b, size_t size) {
    if (a.size() != b.size()) return "differs in size";
    size_t n = 0;
    for (size_t i = 0; i < a.size(); i += size) {
        n += std::memcmp(&a[i], &b[i], std::min(size, a.size() - i)) != 0;
    }
    return n == 0 ? std::string{} : StrCat("differs in ", n, " of ", a.size() / size, " elements");
}

std::string Differ(const Seen& a, const Seen& b) {
    if (a.dtype != b.dtype || a.shape != b.shape) {
        return StrCat("is ", a.dtype, " of shape ", a.shape, ", replayed ", b.dtype, " of shape ",
                      b.shape);
    }
    return Differ(a.elements, b.elements, static_cast<size_t>(GetItemSize(a.dtype)));
}

// Memory from before the step to which it writes.
struct Held {
    Memory* memory;
    const RecordedCall* by;  // the last call that does
    Bytes before;
    Bytes after;

    void Set(const Bytes& bytes) const {
        Write(*memory->stand_in->device(), memory->held->data(), bytes);
    }
    Bytes Get() const {
        return Read(*memory->stand_in->device(), memory->held->data(), memory->held->nbytes());
    }
};

std::vector<Held> FindWritten(Recording& recording) {
    std::vector<const RecordedCall*> by(recording.memories.size(), nullptr);
    for (const RecordedCall& call : recording.calls) {
        for (const RecordedArray& x : call.arrays) {
            if (x.role != OperandRole::kIn) by[static_cast<size_t>(x.place.memory)] = &call;
        }
        if (call.bytes) by[static_cast<size_t>(call.bytes->to.memory)] = &call;
    }
    std::vector<Held> found;
    for (size_t i = 0; i < by.size(); ++i) {
        Memory& memory = recording.memories[i];
        if (by[i] != nullptr && memory.held != nullptr) found.push_back({&memory, by[i], {}, {}});
    }
    return found;
}

// Keeps the first difference that is found.
class Difference {
 public:
    explicit Difference(std::string& text) : text_{text} {}

    void Note(const std::string& what, const std::string& how) {
        if (text_.empty() && !how.empty()) text_ = StrCat(what, " ", how);
    }

 private:
    std::string& text_;
};

// The memory that a step writes to: both runs begin with what it was, and it ends as it is after
// the step as it is.
class HeldMemory {
 public:
    explicit HeldMemory(Recording& recording) : all_{FindWritten(recording)} {
        for (Held& h : all_) h.before = h.Get();
    }
    ~HeldMemory() {
        if (!has_run_) return;
        for (const Held& h : all_) h.Set(h.after);
    }
    HeldMemory(const HeldMemory&) = delete;
    HeldMemory& operator=(const HeldMemory&) = delete;

    // Between the runs.
    void BeginAgain() {
        for (Held& h : all_) h.after = h.Get();
        has_run_ = true;
        for (const Held& h : all_) h.Set(h.before);
    }
    // After both.
    void Compare(Difference& difference) const {
        for (const Held& h : all_) {
            const RecordedCall& by = *h.by;
            // Numbers of an optimizer: a step as it is may have them elsewhere. Parameters show
            // them.
            if (by.name() == "UpdateNumbers") continue;
            const std::string where = by.where.empty() ? "" : StrCat(" (", by.where, ")");
            difference.Note(StrCat("memory that ", by.name(), where, " writes to"),
                            Differ(h.after, h.Get(), 4));
        }
    }

 private:
    std::vector<Held> all_;
    bool has_run_{false};
};

// Copies of arrays; those in the same memory share one.
class Copies {
 public:
    void Add(const Array& x) {
        if (x.is_null()) {
            arrays.emplace_back();
            return;
        }
        const Extent e = RangeOf(x);
        auto it = std::ranges::find_if(blocks_, [&](const Block& b) {
            return b.begin == e.begin && b.end == e.end && &b.copy.device() == &x.device();
        });
        if (it == blocks_.end()) {
            const int64_t n = e.end - e.begin;
            Buffer* const buffer = x.device().Allocate(n);
            Array copy = MakeArray(Shape{n}, Strides{1}, Dtype::kUInt8, x.device(), buffer,
                                   static_cast<char*>(buffer->data()));
            Write(x.device(), buffer->data(), Read(x.device(), e.begin, n));
            it = blocks_.insert(it, {e.begin, e.end, std::move(copy)});
        }
        Buffer* const buffer = it->copy.buffer();
        buffer->Ref();
        arrays.push_back(MakeArray(x.shape(), x.strides(), x.dtype(), x.device(), buffer,
                                   it->copy.raw_data() + (x.raw_data() - e.begin)));
    }

    std::vector<Array> arrays;

 private:
    struct Block {
        char* begin;
        char* end;
        Array copy;
    };
    std::vector<Block> blocks_;
};

std::string NameOf(const Replay::VerifiedStep& step, Slot& slot) {
    const std::string name = step.name != nullptr ? step.name(slot) : std::string{};
    if (!name.empty()) return name;
    return StrCat("an array of ", slot.dtype, " of shape ", slot.shape);
}

// What the step as it is has left; the outputs of the replay are compared with it.
class StepResults {
 public:
    StepResults(const Recording& recording, const Replay::VerifiedStep& step,
                std::span<const Array> arguments, std::span<const Array> outputs)
        : recording_{recording}, step_{step}, results_(outputs.begin(), outputs.end()) {
        for (size_t i = 0; i < recording.grads.size(); ++i) {
            const RecordedGrad& grad = recording.grads[i];
            Slot* const slot = grad.SlotIn(arguments);
            if (slot != nullptr && grad.is_set) grads_.emplace_back(i, slot->FindGrad(grad.id));
        }
    }

    // `replayed` makes an output of the replay by its index.
    template <typename MakeOutput>
    void Compare(const MakeOutput& replayed, Difference& found) const {
        const std::string now = step_.describe();
        if (now != recording_.result) {
            found.Note("the result", StrCat("is ", now, ", replayed ", recording_.result));
        }
        for (size_t i = 0; i < std::min(results_.size(), recording_.n_results); ++i) {
            found.Note(StrCat("result ", i), Differ(results_[i], Seen{replayed(i)}));
        }
        CompareParts(replayed, found);
        CompareGrads(replayed, found);
    }

 private:
    template <typename MakeOutput>
    void CompareParts(const MakeOutput& replayed, Difference& found) const {
        size_t next = recording_.n_results;
        for (size_t i = 0; i < recording_.parts.size(); ++i) {
            const size_t first = std::exchange(next, next + recording_.part_outputs[i]);
            const auto* part = dynamic_cast<const NamedPart*>(recording_.parts[i].get());
            if (part == nullptr) continue;
            const std::vector<Array> now = part->Now();
            const size_t n = recording_.part_outputs[i];
            if (now.size() != n) found.Note(part->name(), "holds something else when replayed");
            for (size_t k = 0; k < std::min(n, now.size()); ++k) {
                found.Note(part->name(), Differ(Seen{now[k]}, Seen{replayed(first + k)}));
            }
        }
    }

    template <typename MakeOutput>
    void CompareGrads(const MakeOutput& replayed, Difference& found) const {
        for (const auto& [i, now] : grads_) {
            const RecordedGrad& grad = recording_.grads[i];
            const std::string what = grad.argument >= 0
                                         ? StrCat("the gradient of argument ", grad.argument)
                                         : StrCat("the gradient of ", NameOf(step_, *grad.slot));
            if (now.is_null() != (grad.output < 0)) {
                found.Note(what, now.is_null() ? "is cleared only as it is"
                                               : "is cleared only when replayed");
            } else if (!now.is_null()) {
                const auto k = static_cast<size_t>(grad.output);
                found.Note(what, Differ(Seen{now}, Seen{replayed(k)}));
            }
        }
    }

    const Recording& recording_;
    const Replay::VerifiedStep& step_;
    std::vector<Seen> results_;
    std::vector<std::pair<size_t, Array>> grads_;  // by their index
};

}  // namespace

bool Replay::Verify(std::span<const Array> arguments, const VerifiedStep& step,
                    std::vector<Array>& outputs, std::string& difference, const char*& reason) {
    Recording& recording = *recording_;
    const PresentScope present{present_};
    reason = Begin(arguments);
    if (reason != nullptr) return false;
    {
        const std::function<void()> restore = step.hold_random();
        for (size_t i = 0; i < keys_.size(); ++i) keys_[i] = recording.keys[i]();
        restore();
    }
    HeldMemory held{recording};
    Copies copies;
    for (const Array& x : arguments) copies.Add(x);
    Copies grads;
    for (const Array& x : present_) grads.Add(x);

    outputs = step.run();
    const StepResults results{recording, step, arguments, outputs};
    held.BeginAgain();

    present_.swap(grads.arrays);
    MovePlaces(copies.arrays);
    struct Release {
        std::vector<Fresh>& fresh;
        ~Release() {
            for (Fresh& f : fresh) {
                if (f.buffer != nullptr) std::exchange(f.buffer, nullptr)->Unref();
                f.is_allocated = false;
            }
        }
    } release{fresh_};
    for (Fresh& f : fresh_) {
        f.buffer = f.device->Allocate(f.nbytes);
        recording.memories[static_cast<size_t>(f.memory)].MoveTo(
            static_cast<char*>(f.buffer->data()));
    }
    Launch();

    Difference found{difference};
    results.Compare([&](size_t i) { return MakeOutput(i, copies.arrays); }, found);
    held.Compare(found);
    for (size_t i = 0; i < arguments.size(); ++i) {
        found.Note(StrCat("argument ", i), Differ(Seen{arguments[i]}, Seen{copies.arrays[i]}));
    }
    for (size_t i = 0; i < present_.size(); ++i) {
        if (present_[i].is_null()) continue;
        found.Note("a gradient that is added to", Differ(Seen{grads.arrays[i]}, Seen{present_[i]}));
    }
    return true;
}

}  // namespace chainerx::internal
