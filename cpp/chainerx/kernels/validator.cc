#include "chainerx/kernels/validator.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/core/overlap.h"

namespace chainerx {
namespace {

struct Given {
    const OperandInfo* info;
    const Array* array;
};

bool IsWritten(const OperandInfo& info) { return info.role != OperandRole::kIn; }

template <typename... Args>
[[noreturn]] CX_COLD void Throw(const KernelCall& call, const OperandInfo& info,
                                const Args&... what) {
    throw ChainerxError{"kernel ", call.kernel().name, ": operand ", info.name, " ", what...};
}

// Returns the sorted addresses of all elements; nothing for arrays too large to compare element by
// element.
std::vector<const char*> Places(const Array& x) {
    constexpr int64_t kMax = 1 << 14;
    std::vector<const char*> places;
    if (x.GetTotalSize() > kMax) return places;
    places.push_back(x.raw_data());
    for (int8_t i = 0; i < x.ndim(); ++i) {
        std::vector<const char*> more;
        for (int64_t k = 0; k < x.shape()[i]; ++k) {
            for (const char* p : places) more.push_back(p + k * x.strides()[i]);
        }
        places = std::move(more);
    }
    std::ranges::sort(places);
    return places;
}

// Returns whether two arrays share a byte; false also if that can't be decided: large arrays with
// gaps.
bool ShareMemory(const Array& x, const Array& y) {
    if (x.GetTotalSize() == 0 || y.GetTotalSize() == 0) return false;
    if (!internal::MayShareMemory(x, y)) return false;
    if (x.IsContiguous() && y.IsContiguous()) return true;
    const std::vector<const char*> a = Places(x);
    const std::vector<const char*> b = Places(y);
    size_t j = 0;
    for (size_t i = 0; i < a.size() && j < b.size();) {
        if (a[i] + x.GetItemSize() <= b[j]) {
            ++i;
        } else if (b[j] + y.GetItemSize() <= a[i]) {
            ++j;
        } else {
            return true;
        }
    }
    return false;
}

void CheckArray(const KernelCall& call, const OperandInfo& info, const Array& x) {
    if (x.is_null()) Throw(call, info, "is a null array");
    if (&x.device() != &call.device()) {
        Throw(call, info, "is on ", x.device().name(), ", the kernel is called on ",
              call.device().name());
    }
    int64_t size = 1;
    for (int64_t d : x.shape()) size *= d;
    if (size != x.GetTotalSize() || size < 0) {
        Throw(call, info, "says it has ", x.GetTotalSize(), " elements, its shape is ", x.shape());
    }
    if (size == 0) return;
    const auto* const data = static_cast<const char*>(x.buffer()->data());
    const internal::Extent range =
        internal::ExtentOf(x.raw_data(), x.shape(), x.strides(), x.GetItemSize());
    if (range.begin < data || range.end > data + x.buffer()->nbytes()) {
        Throw(call, info, "of shape ", x.shape(), " lies outside of its buffer of ",
              x.buffer()->nbytes(), " bytes");
    }
    if (x.IsContiguous()) {
        const Strides expected{x.shape(), x.GetItemSize()};
        for (int8_t i = 0; i < x.ndim(); ++i) {
            if (x.shape()[i] != 1 && x.strides()[i] != expected[i]) {
                Throw(call, info, "says it is contiguous, its strides are ", x.strides());
            }
        }
    }
}

void CheckOutput(const KernelCall& call, const OperandInfo& info, const Array& x) {
    if (x.GetTotalSize() == 0) return;
    if (!x.IsWritable()) Throw(call, info, "is written, but its memory is read-only");
    if (internal::OverlapsItself(x.shape(), x.strides(), x.GetItemSize())) {
        Throw(call, info, "is written, but has several elements in one place: shape ", x.shape(),
              ", strides ", x.strides());
    }
}

void CheckElementwise(const KernelCall& call, const Given& in, const Given& out) {
    const Array& x = *in.array;
    const Array& y = *out.array;
    if (!IsBroadcastable(x.shape(), y.shape())) {
        Throw(call, *in.info, "of shape ", x.shape(), " does not broadcast to that of ",
              out.info->name, ", ", y.shape());
    }
    if (x.dtype() != y.dtype() && !IsBool(x.dtype()) && !IsBool(y.dtype())) {
        Throw(call, *in.info, "has dtype ", x.dtype(), ", ", out.info->name, " has ", y.dtype());
    }
}

void CheckBools(const KernelCall& call, const OperandInfo& info, const Array& x) {
    if (!IsBool(x.dtype()) || !call.device().IsHostAccessible()) return;
    for (const char* p : Places(x)) {
        if (static_cast<uint8_t>(*p) > 1) {
            Throw(call, info, "is bool, and was given the byte ",
                  static_cast<int64_t>(static_cast<uint8_t>(*p)));
        }
    }
}

}  // namespace

void KernelValidator::Run(KernelCall& call) {
    std::vector<Given> operands;
    call.ForEachArray([&](const OperandInfo& info, const Array& x) {
        CheckArray(call, info, x);
        operands.push_back({&info, &x});
    });
    for (const Given& out : operands) {
        if (!IsWritten(*out.info)) continue;
        CheckOutput(call, *out.info, *out.array);
        const bool may_be_same = out.info->role == OperandRole::kOutSame;
        for (const Given& x : operands) {
            if (&x == &out) continue;
            if (may_be_same && !IsWritten(*x.info)) CheckElementwise(call, x, out);
            if (may_be_same && internal::IsSamePlace(*x.array, *out.array)) continue;
            if (ShareMemory(*x.array, *out.array)) {
                Throw(call, *out.info, "shares memory with operand ", x.info->name);
            }
        }
    }
    call.Proceed();
    if (!call.device().IsHostAccessible()) return;
    for (const Given& out : operands) {
        if (IsWritten(*out.info)) CheckBools(call, *out.info, *out.array);
    }
}

}  // namespace chainerx
