#include "chainerx/core/scalar.h"

#include <cmath>
#include <limits>
#include <utility>

namespace chainerx {
namespace {

template <typename T>
bool FitsFloat(double value) {
    const double v = std::trunc(value);
    const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
    return v >= static_cast<double>(std::numeric_limits<T>::min()) && v < end;
}

}  // namespace

bool Scalar::Fits(Dtype dtype) const {
    if (kind_ == DtypeKind::kBool) return true;
    if (is_huge_) return false;
    if (IsBool(dtype)) return kind_ >= DtypeKind::kFloat || int_ == 0 || int_ == 1;
    return VisitInt(dtype, [&]<typename T>() {
        if (kind_ >= DtypeKind::kFloat) return FitsFloat<T>(float_);
        if (kind_ == DtypeKind::kUInt) return std::in_range<T>(static_cast<uint64_t>(int_));
        return std::in_range<T>(int_);
    });
}

}  // namespace chainerx
