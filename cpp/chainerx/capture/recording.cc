#include "chainerx/capture/recording.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <mutex>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"

namespace chainerx::internal {
namespace {

// How many recordings hold a buffer.
struct Holders {
    ForkMutex mutex;
    std::unordered_map<const Buffer*, std::atomic<uint32_t>> of;  // with stable addresses
};

constinit Lazy<Holders> g_holders;  // recordings may outlive every static

// Nothing to free: it stands for memory of others.
void DeleteStandIn(Buffer* buffer) { delete buffer; }

std::string Describe(const RecordedCall& call) {
    return call.where.empty() ? call.name() : StrCat(call.name(), " (", call.where, ")");
}

std::string Describe(const ArrayBody& x) {
    return StrCat(x.dtype, " array of shape ", x.shape, " and strides ", x.strides, " on ",
                  x.device->name());
}

// Compares the recordings of a step call by call. A difference is described by the first words of a
// message: what it is, and how it was and is.
class Comparison {
 public:
    Comparison(const Recording& a, const Recording& b) : a_{a}, b_{b} {}

    std::optional<std::string> Find() const {
        const size_t n = std::min(a_.calls.size(), b_.calls.size());
        for (size_t i = 0; i < n; ++i) {
            if (auto found = Compare(a_.calls[i], b_.calls[i])) {
                return StrCat(Describe(b_.calls[i]), ": ", *found);
            }
        }
        if (a_.calls.size() != b_.calls.size()) {
            const bool more = b_.calls.size() > n;
            const RecordedCall& call = more ? b_.calls[n] : a_.calls[n];
            return StrCat(Describe(call), ": is called only ", more ? "now" : "before",
                          ", as call ", n + 1, " of the step");
        }
        return CompareEnds();
    }

 private:
    using Found = std::optional<std::string>;

    static std::string Was(const std::string& a, const std::string& b) {
        return StrCat("was ", a, ", now ", b);
    }

    Found Compare(const RecordedCall& a, const RecordedCall& b) const {
        if (a.name() != b.name()) return StrCat("was ", Describe(a));
        if (a.device != b.device) return Was(a.device->name(), b.device->name());
        if (a.host || b.host) return CompareHostCalls(a, b);
        if (!a.call) return Compare(*a.bytes, *b.bytes);
        if (a.arrays.size() != b.arrays.size()) return "has another number of arrays";
        size_t next = 0;
        int i = 0;
        for (const OperandInfo& info : a.call->kernel().operands()) {
            const void* x = a.call->operands()[i];
            const void* y = b.call->operands()[i++];
            if (auto found = Compare(info, x, y, a, b, next)) {
                return StrCat(info.name, " ", *found);
            }
        }
        return {};
    }

    Found Compare(const OperandInfo& info, const void* x, const void* y, const RecordedCall& a,
                  const RecordedCall& b, size_t& next) const {
        switch (info.kind) {
            case OperandKind::kArray:
                ++next;
                return Compare(a.arrays[next - 1], b.arrays[next - 1]);
            case OperandKind::kArrayOrScalar: {
                const auto& p = *static_cast<const Operand*>(x);
                const auto& q = *static_cast<const Operand*>(y);
                if (p.is_array() != q.is_array()) {
                    return p.is_array() ? "was an array, now a number"
                                        : "was a number, now an array";
                }
                if (p.is_array()) {
                    ++next;
                    return Compare(a.arrays[next - 1], b.arrays[next - 1]);
                }
                if (p.scalar().IsSame(q.scalar())) return {};
                return Was(p.scalar().ToString(), q.scalar().ToString());
            }
            case OperandKind::kArrays: {
                const size_t n = static_cast<const std::span<const ConstArrayRef>*>(x)->size();
                const size_t m = static_cast<const std::span<const ConstArrayRef>*>(y)->size();
                if (n != m) return Was(StrCat(n, " arrays"), StrCat(m, " arrays"));
                for (size_t k = 0; k < n; ++k) {
                    if (auto found = Compare(a.arrays[next], b.arrays[next])) return found;
                    ++next;
                }
                return {};
            }
            default:
                if (info.is_equal(x, y)) return {};
                return Was(info.to_string(x), info.to_string(y));
        }
    }

