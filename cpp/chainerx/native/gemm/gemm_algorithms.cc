// Matrix products: the table of algorithms, the choice, and the partition among threads.
#include "chainerx/native/gemm/gemm_algorithms.h"

#include <algorithm>
#include <array>
#include <complex>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <type_traits>

#include "chainerx/core/dtype.h"
#include "chainerx/native/algorithm_table.h"
#include "chainerx/native/gemm/blas.h"
#include "chainerx/native/gemm/blas_library.h"
#include "chainerx/native/gemm/blas_product.h"
#include "chainerx/native/gemm/gemm_blocks.h"
#include "chainerx/native/gemm/gemm_plain.h"
#include "chainerx/native/gemm/matrix_vector.h"
#include "chainerx/native/gemm/small_gemm.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/native_kernel.h"

namespace chainerx {
namespace native {

CX_DISPATCH(small_gemm, SmallGemmLoops)

namespace {

// A row of the table, for one type of elements.
template <typename T>
struct GemmAlgorithm {
    const char* name;
    // Whether it computes the product.
    bool (*can)(const MatrixProduct<T>& p);
    // Whether it is chosen, unless one before it is; implies `can`. A function of shape and
    // strides, since the bits of the result depend on it.
    bool (*prefers)(const MatrixProduct<T>& p);
    void (*run)(const MatrixProduct<T>& p);
    // Whether it partitions the product among threads by itself.
    bool is_parallel{false};
};

template <typename T>
bool Always(const MatrixProduct<T>&) {
    return true;
}

// ---- what serves for float32 and float64 ----

// A product of less is not worth a call of a loop.
constexpr int64_t kMinCalled = 8;

// k = 1: memory-bound, and BLAS would pack both operands first.
template <typename T>
bool CanOuter(const MatrixProduct<T>& p) {
    return p.k == 1 && (!p.trans_b || p.ldb == 1);
}
template <typename T>
bool PrefersOuter(const MatrixProduct<T>& p) {
    return CanOuter(p) && p.CountWork() > kMinCalled;
}
template <typename T>
void RunOuter(const MatrixProduct<T>& p) {
    const auto scale = small_gemm_loops().Of<T>().scale;
    for (int64_t i = 0; i < p.m; ++i) {
        scale(p.b, p.a[i * p.a_row()], p.c + i * p.ldc, p.n, p.accumulate);
    }
}

template <typename T>
bool CanSmall(const MatrixProduct<T>& p) {
    return !p.trans_b;
}
// BLAS takes twice as long for 8 x 8 x 8, and as long at this bound.
template <typename T>
bool PrefersSmall(const MatrixProduct<T>& p) {
    constexpr int64_t kMaxWork = (1 << 14) / sizeof(T);
    return CanSmall(p) && p.m > 1 && p.n > 1 && p.CountWork() > kMinCalled &&
           p.CountWork() <= kMaxWork;
}
template <typename T>
void RunSmall(const MatrixProduct<T>& p) {
    small_gemm_loops().Of<T>().product(p.m, p.n, p.k, p.a, p.a_row(), p.a_column(), p.b, p.ldb, p.c,
                                       p.ldc, p.accumulate);
}

// A BLAS call costs a lock, a buffer and 100 ns before its first multiplication; 128
// multiplications take as long.
template <typename T>
bool PrefersTiny(const MatrixProduct<T>& p) {
    return p.CountWork() <= 128;
}
template <typename T>
void RunTiny(const MatrixProduct<T>& p) {
    for (int64_t i = 0; i < p.m; ++i) {
        for (int64_t j = 0; j < p.n; ++j) {
            T sum = p.accumulate ? p.c[i * p.ldc + j] : T{};
            for (int64_t q = 0; q < p.k; ++q) {
                sum +=
                    p.a[i * p.a_row() + q * p.a_column()] * p.b[q * p.b_row() + j * p.b_column()];
            }
            p.c[i * p.ldc + j] = sum;
        }
    }
}

// ---- our own blocked products, of float32 ----

// Thin products are not worth packing.
bool IsWorthPacking(int64_t m, int64_t n, int64_t k) {
    constexpr int64_t kThin = 16;
    return m >= kThin && n >= kThin && k >= kThin && IsForGemmBlocks(m, n, k);
}

template <typename T>
constexpr bool kHasOwn = std::is_same_v<T, float>;

template <typename T>
bool CanOwn(const MatrixProduct<T>&) {
    return kHasOwn<T>;
}
template <typename T>
bool PrefersOwn(const MatrixProduct<T>& p) {
    return kHasOwn<T> && (IsWorthPacking(p.m, p.n, p.k) || GetBlasLibrary().is_avoided);
}
template <typename T>
void RunOwn(const MatrixProduct<T>& p) {
    if constexpr (kHasOwn<T>) {
        GemmBlocks(p.trans_a, p.trans_b, p.m, p.n, p.k, p.a, p.lda, p.b, p.ldb, p.c, p.ldc,
                   p.accumulate);
    }
}

// ---- the rest ----

// A dot product of 1000 numbers takes a third to two thirds of gemv's time.
template <typename T>
bool PrefersDot(const MatrixProduct<T>& p) {
    return CanDot(p) && CanBlas(p);
}

// Packing a panel takes as long as some thousand multiplications.
template <typename T>
bool PrefersThin(const MatrixProduct<T>& p) {
    return p.m == 1 || p.n == 1 || p.k == 1 || p.CountWork() <= 1 << 12;
}

template <typename T, auto kGemm>
void RunLoops(const MatrixProduct<T>& p) {
    kGemm(p.m, p.n, p.k, p.a, p.a_row(), p.a_column(), p.b, p.b_row(), p.b_column(), p.c, p.ldc,
          p.accumulate);
}

// ---- the table ----

// In order of preference; a type has those that it has code for.
template <typename T>
constexpr GemmAlgorithm<T> kAlgorithms[] = {
    {"vector", PrefersVector<T>, PrefersVector<T>, RunVector<T>},
    {"outer", CanOuter<T>, PrefersOuter<T>, RunOuter<T>},
    {"small", CanSmall<T>, PrefersSmall<T>, RunSmall<T>},
    {"tiny", Always<T>, PrefersTiny<T>, RunTiny<T>},
    {"own", CanOwn<T>, PrefersOwn<T>, RunOwn<T>, true},
    {"dot", CanDot<T>, PrefersDot<T>, RunDot<T>},
    {"blas", CanBlas<T>, CanBlas<T>, RunBlas<T>},
    {"plain", Always<T>, Always<T>, RunLoops<T, &PlainGemm<T>>},
};
template <typename R>
constexpr GemmAlgorithm<std::complex<R>> kAlgorithms<std::complex<R>>[] = {
    {"dot", CanDot<std::complex<R>>, PrefersDot<std::complex<R>>, RunDot<std::complex<R>>},
    {"blas", CanBlas<std::complex<R>>, CanBlas<std::complex<R>>, RunBlas<std::complex<R>>},
    {"plain", Always<std::complex<R>>, Always<std::complex<R>>,
     RunLoops<std::complex<R>, &PlainGemm<std::complex<R>>>},
};
template <std::integral T>
constexpr GemmAlgorithm<T> kAlgorithms<T>[] = {
    {"thin", Always<T>, PrefersThin<T>, RunLoops<T, &ThinGemm<T>>},
    {"plain", Always<T>, Always<T>, RunLoops<T, &PlainGemm<T>>},
};

constexpr const char* kNames[] = {"vector", "outer", "small", "tiny", "own",
                                  "dot",    "blas",  "thin",  "plain"};
const AlgorithmChoice g_choice{"matmul", "CHAINERX_MATMUL", kNames};

template <typename T>
constexpr int kCount = static_cast<int>(std::size(kAlgorithms<T>));

// Returns the number of the row of that name in the table of T, or -1.
template <typename T>
int FindRow(std::string_view name) {
    int row = kCount<T> - 1;
    while (row >= 0 && kAlgorithms<T>[row].name != name) --row;
    return row;
}

// Returns the row that is forced for a product that isn't empty, or -1.
template <typename T>
int FindForced(const MatrixProduct<T>& p) {
    const auto can = [&](int name) {
        const int row = FindRow<T>(kNames[name]);
        return row >= 0 && kAlgorithms<T>[row].can(p);
    };
    const int name = FindForcedRow(g_choice, can, [&](const char* forced) {
        ThrowCannotCompute(forced, "product of ", p.m, " x ", p.k, " and ", p.k, " x ", p.n,
                           p.trans_a ? ", the first transposed" : "",
                           p.trans_b ? ", the second transposed" : "", ", dtype ",
                           std::is_integral_v<T> ? "of integers" : GetDtypeName(kDtypeOf<T>));
    });
    return name < 0 ? -1 : FindRow<T>(kNames[name]);
}

// Calls f(row) for the first row that prefers the product.
template <typename T, typename F>
[[gnu::always_inline]] inline void WithPreferred(const MatrixProduct<T>& p, const F& f) {
    WithFirst<kCount<T>>([&](auto row) { return kAlgorithms<T>[row].prefers(p); }, f);
}

// ---- threads ----

// Number of blocks that the longer of m and n is cut into. A function of shape and dtype alone,
// since bits may depend on where blocks end. Measured on one core, float32: four blocks of 256 cost
// 1-3 % at 1000 x 1000, 64 wide ones 6-9 %.
template <typename T>
int64_t CountBlocks(const MatrixProduct<T>& p) {
    const auto [m, n, k] = std::array{p.m, p.n, p.k};
    const bool across = (m == 1 && !p.trans_b) || (n == 1 && p.trans_a);
    constexpr double kWeight = sizeof(T) / 4.0 * (std::is_arithmetic_v<T> ? 1 : 2);
    const double work =
        kWeight * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    // A vector times a block of columns reads short pieces of the matrix's rows: three times
    // slower.
    if (across && work < 0x1p22) return 1;
    if (m == 1 || n == 1 || k == 1) {  // memory-bound: 2^17 takes about 6 us
        return std::clamp<int64_t>(static_cast<int64_t>(std::min(work, 0x1p40) * 0x1p-17), 1, 4);
    }
    if (work < 0x1p20) return 1;  // 20 us
    if (work < 0x1p23) return 2;
    if (work < 0x1p31) return 4;
    if (work < 0x1p34) return 8;
    return work < 0x1p37 ? 16 : 32;
}

constexpr int64_t kBlockUnit = 64;

// Whether a product is certainly not worth several blocks.
template <typename T>
bool IsOneBlock(const MatrixProduct<T>& p) {
    return p.CountWork() < 1 << 15 || std::max(p.m, p.n) <= kBlockUnit;
}

template <typename T>
void RunInBlocks(const MatrixProduct<T>& p, void (*run)(const MatrixProduct<T>&)) {
    const int64_t length = std::max(p.m, p.n);
    const int64_t n_units = CeilDiv(length, kBlockUnit);
    const int64_t n_cuts = std::min(CountBlocks(p), n_units);
    if (n_cuts == 1) return run(p);
    ParallelFor(n_cuts, [&](int64_t i) {
        const int64_t begin = n_units * i / n_cuts * kBlockUnit;
        const int64_t end = std::min(length, n_units * (i + 1) / n_cuts * kBlockUnit);
        // Cuts rows if m == n: blocks of columns write short pieces of the same rows, and each
        // packs all of `a`. At 1000 x 1000 x 100, two threads, cutting rows is 1.6 times as fast.
        run(p.n > p.m ? p.Cols(begin, end) : p.Rows(begin, end));
    });
}

// A block of a product that may choose: the last one may be so short that it takes another row.
template <typename T>
void RunBlock(const MatrixProduct<T>& p) {
    WithPreferred(p, [&](auto row) { kAlgorithms<T>[row].run(p); });
}

// By a row of the table; `run_block` computes the blocks if there are several.
template <typename T>
[[gnu::always_inline]] inline void Run(const GemmAlgorithm<T>& row, const MatrixProduct<T>& p,
                                       void (*run_block)(const MatrixProduct<T>&)) {
    if (row.is_parallel || IsOneBlock(p)) {
        row.run(p);
    } else {
        RunInBlocks(p, run_block);
    }
}

// Returns whether nothing is summed, after writing the zeros.
template <typename T>
bool DidEmpty(const MatrixProduct<T>& p) {
    if (p.m != 0 && p.n != 0 && p.k != 0) [[likely]]
        return false;
    for (int64_t i = 0; p.n != 0 && i < p.m && !p.accumulate; ++i) {
        std::fill_n(p.c + i * p.ldc, p.n, T{});
    }
    return true;
}

// Whether one of the products below takes our own algorithm, and notes it.
bool TakesOwn(const MatrixProduct<float>& p) {
    if (p.m == 0 || p.n == 0 || p.k == 0) return false;
    const int forced = FindForced(p);
    if (forced < 0 ? !IsWorthPacking(p.m, p.n, p.k) : forced != FindRow<float>("own")) return false;
    internal::NoteAlgorithm("own");
    return true;
}

}  // namespace

template <typename T>
void Gemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, const T* a, int64_t lda,
          const T* b, int64_t ldb, T* c, int64_t ldc, bool accumulate) {
    const MatrixProduct<T> p{trans_a, trans_b, accumulate, m, n, k, a, lda, b, ldb, c, ldc};
    if (DidEmpty(p)) return;
    WithPreferred(p, [&](auto row) { Run(kAlgorithms<T>[row], p, RunBlock<T>); });
}

template <typename T>
void ForcibleGemm(const MatrixProduct<T>& p) {
    if (DidEmpty(p)) return;
    if (const int forced = FindForced(p); forced >= 0) [[unlikely]] {
        internal::NoteAlgorithm(kAlgorithms<T>[forced].name);
        Run(kAlgorithms<T>[forced], p, kAlgorithms<T>[forced].run);
        return;
    }
    WithPreferred(p, [&](auto row) {
        internal::NoteAlgorithm(kAlgorithms<T>[row].name);
        Run(kAlgorithms<T>[row], p, RunBlock<T>);
    });
}

template <typename T>
GemmChoice ChooseGemm(const MatrixProduct<T>& p) {
    if (p.m == 0 || p.n == 0 || p.k == 0) return {};
    const int forced = FindForced(p);
    int row = forced;
    if (row < 0) WithPreferred(p, [&](auto preferred) { row = preferred; });
    internal::NoteAlgorithm(kAlgorithms<T>[row].name);
    return {row, forced >= 0};
}

template <typename T>
void RunGemm(const MatrixProduct<T>& p, const GemmChoice& choice) {
    if (DidEmpty(p)) return;
    const GemmAlgorithm<T>& row = kAlgorithms<T>[choice.row];
    Run(row, p, choice.is_forced ? row.run : RunBlock<T>);
}

bool TryGemmAndRow(const MatrixProduct<float>& p, const float* row, bool rectified) {
    if (!TakesOwn(p)) return false;
    GemmBlocks(p.trans_a, p.trans_b, p.m, p.n, p.k, p.a, p.lda, p.b, p.ldb, p.c, p.ldc, false, row,
               rectified);
    return true;
}

bool TryGemmAndSums(const MatrixProduct<float>& p, float* sums) {
    if (!TakesOwn(p)) return false;
    GemmBlocks(p.trans_a, p.trans_b, p.m, p.n, p.k, p.a, p.lda, p.b, p.ldb, p.c, p.ldc, false,
               nullptr, false, sums);
    return true;
}

#define CX_GEMM(T)                                                                            \
    template void Gemm<T>(bool, bool, int64_t, int64_t, int64_t, const T*, int64_t, const T*, \
                          int64_t, T*, int64_t, bool);                                        \
    template void ForcibleGemm<T>(const MatrixProduct<T>&);                                   \
    template GemmChoice ChooseGemm<T>(const MatrixProduct<T>&);                               \
    template void RunGemm<T>(const MatrixProduct<T>&, const GemmChoice&);
CX_GEMM(float)
CX_GEMM(double)
CX_GEMM(std::complex<float>)
CX_GEMM(std::complex<double>)
CX_GEMM(uint32_t)
CX_GEMM(uint64_t)
#undef CX_GEMM

}  // namespace native
}  // namespace chainerx
