#include "chainerx/native/elementwise.h"

#include <algorithm>

#include "chainerx/core/scalar.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/walk.h"

namespace chainerx::native {
namespace {

// Elements per tile; all tiles of a call stay in the first-level cache.
constexpr int64_t kTile = 512;
// Runs of at least this length are worth a call of the loop each.
constexpr int64_t kLongRun = 64;
// Elements per block of a thread. A value does not depend on its block.
constexpr int64_t kBlock = 32 * 1024;
constexpr int64_t kHeavyBlock = 8 * 1024;

constexpr bool IsHalf(Dtype dtype) { return dtype == Dtype::kFloat16 || dtype == Dtype::kBFloat16; }

template <typename F>
void ForBlocks(int64_t n, bool is_heavy, const F& f) {
    const int64_t block = is_heavy ? kHeavyBlock : kBlock;
    if (n == 0) return;
    if (n <= 2 * block) {
        f(int64_t{0}, n);
        return;
    }
    ParallelFor((n + block - 1) / block,
                [&](int64_t i) { f(i * block, std::min(n, (i + 1) * block)); });
}

void ToFloat32(Dtype dtype, const void* x, void* out, int64_t n) {
    const CastLoops& loops = cast_loops();
    (dtype == Dtype::kFloat16 ? loops.float16_to_float32 : loops.bfloat16_to_float32)(x, out, n);
}
void FromFloat32(Dtype dtype, const void* x, void* out, int64_t n) {
    const CastLoops& loops = cast_loops();
    (dtype == Dtype::kFloat16 ? loops.float32_to_float16 : loops.float32_to_bfloat16)(x, out, n);
}

// A kernel's call, for N operands of which the first is the output.
template <int N>
struct Call {
    Walk<N> walk;
    Dtype in_dtype;      // of all inputs
    Dtype out_dtype;     // the same or bool
    bool contiguous[N];  // in step with the output, element for element
    bool is_scalar[N];
};

template <int N, typename F>
class TileRunner {
 public:
    TileRunner(const Call<N>& call, const F& loop)
        : call_{call},
          loop_{loop},
          in_size_{GetItemSize(call.in_dtype)},
          out_size_{GetItemSize(call.out_dtype)} {}

    // Elements begin to end in C order.
    void Run(int64_t begin, int64_t end) {
        if (CanRunDirectly()) {
            RunDirectly(begin, end);
        } else {
            RunTiles(begin, end);
        }
    }

 private:
    // Whether each run can be handed to the loop as it lies in memory.
    bool CanRunDirectly() const {
        const Walk<N>& w = call_.walk;
        if (IsHalf(call_.in_dtype) || w.run_length() < kLongRun || w.run_stride(0) != out_size_) {
            return false;
        }
        for (int k = 1; k < N; ++k) {
            // A loop over one operand knows no step of 0.
            if (w.run_stride(k) != in_size_ && (N == 2 || w.run_stride(k) != 0)) return false;
        }
        return true;
    }

    void RunDirectly(int64_t begin, int64_t end) {
        Cursor<N> cursor{call_.walk, begin};
        int64_t steps[N];
        for (int k = 0; k < N; ++k) steps[k] = call_.walk.run_stride(k) != 0;
        while (begin < end) {
            const int64_t n = std::min(cursor.left(), end - begin);
            loop_(cursor.p, steps, n);
            cursor.Advance(n);
            begin += n;
        }
    }

    void RunTiles(int64_t begin, int64_t end) {
        const bool half = IsHalf(call_.in_dtype);
        const bool half_out = IsHalf(call_.out_dtype);
        alignas(64) char raw[N][kTile * sizeof(Complex128)];
        alignas(64) float wide[N][kTile];
        Cursor<N> in{call_.walk, begin};
        Cursor<N> out{call_.walk, begin};
        for (int64_t i = begin; i < end; i += kTile) {
            const int64_t n = std::min(kTile, end - i);
            char* p[N];
            int64_t steps[N];
            steps[0] = 1;
            Gather(in, raw, n);
            for (int k = 1; k < N; ++k) {
                const int64_t count = call_.is_scalar[k] ? 1 : n;
                steps[k] = !call_.is_scalar[k];
                p[k] = call_.is_scalar[k]    ? call_.walk.data[k]
                       : call_.contiguous[k] ? call_.walk.data[k] + i * in_size_
                                             : raw[k];
                if (half) {
                    ToFloat32(call_.in_dtype, p[k], wide[k], count);
                    p[k] = reinterpret_cast<char*>(wide[k]);
                }
            }
            char* const target = call_.contiguous[0] ? call_.walk.data[0] + i * out_size_ : raw[0];
            p[0] = half_out ? reinterpret_cast<char*>(wide[0]) : target;
            loop_(p, steps, n);
            if (half_out) FromFloat32(call_.out_dtype, wide[0], target, n);
            if (!call_.contiguous[0]) Scatter(out, raw[0], n);
        }
    }

    void Gather(Cursor<N>& cursor, char (&tiles)[N][kTile * sizeof(Complex128)], int64_t n) {
        bool needed = false;
        for (int k = 1; k < N; ++k) needed |= !call_.contiguous[k] && !call_.is_scalar[k];
        if (!needed) return;
        int64_t done = 0;
        while (done < n) {
            const int64_t run = std::min(cursor.left(), n - done);
            for (int k = 1; k < N; ++k) {
                if (call_.contiguous[k] || call_.is_scalar[k]) continue;
                CopyStrided(tiles[k] + done * in_size_, in_size_, cursor.p[k],
                            call_.walk.run_stride(k), run, in_size_);
            }
            cursor.Advance(run);
            done += run;
        }
    }