    Found CompareHostCalls(const RecordedCall& a, const RecordedCall& b) const {
        if (!a.host || !b.host || a.host->n_inputs != b.host->n_inputs ||
            a.arrays.size() != b.arrays.size() || !a.host->code->IsSame(*b.host->code)) {
            return "is given something else than before, or returns it";
        }
        for (size_t i = 0; i < a.arrays.size(); ++i) {
            if (auto found = Compare(a.arrays[i], b.arrays[i]))
                return StrCat("array ", i, " ", *found);
        }
        return {};
    }

    // Nothing can be said about an address; but who made the array is known.
    Found Compare(const RecordedArray& x, const RecordedArray& y) const {
        const ArrayBody& p = *x.body;
        const ArrayBody& q = *y.body;
        if (p.dtype != q.dtype || p.shape != q.shape || p.strides != q.strides ||
            p.device != q.device) {
            return Was(Describe(p), Describe(q));
        }
        return Compare(x.place, y.place);
    }

    Found Compare(const Place& x, const Place& y) const {
        const Memory& p = a_.memories[static_cast<size_t>(x.memory)];
        const Memory& q = b_.memories[static_cast<size_t>(y.memory)];
        if (p.kind == q.kind && x.offset == y.offset) {
            if (p.kind == MemoryKind::kHeld) {
                if (p.held->data() == q.held->data()) return {};
            } else if (x.memory == y.memory) {
                return {};
            }
        }
        const std::string was = Describe(p);
        const std::string is = Describe(q);
        if (was != is) return Was(was, is);
        return StrCat("is ", is, ", but not the one of the call before");
    }

    static std::string Describe(const Memory& memory) {
        switch (memory.kind) {
            case MemoryKind::kTemporary:
                return StrCat("a result of ", memory.made);
            case MemoryKind::kArgument:
                return "an argument";
            default:
                return memory.is_borrowed ? "an array of NumPy" : "an array from before the step";
        }
    }
    static std::string Describe(const RecordedCall& call) { return internal::Describe(call); }
    static std::string Describe(const ArrayBody& x) { return internal::Describe(x); }

    Found Compare(const HostBytes& x, const HostBytes& y) const {
        if (auto found = Compare(x.to, y.to)) return found;
        if (x.key != y.key || x.add != y.add) return "holds another key of random numbers";
        if (x.bytes.size() != y.bytes.size()) {
            return Was(StrCat(x.bytes.size(), " bytes"), StrCat(y.bytes.size(), " bytes"));
        }
        if (x.bytes != y.bytes) return DescribeNumbers(x, y);
        return {};
    }

    template <typename T>
    static std::string TextOf(T value) {
        if constexpr (std::is_arithmetic_v<T>) {
            return Scalar{value}.ToString();
        } else if constexpr (requires { value.imag(); }) {
            return Scalar{std::complex<double>{value}}.ToString();
        } else {
            return Scalar{static_cast<float>(value)}.ToString();
        }
    }

    // The first number that differs, if it is known of which dtype they are.
    std::string DescribeNumbers(const HostBytes& x, const HostBytes& y) const {
        const Memory& memory = b_.memories[static_cast<size_t>(y.to.memory)];
        if (memory.views.empty()) return "holds other numbers";
        return VisitDtype(memory.views[0]->dtype, [&]<typename T>() {
            size_t i = 0;
            T was{};
            T is{};
            do {
                if ((i + 1) * sizeof(T) > x.bytes.size()) return std::string{"holds other numbers"};
                std::memcpy(&was, &x.bytes[i * sizeof(T)], sizeof(T));
                std::memcpy(&is, &y.bytes[i * sizeof(T)], sizeof(T));
                ++i;
            } while (std::memcmp(&was, &is, sizeof(T)) == 0);
            return StrCat("element ", i - 1, " ", Was(TextOf(was), TextOf(is)));
        });
    }

