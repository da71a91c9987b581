#include "chainerx/kernels/call_signature.h"

#include <algorithm>
#include <bit>

#include "chainerx/core/error.h"

namespace chainerx::internal {
namespace {

constexpr int64_t kListed = 4;  // arrays of a list that are recorded

// The tag of an operand, in the lowest bits; above it the dtype and the number of dimensions.
enum Tag : int64_t { kNone, kScalar, kArray, kList, kEnd, kCut };

int64_t TagOf(const Array& x) {
    return kArray | static_cast<int64_t>(x.dtype()) << 8 | static_cast<int64_t>(x.ndim()) << 16;
}

}  // namespace

CallSignature::CallSignature(const KernelCall& call) : CallSignature{call, true} {}

CallSignature::CallSignature(const KernelCall& call, bool operands) {
    // By id, since a plug-in that calls kernels has its own descriptors.
    Push(call.kernel().id);
    Push(reinterpret_cast<intptr_t>(&call.device()));
    const bool complete = operands && PushAll(call);
    if (!complete) n_ = 2;
    words_[n_++] = complete ? kEnd : kCut;
}

bool CallSignature::Push(const Array& x) {
    if (x.is_null()) return Push(kNone);
    if (!Push(TagOf(x))) return false;
    for (const int64_t length : x.shape()) {
        if (!Push(length)) return false;
    }
    return true;
}

bool CallSignature::PushAll(const KernelCall& call) {
    int i = 0;
    for (const OperandInfo& info : call.kernel().operands()) {
        const void* const p = call.operand(i++);
        bool ok = true;
        switch (info.kind) {
            case OperandKind::kArray:
                ok = Push(*static_cast<const Array*>(p));
                break;
            case OperandKind::kArrayOrScalar:
                if (const auto* x = static_cast<const Operand*>(p); x->is_array()) {
                    ok = Push(x->array());
                } else {
                    ok = Push(kScalar);
                }
                break;
            case OperandKind::kArrays: {
                const auto& xs = *static_cast<const std::span<const ConstArrayRef>*>(p);
                int64_t bytes = 0;
                for (const ConstArrayRef& x : xs) {
                    if (!x.get().is_null()) bytes += x.get().GetNBytes();
                }
                ok = Push(kList | static_cast<int64_t>(xs.size()) << 8) && Push(bytes);
                int64_t left = kListed;
                for (const ConstArrayRef& x : xs) {
                    if (left-- == 0) break;
                    ok = ok && Push(x.get());
                }
                break;
            }
            case OperandKind::kValue:
                break;
        }
        if (!ok) return false;
    }
    return true;
}

uint64_t CallSignature::Hash() const {
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < n_; ++i) {
        h = std::rotl((h ^ static_cast<uint64_t>(words_[i])) * 0xff51afd7ed558ccdu, 29);
    }
    return h ^ h >> 32;
}

std::optional<std::vector<OperandSummary>> Summarize(const KernelInfo& kernel,
                                                     std::span<const int64_t> words) {
    if (words.back() != kEnd) return std::nullopt;
    const int64_t* w = words.data() + 2;
    std::vector<OperandSummary> operands;
    const auto read = [&](std::string name, OperandRole role) {
        OperandSummary o{std::move(name), role, std::nullopt, std::nullopt};
        const int64_t tag = *w++;
        if ((tag & 0xff) == kArray) {
            o.dtype = static_cast<Dtype>(tag >> 8 & 0xff);
            Shape shape;
            for (int64_t i = 0; i < tag >> 16; ++i) shape.push_back(*w++);
            o.shape = shape;
        }
        operands.push_back(std::move(o));
    };
    for (const OperandInfo& info : kernel.operands()) {
        if (info.kind == OperandKind::kValue) continue;
        if (info.kind != OperandKind::kArrays) {
            read(info.name, info.role);
            continue;
        }
        const int64_t count = *w++ >> 8;
        ++w;  // the bytes
        const int64_t listed = std::min(count, kListed);
        for (int64_t i = 0; i < listed; ++i) read(StrCat(info.name, "[", i, "]"), info.role);
        if (count > listed) {
            operands.push_back({StrCat(info.name, "[", listed, ":", count, "]"), info.role,
                                std::nullopt, std::nullopt});
        }
    }
    return operands;
}

}  // namespace chainerx::internal
