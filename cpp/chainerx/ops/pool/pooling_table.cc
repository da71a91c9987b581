#include "chainerx/ops/pool/pooling_table.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "chainerx/kernels/index/indexing.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/ops/index/take.h"
#include "chainerx/ops/routine.h"

namespace chainerx::internal {
namespace {

constexpr IndexBoundsMode kMode = IndexBoundsMode::kRaise;

// A table with the index in the plane of each element of each window. A plane has one element more,
// which stands for padding.
class Table {
 public:
    // x is the shape before the pooling.
    Table(const Shape& x, const Shape& y, const PoolWindow& window, Device& device)
        : planes{x[0] * x[1]}, device_{device} {
        for (int8_t i = 2; i < x.ndim(); ++i) {
            in *= x[i];
            outs *= y[i];
            taps *= window.size[i - 2];
        }
        places_ = EmptyUnchecked({outs, taps}, Dtype::kInt64, Host());
        auto* place = reinterpret_cast<int64_t*>(places_.raw_data());
        const auto axes = static_cast<int8_t>(x.ndim() - 2);
        for (int64_t o = 0; o < outs; ++o) {
            for (int64_t t = 0; t < taps; ++t) {
                *place++ = Place(x, y, window, axes, o, t);
            }
        }
    }

    int64_t planes;
    int64_t in{1};  // elements of a plane
    int64_t outs{1};
    int64_t taps{1};

    // Returns the table, (outs, taps).
    Array places() const { return places_.ToDevice(device_); }

    // Returns the table with padding replaced by the first element of the window, and the indices
    // of these elements in the window.
    Array InsidePlaces(Array* numbers) const {
        const Array places = Copy(places_);
        const Array host_numbers = EmptyUnchecked({outs, taps}, Dtype::kInt64, Host());
        auto* place = reinterpret_cast<int64_t*>(places.raw_data());
        auto* number = reinterpret_cast<int64_t*>(host_numbers.raw_data());
        for (int64_t o = 0; o < outs; ++o, place += taps, number += taps) {
            int64_t first = 0;
            while (first < taps && place[first] == in) ++first;
            if (first == taps) first = 0;
            for (int64_t t = 0; t < taps; ++t) {
                number[t] = place[t] == in ? first : t;
                if (place[t] == in) place[t] = place[first];
            }
        }
        *numbers = host_numbers.ToDevice(device_);
        return places.ToDevice(device_);
    }

    // Returns the divisors of the sums, (outs,).
    Array Divisors(PoolDivisor divisor, Dtype dtype) const {
        const Array host = EmptyUnchecked({outs}, Dtype::kFloat64, Host());
        const auto* place = reinterpret_cast<const int64_t*>(places_.raw_data());
        auto* value = reinterpret_cast<double*>(host.raw_data());
        for (int64_t o = 0; o < outs; ++o, place += taps) {
            const int64_t inside = taps - std::count(place, place + taps, in);
            value[o] = divisor == PoolDivisor::kOne ? 1.0
                       : divisor == PoolDivisor::kWindow
                           ? static_cast<double>(taps)
                           : std::max(1.0, static_cast<double>(inside));
        }
        return AsType(host.ToDevice(device_), dtype);
    }

    // Returns the index of an element in the table of its plane, (planes, outs).
    Array NumbersOf(const char* op, const Array& indices) const {
        const Array first =
            Arange(Scalar{0}, Scalar{outs * taps}, Scalar{taps}, Dtype::kInt64, device_);
        const Array numbers = Copy(BroadcastTo(first, Shape{planes, outs}));
        CallOn<kernels::LinearIndex>(device_, op, Reshape(indices, numbers.shape()), taps, 1,
                                     numbers);
        return numbers;
    }
    // Returns the index among all padded planes, (planes, outs).
    Array PlacesOf(const char* op, const Array& indices) const {
        const Array place =
            Take(Reshape(places(), Shape{outs * taps}), NumbersOf(op, indices), 0, kMode);
        const Array first =
            Arange(Scalar{0}, Scalar{planes * (in + 1)}, Scalar{in + 1}, Dtype::kInt64, device_);
        return Add(place, Reshape(first, Shape{planes, 1}));
    }

    // Returns x as (planes, in + 1), with `value` for padding.
    Array WithPadding(const Array& x, const Scalar& value) const {
        const Array padded = Full(Shape{planes, in + 1}, value, x.dtype(), device_);
        CallOn<kernels::AsType>(device_, Reshape(x, Shape{planes, in}), Inner(padded));
        return padded;
    }
    // Removes the padding again.
    Array WithoutPadding(const Array& padded, const Shape& shape) const {
        return Reshape(Copy(Inner(padded)), shape);
    }

