// arange, tri, tril, triu.
#include <algorithm>
#include <type_traits>

#include "chainerx/kernels/shape/creation.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/strided/copy_block.h"
#include "chainerx/native/strided/strided_iterator.h"

namespace chainerx::native {
namespace {

void Arange(const Scalar& start, const Scalar& step, const Array& out) {
    const int64_t n = out.GetTotalSize();
    if (n == 0) return;
    const bool whole = start.kind() < DtypeKind::kFloat && step.kind() < DtypeKind::kFloat;
    VisitDtype(out.dtype(), [&]<typename T>() {
        char* p = out.raw_data();
        const int64_t stride = out.strides()[0];
        if (whole) {
            // Unsigned, since overflow wraps as in NumPy.
            const auto first = static_cast<uint64_t>(start.To<int64_t>());
            const auto d = static_cast<uint64_t>(step.To<int64_t>());
            if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
                if (stride == sizeof(T)) {
                    ForChunks(n, [&](int64_t begin, int64_t end) {
                        // A running sum in the dtype wraps as the product does.
                        using U = std::make_unsigned_t<T>;
                        auto* to = reinterpret_cast<U*>(p);
                        auto v = static_cast<U>(first + static_cast<uint64_t>(begin) * d);
                        const auto step_of_one = static_cast<U>(d);
                        for (int64_t i = begin; i < end; ++i) {
                            to[i] = v;
                            v = static_cast<U>(v + step_of_one);
                        }
                    });
                    return;
                }
            }
            ForChunks(n, [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                    const auto v = static_cast<int64_t>(first + static_cast<uint64_t>(i) * d);
                    *reinterpret_cast<T*>(p + i * stride) = Cast<T>(v);
                }
            });
        } else {
            const double first = start.To<double>();
            const double d = step.To<double>();
            ForChunks(n, [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                    *reinterpret_cast<T*>(p + i * stride) =
                        Cast<T>(first + static_cast<double>(i) * d);
                }
            });
        }
    });
}
CX_NATIVE_KERNEL(Arange)

// The columns of a row that belong to the triangle.
Range TriangleRange(int64_t row, int64_t columns, int64_t k, bool lower) {
    const int64_t diagonal = std::clamp<int64_t>(row + k + (lower ? 1 : 0), 0, columns);
    return lower ? Range{0, diagonal} : Range{diagonal, columns};
}

// Many small, contiguous matrices: enough at a time for a long loop.
void MaskTriangles(const Array& x, int64_t k, bool lower, const Array& out) {
    constexpr int64_t kLong = 2048;  // bytes
    const int8_t ndim = x.ndim();
    const int64_t rows = x.shape()[ndim - 2];
    const int64_t columns = x.shape()[ndim - 1];
    const int64_t size = x.GetItemSize();
    const int64_t total = x.GetTotalSize() * size;
    const int64_t count = std::max<int64_t>(1, kLong / (rows * columns * size));
    const int64_t length = count * rows * columns * size;
    const Scratch<uint8_t> mask{length};
    std::fill_n(mask.data(), length, uint8_t{0});
    for (int64_t r = 0; r < count * rows; ++r) {
        const Range part = TriangleRange(r % rows, columns, k, lower);
        std::fill_n(mask.data() + (r * columns + part.begin) * size, part.size() * size,
                    uint8_t{0xFF});
    }
    const auto* from = reinterpret_cast<const uint8_t*>(x.raw_data());
    auto* to = reinterpret_cast<uint8_t*>(out.raw_data());
    constexpr int64_t kBytes = 1 << 18;  // between two interrupt checks
    for (int64_t done = 0; done < total; done += length) {
        const uint8_t* m = mask.data();
        const int64_t n = std::min(length, total - done);
        for (int64_t i = 0; i < n; ++i) to[done + i] = from[done + i] & m[i];
        if (done / kBytes != (done + n) / kBytes) internal::CheckInterrupt();
    }
}

void Triangle(const Array& x, int64_t k, bool lower, const Array& out) {
    const int8_t ndim = x.ndim();
    const int64_t rows = x.shape()[ndim - 2];
    const int64_t columns = x.shape()[ndim - 1];
    if (x.GetTotalSize() == 0) return;
    constexpr int64_t kSmall = 1 << 10;  // elements of a matrix
    if (x.IsContiguous() && out.IsContiguous() && rows * columns <= kSmall &&
        rows * columns * 8 <= x.GetTotalSize()) {
        MaskTriangles(x, k, lower, out);
        return;
    }
    const int64_t sx = x.strides()[ndim - 1];
    const int64_t sy = out.strides()[ndim - 1];
    // Iterates over the matrices, and over their rows.
    const auto without_columns = [](const Array& a) {
        Shape shape{a.shape().begin(), a.shape().end() - 1};
        Strides strides{a.strides().begin(), a.strides().end() - 1};
        return internal::MakeView(a, shape, strides, a.raw_data());
    };
    constexpr int64_t kShortRow = 1 << 10;
    constexpr int64_t kRows = 1 << 10;  // between two interrupt checks
    // columns; shorter rows go element by element, since calls take longer
    constexpr int64_t kCalled = 128;
    VisitItemSize(x.GetItemSize(), [&]<typename T>() {
        int64_t r = 0;
        int64_t done = 0;
        const auto row = [&](const char* from, char* to) {
            // Splits columns at the diagonal.
            const auto [first, last] = TriangleRange(r, columns, k, lower);
            T* const t = reinterpret_cast<T*>(to);
            if (columns <= kCalled && sx == sizeof(T) && sy == sizeof(T)) {
                const T* const f = reinterpret_cast<const T*>(from);
                const int begin = static_cast<int>(first);
                const int end = static_cast<int>(last);
                for (int c = 0; c < static_cast<int>(columns); ++c) {
                    const T value = f[c];  // read unconditionally, to avoid a branch
                    t[c] = c >= begin && c < end ? value : T{};
                }
            } else if (sx == 0 && sy == sizeof(T)) {  // tri()
                std::fill(t, t + first, T{});
                std::fill(t + first, t + last, *reinterpret_cast<const T*>(from));
                std::fill(t + last, t + columns, T{});
            } else {
                const T zero{};
                const auto* nothing = reinterpret_cast<const char*>(&zero);
                CopyStrided(to, sy, nothing, 0, first, sizeof(T));
                CopyStrided(to + first * sy, sy, from + first * sx, sx, last - first, sizeof(T));
                CopyStrided(to + last * sy, sy, nothing, 0, columns - last, sizeof(T));
            }
            if (++r == rows) r = 0;
            if (++done % kRows == 0 || columns > kShortRow) internal::CheckInterrupt();
        };
        const StridedIterator<2> iter{AxisOrder::kGiven, without_columns(x), without_columns(out)};
        ForEachRun(iter, [&](auto& p, auto& s, int64_t n) {
            for (int64_t i = 0; i < n; ++i) row(p[0] + i * s[0], p[1] + i * s[1]);
        });
    });
}
CX_NATIVE_KERNEL(Triangle)

}  // namespace
}  // namespace chainerx::native