    void Scatter(Cursor<N>& cursor, const char* tile, int64_t n) {
        int64_t done = 0;
        while (done < n) {
            const int64_t run = std::min(cursor.left(), n - done);
            CopyStrided(cursor.p[0], call_.walk.run_stride(0), tile + done * out_size_, out_size_,
                        run, out_size_);
            cursor.Advance(run);
            done += run;
        }
    }

    const Call<N>& call_;
    const F& loop_;
    int64_t in_size_;
    int64_t out_size_;
};

template <int N, typename F>
void RunStrided(const Call<N>& call, bool is_heavy, const F& loop) {
    ForBlocks(call.walk.total, is_heavy,
              [&](int64_t begin, int64_t end) { TileRunner<N, F>{call, loop}.Run(begin, end); });
}

bool InStep(const Array& x, const Array& out) {
    return x.IsContiguous() && x.shape() == out.shape();
}

[[noreturn]] CX_COLD void ThrowNoLoop(Dtype dtype) {
    ThrowUnexpectedDtype(dtype, "a dtype that the rule of this kernel computes in");
}

// Everything but small contiguous arrays.
__attribute__((noinline)) void RunUnaryGeneral(const UnaryKernel& kernel, const Array& x,
                                               const Array& out) {
    const UnaryLoop loop = kernel.loops[static_cast<int>(x.dtype())];
    if (loop == nullptr) ThrowNoLoop(x.dtype());
    const Array* const arrays[2] = {&out, &x};
    char* const values[2] = {nullptr, nullptr};
    const Call<2> call{Walk<2>{out.shape(), arrays, values},
                       x.dtype(),
                       out.dtype(),
                       {out.IsContiguous(), InStep(x, out)},
                       {false, false}};
    RunStrided(call, kernel.is_heavy,
               [loop](char* const* p, const int64_t*, int64_t n) { loop(p[1], p[0], n); });
}

struct ScalarValue {
    alignas(16) char bytes[sizeof(Complex128)];

    ScalarValue(const Scalar& scalar, Dtype dtype) {
        VisitDtype(dtype, [&]<typename T>() {
            const T value = scalar.To<T>();
            std::memcpy(bytes, &value, sizeof(T));
        });
    }
};

__attribute__((noinline)) void RunBinaryGeneral(const BinaryKernel& kernel, const Operand& x1,
                                                const Operand& x2, const Array& out) {
    const Dtype dtype = (x1.is_array() ? x1 : x2).array().dtype();
    const BinaryLoop loop = kernel.loops[static_cast<int>(dtype)];
    if (loop == nullptr) ThrowNoLoop(dtype);
    ScalarValue value1{x1.is_array() ? Scalar{} : x1.scalar(), dtype};
    ScalarValue value2{x2.is_array() ? Scalar{} : x2.scalar(), dtype};
    const Array* const arrays[3] = {&out, x1.is_array() ? &x1.array() : nullptr,
                                    x2.is_array() ? &x2.array() : nullptr};
    char* const values[3] = {nullptr, value1.bytes, value2.bytes};
    const Call<3> call{Walk<3>{out.shape(), arrays, values},
                       dtype,
                       out.dtype(),
                       {out.IsContiguous(), x1.is_array() && InStep(x1.array(), out),
                        x2.is_array() && InStep(x2.array(), out)},
                       {false, !x1.is_array(), !x2.is_array()}};
    RunStrided(call, kernel.is_heavy, [loop](char* const* p, const int64_t* steps, int64_t n) {
        loop(p[1], steps[1], p[2], steps[2], p[0], n);
    });
}

}  // namespace

void RunUnary(const UnaryKernel& kernel, const Array& x, const Array& out) {
    const Dtype dtype = x.dtype();
    const UnaryLoop loop = kernel.loops[static_cast<int>(dtype)];
    if (out.GetTotalSize() <= kHeavyBlock && loop != nullptr && !IsHalf(dtype) &&
        out.IsContiguous() && InStep(x, out)) [[likely]] {
        loop(x.raw_data(), out.raw_data(), out.GetTotalSize());
        return;
    }
    RunUnaryGeneral(kernel, x, out);
}

void RunBinary(const BinaryKernel& kernel, const Operand& x1, const Operand& x2, const Array& out) {
    if (out.GetTotalSize() <= kHeavyBlock && out.IsContiguous()) [[likely]] {
        if (x1.is_array() && InStep(x1.array(), out)) {
            const Dtype dtype = x1.array().dtype();
            const BinaryLoop loop = kernel.loops[static_cast<int>(dtype)];
            if (loop != nullptr && !IsHalf(dtype)) {
                if (!x2.is_array()) {
                    const ScalarValue value{x2.scalar(), dtype};
                    loop(x1.array().raw_data(), 1, value.bytes, 0, out.raw_data(),
                         out.GetTotalSize());
                    return;
                }
                if (InStep(x2.array(), out)) {
                    loop(x1.array().raw_data(), 1, x2.array().raw_data(), 1, out.raw_data(),
                         out.GetTotalSize());
                    return;
                }
            }
        }
    }
    RunBinaryGeneral(kernel, x1, x2, out);
}

}  // namespace chainerx::native