 private:
    Device& Host() const { return device_.context()->GetNativeBackend().GetDevice(0); }

    Array Inner(const Array& padded) const {
        return MakeView(padded, Shape{planes, in}, padded.strides(), padded.raw_data());
    }

    int64_t Place(const Shape& x, const Shape& y, const PoolWindow& window, int8_t axes, int64_t o,
                  int64_t t) const {
        int64_t place = 0;
        int64_t step = 1;
        for (int8_t i = axes - 1; i >= 0; --i) {
            const int64_t n = x[i + 2];
            const int64_t m = y[i + 2];
            const int64_t at = o % m;
            const int64_t stride = window.stride[i];
            const int64_t begin = stride != 0 ? at * stride - window.pad[i] : at * n / m;
            const int64_t end = stride != 0 ? n : ((at + 1) * n + m - 1) / m;
            const int64_t k = begin + t % window.size[i];
            if (k < 0 || k >= std::min(n, end)) return in;
            place += k * step;
            step *= n;
            o /= m;
            t /= window.size[i];
        }
        return place;
    }

    Device& device_;
    Array places_;
};

// Converts to the dtype of sums.
Array Widened(const Array& x) {
    return GetItemSize(x.dtype()) == 2 ? AsType(x, Dtype::kFloat32, false) : x;
}

}  // namespace

Scalar SmallestOf(Dtype dtype) {
    if (IsFloat(dtype)) return -std::numeric_limits<double>::infinity();
    if (IsBool(dtype)) return false;
    return VisitInt(dtype, []<typename T>() -> Scalar { return std::numeric_limits<T>::lowest(); });
}

void MaxPoolByTable(const Array& x, const PoolWindow& window, const Array& y,
                    const Array& indices) {
    const Table table{x.shape(), y.shape(), window, x.device()};
    Array numbers;
    const Array places = table.InsidePlaces(&numbers);
    const Array padded = table.WithPadding(x, SmallestOf(x.dtype()));
    const Array windows =
        Reshape(Take(padded, places, 1, kMode), Shape{table.planes * table.outs, table.taps});
    const Array best = ArgMax(windows, 1);
    CallOn<kernels::AsType>(x.device(), Reshape(SelectItem(windows, best), y.shape()), y);
    if (indices.GetTotalSize() == 0) return;
    const Array number = Take(Reshape(numbers, Shape{table.outs * table.taps}),
                              table.NumbersOf("max_pool", best), 0, kMode);
    CallOn<kernels::AsType>(x.device(), Reshape(number, indices.shape()), indices);
}

Array PoolScatterByTable(const char* op, const Array& gy, const Array& indices,
                         const PoolWindow& window, const Shape& shape) {
    const Table table{shape, gy.shape(), window, gy.device()};
    const Array places = table.PlacesOf(op, indices);
    const Array flat = TakeGrad(Reshape(gy, places.shape()), Shape{table.planes * (table.in + 1)},
                                0, places, kMode);
    return table.WithoutPadding(Reshape(flat, Shape{table.planes, table.in + 1}), shape);
}

Array PoolGatherByTable(const char* op, const Array& x, const Array& indices,
                        const PoolWindow& window) {
    const Table table{x.shape(), indices.shape(), window, x.device()};
    const Array flat = Ravel(table.WithPadding(x, 0));
    return Reshape(Take(flat, table.PlacesOf(op, indices), 0, kMode), indices.shape());
}

Array SumPoolByTable(const Array& x, const PoolWindow& window, PoolDivisor divisor,
                     const Shape& shape) {
    const Table table{x.shape(), shape, window, x.device()};
    const Array padded = table.WithPadding(Widened(x), 0);
    const Array sums = Sum(Take(padded, table.places(), 1, kMode), Axes{2});
    return Reshape(AsType(Divide(sums, table.Divisors(divisor, sums.dtype())), x.dtype(), false),
                   shape);
}

Array SumPoolGradByTable(const Array& gy, const PoolWindow& window, PoolDivisor divisor,
                         const Shape& shape) {
    const Table table{shape, gy.shape(), window, gy.device()};
    const Array wide = Reshape(Widened(gy), Shape{table.planes, table.outs, 1});
    const Array divisors = Reshape(table.Divisors(divisor, wide.dtype()), Shape{table.outs, 1});
    const Array each =
        BroadcastTo(Divide(wide, divisors), Shape{table.planes, table.outs, table.taps});
    const Array padded =
        TakeGrad(each, Shape{table.planes, table.in + 1}, 1, table.places(), kMode);
    return AsType(table.WithoutPadding(padded, shape), gy.dtype(), false);
}

}  // namespace chainerx::internal