    Found CompareEnds() const {
        if (a_.result != b_.result) {
            return StrCat("the result: ", Was(a_.result, b_.result));
        }
        if (a_.outputs.size() != b_.outputs.size()) {
            return StrCat("the step: results and gradients were ", a_.outputs.size(), ", now ",
                          b_.outputs.size());
        }
        for (size_t i = 0; i < a_.outputs.size(); ++i) {
            const RecordedOutput& x = a_.outputs[i];
            const RecordedOutput& y = b_.outputs[i];
            if (x.dtype != y.dtype || x.shape != y.shape || x.strides != y.strides) {
                return StrCat("result ", i, ": was ", x.dtype, " of shape ", x.shape, ", now ",
                              y.dtype, " of shape ", y.shape);
            }
            if (auto found = Compare(x.place, y.place)) return StrCat("result ", i, ": ", *found);
        }
        if (a_.keys.size() != b_.keys.size()) {
            return StrCat("random numbers: were drawn ", a_.keys.size(), " times, now ",
                          b_.keys.size(), " times");
        }
        bool same = a_.grads.size() == b_.grads.size();
        for (size_t i = 0; same && i < a_.grads.size(); ++i) {
            const RecordedGrad& x = a_.grads[i];
            const RecordedGrad& y = b_.grads[i];
            same = x.slot == y.slot && x.argument == y.argument && x.id == y.id &&
                   x.before == y.before && x.is_set == y.is_set && x.output == y.output;
        }
        if (!same) return "backward: the gradients of other arrays were set";
        same = a_.parts.size() == b_.parts.size();
        for (size_t i = 0; same && i < a_.parts.size(); ++i) {
            same = a_.parts[i]->IsSame(*b_.parts[i]) && a_.part_outputs[i] == b_.part_outputs[i];
        }
        if (!same) return DescribeParts();
        return {};
    }

    // In words, if it is what the step leaves in places of the program.
    std::string DescribeParts() const {
        const auto names = [](const Recording& recording) {
            std::string text;
            for (const auto& part : recording.parts) {
                const auto* named = dynamic_cast<const NamedPart*>(part.get());
                if (named != nullptr) text += StrCat(text.empty() ? "" : ", ", named->name());
            }
            return text.empty() ? "nothing" : text;
        };
        const std::string a = names(a_);
        const std::string b = names(b_);
        if (a != b) return StrCat("the step: it left arrays in ", a, ", now in ", b);
        return "the step: what the host does besides the kernels was something else";
    }

    const Recording& a_;
    const Recording& b_;
};

}  // namespace

Memory::Memory(MemoryKind kind, Device& device, char* data) : kind{kind}, stand_in{nullptr} {
    const Unobserved by_ourselves;  // but counted, as its end is
    stand_in = new Buffer{&device, data, 0, &DeleteStandIn};
}

Memory::Memory(Memory&& o) noexcept
    : kind{o.kind},
      stand_in{std::exchange(o.stand_in, nullptr)},
      nbytes{o.nbytes},
      first_use{o.first_use},
      made{std::move(o.made)},
      views{std::move(o.views)},
      held{std::exchange(o.held, nullptr)},
      holders{o.holders},
      version{o.version},
      writes{o.writes},
      begins_written{o.begins_written},
      is_borrowed{o.is_borrowed} {}

Memory::~Memory() {
    if (stand_in != nullptr) stand_in->Unref();
    if (held == nullptr) return;
    {
        Holders& all = g_holders.Get();
        const std::lock_guard lock{all.mutex};
        if (holders->fetch_sub(1) == 1) all.of.erase(held);
    }
    held->Unref();
}

void Memory::MoveTo(char* data) {
    auto* const old = static_cast<char*>(stand_in->data());
    if (old == data) return;
    stand_in->MoveTo(data);
    for (ArrayBody* body : views) body->data = data + (body->data - old);
}

void Memory::Hold(Buffer& buffer) {
    Holders& all = g_holders.Get();
    const std::lock_guard lock{all.mutex};
    holders = &all.of[&buffer];
    holders->fetch_add(1);
    buffer.Ref();
    held = &buffer;
    version = buffer.version();
}

Recording::~Recording() {
    for (const RecordedGrad& grad : grads) {
        if (grad.slot != nullptr) grad.slot->Unref();
    }
    for (Slot* slot : variables) slot->Unref();
}

bool Recording::IsHeld(Extent argument) const {
    return std::ranges::any_of(memories, [&](const Memory& memory) {
        if (memory.held == nullptr) return false;
        const auto* const begin = static_cast<const char*>(memory.held->data());
        return argument.begin < begin + memory.held->nbytes() && begin < argument.end;
    });
}

bool Recording::Fits(std::span<const Array> arguments) const {
    using Before = RecordedGrad::Before;
    for (const RecordedGrad& grad : grads) {
        if (grad.before == Before::kAny) continue;
        Slot* const slot = grad.SlotIn(arguments);
        if (slot == nullptr) return false;
        const Array now = slot->FindGrad(grad.id);
        if (now.is_null() != (grad.before == Before::kAbsent)) return false;
        if (!now.is_null() && now.strides() != grad.strides) return false;
    }
    return true;
}

std::optional<std::string> Recording::FindDifference(const Recording& o) const {
    return Comparison{*this, o}.Find();
}

}  // namespace chainerx::internal
