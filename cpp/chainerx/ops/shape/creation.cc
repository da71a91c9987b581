#include "chainerx/ops/shape/creation.h"

#include <algorithm>
#include <cmath>

#include "chainerx/kernels/shape/creation.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/ops/elementwise/layout.h"
#include "chainerx/ops/elementwise/tables/rounding.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kAsType{"astype", &kernels::AsType::kInfo, Batching::kElementwise};
constexpr OpInfo kCopy{"copy", &kernels::AsType::kInfo, Batching::kElementwise};

}  // namespace

Array Full(const Shape& shape, const Scalar& value, Dtype dtype, Device& device) {
    internal::CheckFillFits("full", dtype, value);
    Array y = Empty(shape, dtype, device);
    CallOn<kernels::Fill>(device, y, value);
    return y;
}

Array Full(const Shape& shape, const Scalar& value, Device& device) {
    return Full(shape, value, value.dtype(), device);
}

Array Full(const Shape& shape, const Array& value) { return Copy(BroadcastTo(value, shape)); }

Array Zeros(const Shape& shape, Dtype dtype, Device& device) {
    return Full(shape, 0, dtype, device);
}

Array Ones(const Shape& shape, Dtype dtype, Device& device) {
    return Full(shape, 1, dtype, device);
}

Array EmptyLike(const Array& a, Device& device) {
    return EmptyUnchecked(a.shape(), a.dtype(), device);
}

Array FullLike(const Array& a, const Scalar& value, Device& device) {
    return Full(a.shape(), value, a.dtype(), device);
}

Array ZerosLike(const Array& a, Device& device) { return FullLike(a, 0, device); }
Array OnesLike(const Array& a, Device& device) { return FullLike(a, 1, device); }

namespace {

// Holds all int64 and uint64, and the difference of any two of them.
__extension__ using Wide = __int128;

bool IsWhole(const Scalar& s) { return s.kind() < DtypeKind::kFloat; }

Wide ToWide(const Scalar& s) {
    return s.kind() == DtypeKind::kUInt ? Wide{s.To<uint64_t>()} : Wide{s.To<int64_t>()};
}

// Returns the length of range(start, stop, step).
int64_t ArangeLength(const Scalar& start, const Scalar& stop, const Scalar& step) {
    if (IsWhole(start) && IsWhole(stop) && IsWhole(step)) {
        const Wide d = ToWide(step);
        if (d == 0) throw DimensionError{"arange: step is 0"};
        const Wide distance = ToWide(stop) - ToWide(start);
        if (d > 0 ? distance <= 0 : distance >= 0) return 0;
        const Wide n = (distance + (d > 0 ? d - 1 : d + 1)) / d;
        if (n > INT64_MAX) {
            throw DimensionError{"arange: ", static_cast<uint64_t>(n), " elements are too many"};
        }
        return static_cast<int64_t>(n);
    }
    const double d = step.To<double>();
    if (d == 0) throw DimensionError{"arange: step is 0"};
    const double n = std::ceil((stop.To<double>() - start.To<double>()) / d);
    if (std::isnan(n) || n >= 0x1p62) {
        throw DimensionError{"arange: cannot count from ", start, " to ", stop, " by ", step};
    }
    return n > 0 ? static_cast<int64_t>(n) : 0;
}

// Converts `value` to an element of an integer array.
int64_t ToElement(Dtype dtype, const Scalar& value) {
    return VisitInt(dtype, [&]<typename T>() { return static_cast<int64_t>(value.To<T>()); });
}

void CheckReal(const char* op, const Scalar& value) {
    if (value.kind() == DtypeKind::kComplex) {
        throw TypeError{op, ": ", value, " is not a real number"};
    }
}

}  // namespace

Dtype ArangeDtype(const Scalar& start, const Scalar& last) {
    const bool is_cut =
        start.kind() == DtypeKind::kFloat && start.To<double>() != std::trunc(start.To<double>());
    return is_cut ? start.dtype() : last.dtype();
}

