// where: selects between two operands, element by element. It moves bits only, so there is one loop
// per item size.
#include <cstring>
#include <type_traits>

#include "chainerx/core/scalar.h"
#include "chainerx/kernels/elementwise/where.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/strided/tiled_loop.h"

namespace chainerx::native {
namespace {

constexpr int64_t kWhereBlock = 32 * 1024;

// Blends bits, since a branch on the condition would be unpredictable.
template <typename T>
T Choose(uint8_t condition, const T& x, const T& y) {
    if constexpr (std::is_integral_v<T>) {
        const T mask = static_cast<T>(-static_cast<T>(condition != 0));
        return static_cast<T>((x & mask) | (y & ~mask));
    } else {
        return condition != 0 ? x : y;
    }
}

template <typename T, bool kStepX, bool kStepY>
void ChooseRun(const uint8_t* condition, const T* x, const T* y, T* out, int64_t n) {
    const T x0 = *x;
    const T y0 = *y;
    for (int64_t i = 0; i < n; ++i) {
        out[i] = Choose(condition[i], kStepX ? x[i] : x0, kStepY ? y[i] : y0);
    }
}

// Handles n > 0 elements; a step is 0 or 1.
template <typename T>
void WhereRun(const char* conditions, int64_t step, const char* x_data, int64_t step_x,
              const char* y_data, int64_t step_y, char* out_data, int64_t n) {
    const auto* condition = reinterpret_cast<const uint8_t*>(conditions);
    const T* x = reinterpret_cast<const T*>(x_data);
    const T* y = reinterpret_cast<const T*>(y_data);
    T* out = reinterpret_cast<T*>(out_data);
    if (step == 0) {
        CopyStrided(out_data, sizeof(T), *condition != 0 ? x_data : y_data,
                    (*condition != 0 ? step_x : step_y) * int64_t{sizeof(T)}, n, sizeof(T));
    } else if (step_x != 0 && step_y != 0) {
        ChooseRun<T, true, true>(condition, x, y, out, n);
    } else if (step_x != 0) {
        ChooseRun<T, true, false>(condition, x, y, out, n);
    } else if (step_y != 0) {
        ChooseRun<T, false, true>(condition, x, y, out, n);
    } else {
        ChooseRun<T, false, false>(condition, x, y, out, n);
    }
}

struct Value {
    alignas(16) char bytes[sizeof(Complex128)];

    Value(const Operand& x, Dtype dtype) {
        if (x.is_array()) return;
        VisitDtype(dtype, [&]<typename T>() {
            const T value = x.scalar().To<T>();
            std::memcpy(bytes, &value, sizeof(T));
        });
    }
};

// Fast path for small contiguous arrays of one shape, without a strided iterator.
bool TryPlain(const Array& condition, const Operand& x, const Operand& y, const Array& out) {
    if (out.GetTotalSize() > kWhereBlock || !out.IsContiguous() || !InStep(condition, out) ||
        !x.is_array() || !InStep(x.array(), out) || !y.is_array() || !InStep(y.array(), out)) {
        return false;
    }
    const int64_t n = out.GetTotalSize();
    if (n == 0) return true;
    VisitItemSize(out.GetItemSize(), [&]<typename T>() {
        WhereRun<T>(condition.raw_data(), 1, x.array().raw_data(), 1, y.array().raw_data(), 1,
                    out.raw_data(), n);
    });
    return true;
}

void Where(const Array& condition, const Operand& x, const Operand& y, const Array& out) {
    if (TryPlain(condition, x, y, out)) return;
    Value value_x{x, out.dtype()};
    Value value_y{y, out.dtype()};
    const Array* const arrays[4] = {&out, &condition, x.is_array() ? &x.array() : nullptr,
                                    y.is_array() ? &y.array() : nullptr};
    char* const values[4] = {nullptr, nullptr, value_x.bytes, value_y.bytes};
    StridedIterator<4> iter{out.shape(), arrays, values, AxisOrder::kByStride};
    const int64_t size = out.GetItemSize();
    const LoopTraits<4> traits{{size, 1, size, size}, true, INT64_MAX};
    VisitItemSize(size, [&]<typename T>() {
        RunTiles(iter, traits, BlockSizes::OfLight(kWhereBlock),
                 [](char* const* p, const int64_t* steps, int64_t n) {
                     WhereRun<T>(p[1], steps[1], p[2], steps[2], p[3], steps[3], p[0], n);
                 });
    });
}
CX_NATIVE_KERNEL(Where)

}  // namespace
}  // namespace chainerx::native
