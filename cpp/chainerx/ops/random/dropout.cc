#include "chainerx/ops/random/dropout.h"

#include "chainerx/kernels/random/random.h"
#include "chainerx/ops/random/random.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kDropout{"dropout", &kernels::Dropout::kInfo};

}  // namespace

// It is linear in x, so it is its own gradient.
Array internal::DropAt(const Array& x, const Array& key, double ratio) {
    Array y = EmptyUnchecked(x.shape(), x.dtype(), x.device());
    CallOn<kernels::Dropout>(x.device(), AsContiguous(internal::Detached(x)), key, ratio, y);
    if (Record rec{kDropout, {x}, y}) {
        rec.Grad(0, [key, ratio](const Array& gy) { return DropAt(gy, key, ratio); });
    }
    return y;
}

Array Dropout(const Array& x, double ratio, std::optional<uint64_t> key) {
    constexpr const char* kOp = kDropout.name;
    CheckDtype(IsFloat(x.dtype()), kOp, "x", x.dtype(), "a float");
    if (!(ratio >= 0 && ratio < 1)) {
        throw ValueError{kOp, ": ratio is ", ratio, ", expected 0 <= ratio < 1"};
    }
    return internal::DropAt(x, random::DrawKey(x.device(), key), ratio);
}

}  // namespace chainerx
