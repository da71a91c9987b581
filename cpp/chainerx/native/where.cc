// Choosing between two operands, element by element. Looks at bits only, so one loop per item size.
#include "chainerx/core/scalar.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/kernels/where.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/walk.h"

namespace chainerx::native {
namespace {

constexpr int64_t kBlock = 32 * 1024;

template <typename T>
void WhereRun(const Cursor<4>& c, const Walk<4>& walk, int64_t n) {
    constexpr int64_t kSize = sizeof(T);
    const int64_t s[4] = {walk.run_stride(0), walk.run_stride(1), walk.run_stride(2),
                          walk.run_stride(3)};
    if (s[0] == kSize && s[1] == 1 && s[2] == kSize && s[3] == kSize) {
        T* out = reinterpret_cast<T*>(c.p[0]);
        const bool* condition = reinterpret_cast<const bool*>(c.p[1]);
        const T* x = reinterpret_cast<const T*>(c.p[2]);
        const T* y = reinterpret_cast<const T*>(c.p[3]);
        for (int64_t i = 0; i < n; ++i) out[i] = condition[i] ? x[i] : y[i];
        return;
    }
    for (int64_t i = 0; i < n; ++i) {
        const bool condition = *reinterpret_cast<const bool*>(c.p[1] + i * s[1]);
        std::memcpy(c.p[0] + i * s[0], condition ? c.p[2] + i * s[2] : c.p[3] + i * s[3], kSize);
    }
}

void WhereRange(const Walk<4>& walk, int64_t item_size, int64_t begin, int64_t end) {
    Cursor<4> cursor{walk, begin};
    VisitItemSize(item_size, [&]<typename T>() {
        while (begin < end) {
            const int64_t n = std::min(cursor.left(), end - begin);
            WhereRun<T>(cursor, walk, n);
            cursor.Advance(n);
            begin += n;
        }
    });
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

bool InStep(const Array& x, const Array& out) {
    return x.IsContiguous() && x.shape() == out.shape();
}

// Small, contiguous, of one shape: without a walk.
bool TryPlain(const Array& condition, const Operand& x, const Operand& y, const Array& out) {
    if (out.GetTotalSize() > kBlock || !out.IsContiguous() || !InStep(condition, out) ||
        !x.is_array() || !InStep(x.array(), out) || !y.is_array() || !InStep(y.array(), out)) {
        return false;
    }
    const bool* c = reinterpret_cast<const bool*>(condition.raw_data());
    VisitItemSize(out.GetItemSize(), [&]<typename T>() {
        const T* a = reinterpret_cast<const T*>(x.array().raw_data());
        const T* b = reinterpret_cast<const T*>(y.array().raw_data());
        T* p = reinterpret_cast<T*>(out.raw_data());
        for (int64_t i = 0; i < out.GetTotalSize(); ++i) p[i] = c[i] ? a[i] : b[i];
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
    const Walk<4> walk{out.shape(), arrays, values};
    const int64_t item_size = out.GetItemSize();
    if (walk.total == 0) return;
    if (walk.total <= 2 * kBlock) {
        WhereRange(walk, item_size, 0, walk.total);
        return;
    }
    ParallelFor((walk.total + kBlock - 1) / kBlock, [&](int64_t i) {
        WhereRange(walk, item_size, i * kBlock, std::min(walk.total, (i + 1) * kBlock));
    });
}
CX_NATIVE_KERNEL(Where)

}  // namespace
}  // namespace chainerx::native
