#include "chainerx/capture/chain.h"

#include <algorithm>
#include <utility>

#include "chainerx/core/backend.h"
#include "chainerx/kernels/elementwise/complex.h"
#include "chainerx/kernels/fuse/fuse.h"
#include "chainerx/kernels/reduce/reduction.h"
#include "chainerx/kernels/strided/memory.h"

namespace chainerx::internal {
namespace {

// Shorter rows are reduced column by column if there are many.
constexpr int64_t kMinReduced = 32;

template <typename... K>
bool IsOneOf(const KernelInfo& kernel) {
    return ((kernel.id == InfoOf<K>().id) || ...);
}

// A result that may be an input itself is computed element by element.
bool IsElementwise(const KernelInfo& kernel) {
    using namespace kernels;
    return kernel.operands().back().role == OperandRole::kOutSame ||
           IsOneOf<AsType, Fill, ComplexAbsolute, ComplexConjugate>(kernel);
}

bool IsReduction(const KernelInfo& kernel) {
    using namespace kernels;
    return IsOneOf<Sum, NanSum, Prod, WideSum, SumSquares, Max, Min, NanMax, NanMin, Mean, Var, Std,
                   LogSumExp, All, Any, CountNonzero>(kernel);
}

// Single numbers are no rows: their frame would be one row.
bool IsPrefix(const Shape& a, const Shape& b) {
    return a.ndim() != 0 && a.ndim() < b.ndim() && std::equal(a.begin(), a.end(), b.begin());
}

// The strides of an array that is broadcast to a shape, without the axes of length 1.
Strides StridesAlong(const Shape& shape, const ArrayBody& x) {
    Strides strides;
    for (int8_t i = 0; i < shape.ndim(); ++i) {
        if (shape[i] == 1) continue;
        const int j = i - (shape.ndim() - x.shape.ndim());
        strides.push_back(j < 0 || x.shape[j] == 1 ? 0 : x.strides[j]);
    }
    return strides;
}

Shape WithoutOnes(const Shape& shape) {
    Shape frame;
    for (const int64_t length : shape) {
        if (length != 1) frame.push_back(length);
    }
    return frame;
}

std::optional<ChainCall> AsReduction(const RecordedCall& call, ChainCall as) {
    Access& x = as.accesses[0];
    Access& out = as.accesses[1];
    const auto& axes = *static_cast<const Axes*>(call.call->operands()[1]);
    const Shape& shape = x.body->shape;
    int64_t n_reduced = 1;
    bool is_last = true;  // no axis follows that is kept
    for (int8_t i = 0; i < shape.ndim(); ++i) {
        if (shape[i] == 1) continue;
        as.frame.push_back(shape[i]);
        if (std::ranges::find(axes, i) != axes.end()) {
            n_reduced *= shape[i];
            continue;
        }
        is_last = is_last && n_reduced == 1;
        ++as.row_ndim;
    }
    if (!is_last || as.row_ndim == 0 || !x.body->contiguous || n_reduced < kMinReduced ||
        n_reduced > FusionLimitsOf(*call.device).max_row) {
        return std::nullopt;
    }
    x.strides = StridesAlong(shape, *x.body);
    out.strides = StridesAlong(out.body->shape, *out.body);
    return as;
}

// Of memory that was there before, addresses count, since buffers may overlap; and of gradients
// that the step finds, nobody knows where they will be.
enum class Where : uint8_t { kNamed, kAddress, kAnywhere };

Where WhereIs(const Recording& recording, int memory) {
    switch (recording.memories[static_cast<size_t>(memory)].kind) {
        case MemoryKind::kHeld:
            return Where::kAddress;
        case MemoryKind::kArgument:
            return std::ranges::find(recording.argument_memories, memory) !=
                           recording.argument_memories.end()
                       ? Where::kNamed
                       : Where::kAnywhere;
        default:
            return Where::kNamed;
    }
}

bool ShareBytes(const Recording& recording, const Access& a, const Access& b) {
    const bool intersect = a.extent.begin < b.extent.end && b.extent.begin < a.extent.end;
    if (a.place.memory == b.place.memory) return intersect;
    const Where at = WhereIs(recording, a.place.memory);
    const Where bt = WhereIs(recording, b.place.memory);
    if (at == Where::kAddress && bt == Where::kAddress) return intersect;
    const auto is_temporary = [&](const Access& x) {
        return recording.memories[static_cast<size_t>(x.place.memory)].kind ==
               MemoryKind::kTemporary;
    };
    return (at == Where::kAnywhere || bt == Where::kAnywhere) && !is_temporary(a) &&
           !is_temporary(b);
}

bool Conflict(const Recording& recording, const Access& a, const Access& b) {
    return (a.writes() || b.writes()) && ShareBytes(recording, a, b);
}

bool CanFuse(const Device& device, const KernelInfo& kernel) {
    const KernelFn* const fns = device.backend()->kernels();
    if (fns[InfoOf<kernels::Fused>().id] == nullptr || fns[kernel.id] == nullptr) return false;
    const auto* fusion = dynamic_cast<const FusionDevice*>(&device);
    return fusion == nullptr || fusion->CanFuse(kernel);
}

// Operands that are no arrays.
size_t CountScalars(const KeptCall& call) {
    const void* const* p = call.operands();
    const auto is_no_array = [&](const OperandInfo& info) {
        const void* const operand = *p++;
        return info.kind == OperandKind::kValue ||
               (info.kind == OperandKind::kArrayOrScalar &&
                !static_cast<const Operand*>(operand)->is_array());
    };
    return static_cast<size_t>(std::ranges::count_if(call.kernel().operands(), is_no_array));
}

}  // namespace

const FusionLimits& FusionLimitsOf(const Device& device) {
    static constexpr FusionLimits kOfCpus{};
    const auto* fusion = dynamic_cast<const FusionDevice*>(&device);
    return fusion != nullptr ? fusion->fusion_limits() : kOfCpus;
}

bool IsSameAlong(const Access& a, const Access& b) {
    if (a.place.memory != b.place.memory || a.body->data != b.body->data ||
        a.body->dtype != b.body->dtype) {
        return false;
    }
    for (int8_t i = 0; i < std::max(a.strides.ndim(), b.strides.ndim()); ++i) {
        if ((i < a.strides.ndim() ? a.strides[i] : 0) != (i < b.strides.ndim() ? b.strides[i] : 0))
            return false;
    }
    return true;
}

bool IsPure(const KernelInfo& kernel) { return IsElementwise(kernel) || IsReduction(kernel); }

std::vector<Access> AccessesOf(const Recording& recording, const RecordedCall& call) {
    std::vector<Access> all;
    for (const RecordedArray& x : call.arrays) {
        const ArrayBody& b = *x.body;
        all.push_back(
            {x.place, ExtentOf(b.data, b.shape, b.strides, GetItemSize(b.dtype)), x.role, x.body});
    }
    if (call.bytes) {
        const Memory& memory = recording.memories[static_cast<size_t>(call.bytes->to.memory)];
        char* const to = static_cast<char*>(memory.stand_in->data()) + call.bytes->to.offset;
        all.push_back(
            {call.bytes->to, {to, to + call.bytes->bytes.size()}, OperandRole::kOut, nullptr});
    }
    return all;
}

std::optional<ChainCall> AsChainCall(const Recording& recording, const RecordedCall& call) {
    if (!call.call || !IsPure(call.call->kernel())) return std::nullopt;
    if (!CanFuse(*call.device, call.call->kernel())) return std::nullopt;
    ChainCall as{{}, 0, AccessesOf(recording, call), CountScalars(*call.call)};
    const auto is_empty = [](const Access& x) { return x.body->size == 0; };
    if (std::ranges::any_of(as.accesses, is_empty)) return std::nullopt;
    if (IsReduction(call.call->kernel())) return AsReduction(call, std::move(as));
    const Shape& shape = as.accesses.back().body->shape;
    as.frame = WithoutOnes(shape);
    as.row_ndim = as.frame.ndim();
    if (as.row_ndim == 0 && !FusionLimitsOf(*call.device).has_scalars) return std::nullopt;
    for (Access& x : as.accesses) x.strides = StridesAlong(shape, *x.body);
    return as;
}

bool WritesTo(const std::vector<bool>& memories, std::span<const Access> accesses) {
    return std::ranges::any_of(accesses, [&](const Access& x) {
        return x.writes() && memories[static_cast<size_t>(x.place.memory)];
    });
}

std::vector<size_t> Chain::FindWritersTo(const std::vector<bool>& memories) const {
    std::vector<size_t> found;
    for (const Member& member : members_) {
        if (WritesTo(memories, member.call.accesses)) found.push_back(member.index);
    }
    return found;
}

std::vector<size_t> Chain::members() const {
    std::vector<size_t> indices;
    for (const Member& member : members_) indices.push_back(member.index);
    return indices;
}

bool Chain::ConflictsWith(std::span<const Access> accesses) const {
    return std::ranges::any_of(members_, [&](const Member& member) {
        return std::ranges::any_of(member.call.accesses, [&](const Access& a) {
            return std::ranges::any_of(
                accesses, [&](const Access& b) { return Conflict(*recording_, a, b); });
        });
    });
}

// Makes the frame that of both, if there is one.
bool Chain::Adapt(const ChainCall& call, bool depends, bool& by_row) {
    Shape frame = frame_;
    int8_t row_ndim = row_ndim_;
    by_row = false;
    if (members_.empty() || call.frame == frame_) {
        frame = call.frame;
        if (call.reduces()) {
            if (row_ndim >= 0 && row_ndim != call.row_ndim) return false;
            row_ndim = call.row_ndim;
        }
    } else if (!depends) {
        // Rows that nothing else needs would only make blocks less even.
        by_row = IsPrefix(call.frame, frame_) && row_ndim == call.frame.ndim() && !call.reduces();
        if (!by_row) return false;
    } else if (IsPrefix(call.frame, frame_) && !call.reduces()) {
        if (row_ndim >= 0 && row_ndim != call.frame.ndim()) return false;
        row_ndim = call.frame.ndim();
        by_row = true;
    } else if (IsPrefix(frame_, call.frame) && row_ndim < 0) {
        // All calls so far iterate over the rows of this one.
        row_ndim = frame_.ndim();
        frame = call.frame;
        if (call.reduces() && call.row_ndim != row_ndim) return false;
    } else {
        return false;
    }
    int64_t row = 1;
    for (int8_t i = std::max<int8_t>(row_ndim, 0); i < frame.ndim(); ++i) row *= frame[i];
    if (row_ndim >= 0 && row > FusionLimitsOf(*device_).max_row) return false;
    if (frame.ndim() != frame_.ndim()) {
        for (Member& member : members_) member.by_row = true;
    }
    frame_ = frame;
    row_ndim_ = row_ndim;
    return true;
}

bool Chain::CanHold(const Shape& frame, Counts counts) const {
    const FusionLimits& limits = FusionLimitsOf(*device_);
    if (counts.calls > limits.max_calls || counts.reductions > limits.max_reductions) return false;
    const auto* fusion = dynamic_cast<const FusionDevice*>(device_);
    return fusion == nullptr || fusion->CanHold(counts.arrays, counts.scalars, frame.ndim());
}

size_t Chain::CountNewArrays(const ChainCall& call) const {
    const auto is_new = [&](const Access& access) {
        return std::ranges::none_of(members_, [&](const Member& member) {
            return std::ranges::any_of(member.call.accesses,
                                       [&](const Access& a) { return IsSameAlong(a, access); });
        });
    };
    return static_cast<size_t>(std::ranges::count_if(call.accesses, is_new));
}

bool Chain::Add(Device& device, const ChainCall& call, size_t index, bool depends) {
    if (&device != device_) return false;
    for (const Member& member : members_) {
        for (const Access& a : member.call.accesses) {
            for (const Access& b : call.accesses) {
                if (Conflict(*recording_, a, b) && !IsSameAlong(a, b)) return false;
            }
        }
    }
    const Counts counts = counts_ + Counts{1, call.reduces(), CountNewArrays(call), call.n_scalars};
    const Shape& larger = call.frame.ndim() > frame_.ndim() ? call.frame : frame_;
    if (!members_.empty() && !CanHold(larger, counts)) return false;
    bool by_row;
    if (!Adapt(call, depends, by_row)) return false;
    counts_ = counts;
    members_.push_back({index, call, by_row});
    return true;
}

bool Chain::Merge(const Chain& o) {
    if (o.device_ != device_ || o.frame_ != frame_ || o.row_ndim_ != row_ndim_ ||
        !CanHold(frame_, counts_ + o.counts_)) {
        return false;
    }
    counts_ = counts_ + o.counts_;
    members_.insert(members_.end(), o.members_.begin(), o.members_.end());
    first_ = std::min(first_, o.first_);
    return true;
}

}  // namespace chainerx::internal