Array Arange(const Scalar& start, const Scalar& stop, const Scalar& step, Dtype dtype,
             Device& device) {
    for (const Scalar* s : {&start, &stop, &step}) CheckReal("arange", *s);
    const Shape shape{ArangeLength(start, stop, step)};
    if (IsBool(dtype) && shape[0] > 2) {
        throw DtypeError{"arange: bool holds no more than 2 values, not ", shape[0]};
    }
    CheckedNBytes("arange", shape, GetItemSize(dtype));
    Array y = EmptyUnchecked(shape, dtype, device);
    if (shape[0] == 0) return y;
    bool fits_int64 = true;
    if (IsWhole(start) && IsWhole(step)) {
        const Wide first = ToWide(start);
        const Wide last = first + (shape[0] - 1) * ToWide(step);
        for (const Wide end : {first, last}) {
            const bool fits = end <= INT64_MAX;
            internal::CheckIntFits(
                "arange", dtype,
                fits ? Scalar{static_cast<int64_t>(end)} : Scalar{static_cast<uint64_t>(end)});
            fits_int64 &= fits;
        }
    }
    if (IsInt(dtype) && (start.kind() == DtypeKind::kFloat || step.kind() == DtypeKind::kFloat)) {
        // As in NumPy, integers differ by the difference of the first two.
        const int64_t first = ToElement(dtype, start);
        const int64_t second = ToElement(dtype, start.To<double>() + step.To<double>());
        const auto apart =
            static_cast<int64_t>(static_cast<uint64_t>(second) - static_cast<uint64_t>(first));
        CallOn<kernels::Arange>(device, Scalar{first}, Scalar{apart}, y);
    } else if (IsFloat(dtype) && !fits_int64) {  // since the kernel would compute in int64
        CallOn<kernels::Arange>(device, Scalar{start.To<double>()}, Scalar{step.To<double>()}, y);
    } else {
        CallOn<kernels::Arange>(device, start, step, y);
    }
    return y;
}

Array Linspace(double start, double stop, int64_t num, bool endpoint, Dtype dtype, Device& device) {
    if (num < 0) throw DimensionError{"linspace: num is ", num, ", less than 0"};
    CheckedNBytes("linspace", {num}, GetItemSize(dtype));
    if (IsInt(dtype)) {
        return AsType(Floor(Linspace(start, stop, num, endpoint, Dtype::kFloat64, device)), dtype);
    }
    Array y = EmptyUnchecked({num}, dtype, device);
    if (num == 0) return y;
    const int64_t intervals = endpoint ? num - 1 : num;
    const double step = intervals > 0 ? (stop - start) / static_cast<double>(intervals) : 0.0;
    CallOn<kernels::Arange>(device, Scalar{start}, Scalar{step}, y);
    if (endpoint && num > 1) {  // rounding must not miss the end
        const Array last =
            internal::MakeView(y, {1}, y.strides(), y.raw_data() + (num - 1) * y.strides()[0]);
        CallOn<kernels::Fill>(device, last, Scalar{stop});
    }
    return y;
}

namespace {

Array ZeroMatrix(const char* op, int64_t rows, int64_t columns, Dtype dtype, Device& device) {
    const Shape shape{rows, columns};
    CheckedNBytes(op, shape, GetItemSize(dtype));
    Array y = EmptyUnchecked(shape, dtype, device);
    CallOn<kernels::Fill>(device, y, Scalar{0});
    return y;
}

}  // namespace

Array Eye(int64_t rows, int64_t columns, int64_t k, Dtype dtype, Device& device, const char* op) {
    const Array y = ZeroMatrix(op, rows, columns, dtype, device);
    const Array diagonal = Diagonal(y, k);
    if (diagonal.GetTotalSize() != 0) CallOn<kernels::Fill>(device, diagonal, Scalar{1});
    return y;
}

Array Identity(int64_t n, Dtype dtype, Device& device) {
    return Eye(n, n, 0, dtype, device, "identity");
}

Array Tri(int64_t rows, int64_t columns, int64_t k, Dtype dtype, Device& device) {
    const Shape shape{rows, columns};
    CheckedNBytes("tri", shape, GetItemSize(dtype));
    const Array y = EmptyUnchecked(shape, dtype, device);
    const Array one = Full({}, 1, dtype, device);
    k = std::clamp(k, -rows - 1, columns + 1);
    if (y.GetTotalSize() != 0) {
        CallOn<kernels::Triangle>(device, BroadcastTo(one, y.shape()), k, true, y);
    }
    return y;
}

Array AsType(const Array& x, Dtype dtype, bool copy) {
    if (!copy && x.dtype() == dtype) return x;
    Array y = internal::EmptyResult(x, dtype);
    CallOn<kernels::AsType>(x.device(), x, y);
    // The engine casts the gradient back.
    if (Record rec{kAsType, {x}, y}) rec.Grad(0, [](const Array& gy) { return gy; });
    return y;
}

Array Copy(const Array& x) {
    Array y = EmptyUnchecked(x.shape(), x.dtype(), x.device());
    CallOn<kernels::AsType>(x.device(), x, y);
    if (Record rec{kCopy, {x}, y}) rec.Grad(0, [](const Array& gy) { return gy; });
    return y;
}

Array AsContiguous(const Array& x) { return x.IsContiguous() ? x : Copy(x); }

}  // namespace chainerx
