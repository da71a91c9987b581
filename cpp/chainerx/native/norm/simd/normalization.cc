// SIMD loops of normalizations: moments, sums of products, and the results.
#include "chainerx/native/norm/normalization_loops.h"
#include "chainerx/native/norm/simd/moments.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

// ---- sums of (x - center), g, g * (x - center) -------------------------------------------------

template <typename T>
struct DotSums {
    NormSums<T> d;
    NormSums<T> g;
    NormSums<T> gd;

    void Add(auto k, const Batch<T>& distance, const Batch<T>& gy) {
        d.part[k] += distance;
        g.part[k] += gy;
        gd.part[k] = xsimd::fma(gy, distance, gd.part[k]);
    }
    void Flush(double* sums) const {
        sums[0] += static_cast<double>(d.total());
        sums[1] += static_cast<double>(g.total());
        sums[2] += static_cast<double>(gd.total());
    }
};

template <typename T>
inline void DotsOfBlock(const T* x, const T* g, int64_t runs, int64_t stride, int64_t n, T center,
                        double* sums) {
    const Batch<T> c(center);
    DotSums<T> s;
    for (int64_t r = 0; r < runs; ++r, x += stride, g += stride) {
        ForLanes<T, NormLanes<T>()>(0, n, [&]<bool kPart>(auto k, int64_t i, int64_t part) {
            s.Add(k, DistanceAt<kPart>(x + i, part, c), LoadAt<kPart>(g + i, 0, part));
        });
    }
    s.Flush(sums);
}

template <typename T>
void Dots(const T* x, const T* g, int64_t runs, int64_t stride, int64_t n, T center, double* sums) {
    ForBlocks(runs, stride, n, [&](int64_t offset, int64_t count, int64_t length) {
        DotsOfBlock(x + offset, g + offset, count, stride, length, center, sums);
    });
}

template <typename T>
void ColumnDots(const T* x, const T* g, int64_t rows, int64_t stride, int64_t width,
                const T* center, double* sums, int64_t plane) {
    ForRowGroups(rows, [&](int64_t first, int64_t count) {
        const T* x0 = x + first * stride;
        const T* g0 = g + first * stride;
        ForColumns<T>(width, [&]<int kBatches, bool kPart>(int64_t j, int64_t part) {
            Batch<T> c[kBatches];
            Batch<T> s[3][kBatches];
            for (int k = 0; k < kBatches; ++k) {
                c[k] = LoadAt<kPart>(center + j, k, part);
                s[0][k] = s[1][k] = s[2][k] = Batch<T>(T(0));
            }
            for (int64_t r = 0; r < count; ++r) {
                for (int k = 0; k < kBatches; ++k) {
                    const Batch<T> d = LoadAt<kPart>(x0 + r * stride + j, k, part) - c[k];
                    const Batch<T> gy = LoadAt<kPart>(g0 + r * stride + j, k, part);
                    s[0][k] += d;
                    s[1][k] += gy;
                    s[2][k] = xsimd::fma(gy, d, s[2][k]);
                }
            }
            for (int k = 0; k < kBatches; ++k) {
                ForWide<T, kPart>(
                    k, part, [&]<bool kSome>(int64_t lane, int64_t some, const auto& widen) {
                        for (int q = 0; q < 3; ++q) {
                            double* to = sums + q * plane + j + lane;
                            StoreAt<kSome>(to, 0, some,
                                           LoadAt<kSome>(to, 0, some) + widen(s[q][k]));
                        }
                    });
            }
        });
    });
}

// ---- results -----------------------------------------------------------------------------------

template <typename T>
void Affine(const T* x, int64_t runs, int64_t stride, int64_t n, const T* p, int64_t p_step, T* y) {
    constexpr int64_t kSize = Batch<T>::size;
    for (int64_t r = 0; r < runs; ++r, x += stride, y += stride, p += p_step) {
        const Batch<T> center(p[0]);
        const Batch<T> scale(p[1]);
        const Batch<T> shift(p[2]);
        const auto f = [&](const Batch<T>& v) { return xsimd::fma(v - center, scale, shift); };
        int64_t i = 0;
        for (; i + kSize <= n; i += kSize) f(Load(x + i)).store_unaligned(y + i);
        if (i < n) StorePart(y + i, f(LoadPart(x + i, n - i)), n - i);
    }
}

template <typename T>
void Affine2(const T* x, const T* g, int64_t runs, int64_t stride, int64_t n, const T* p,
             int64_t p_step, T* y) {
    constexpr int64_t kSize = Batch<T>::size;
    for (int64_t r = 0; r < runs; ++r, x += stride, g += stride, y += stride, p += p_step) {
        const Batch<T> center(p[0]);
        const Batch<T> scale(p[1]);
        const Batch<T> of_g(p[2]);
        const Batch<T> shift(p[3]);
        const auto f = [&](const Batch<T>& v, const Batch<T>& gy) {
            return xsimd::fma(v - center, scale, xsimd::fma(gy, of_g, shift));
        };
        int64_t i = 0;
        for (; i + kSize <= n; i += kSize) f(Load(x + i), Load(g + i)).store_unaligned(y + i);
        if (i < n) StorePart(y + i, f(LoadPart(x + i, n - i), LoadPart(g + i, n - i)), n - i);
    }
}

// Calls f<is_part>(i, part) for all batches of a row; the last one may have only `part` elements.
template <typename T, typename F>
inline void ForBatches(int64_t n, const F& f) {
    constexpr int64_t kSize = Batch<T>::size;
    int64_t i = 0;
    for (; i + kSize <= n; i += kSize) f.template operator()<false>(i, 0);
    if (i < n) f.template operator()<true>(i, n - i);
}

// Calls f<rows>(first row) for four rows at a time, which share the loads of column values, then
// for single rows.
inline void ForSomeRows(int64_t rows, const auto& f) {
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) f.template operator()<4>(r);
    for (; r < rows; ++r) f.template operator()<1>(r);
}

template <typename T>
void ColumnAffine(const T* x, int64_t rows, int64_t stride, int64_t width, const T* p,
                  int64_t plane, T* y) {
    ForSomeRows(rows, [&]<int kRows>(int64_t first) {
        ForBatches<T>(width, [&]<bool kPart>(int64_t j, int64_t part) {
            Batch<T> q[3];
            for (int m = 0; m < 3; ++m) q[m] = LoadAt<kPart>(p + m * plane + j, 0, part);
            for (int r = 0; r < kRows; ++r) {
                const int64_t at = (first + r) * stride + j;
                const Batch<T> v = LoadStreamAt<kPart>(x + at, 0, part);
                StoreAt<kPart>(y + at, 0, part, xsimd::fma(v - q[0], q[1], q[2]));
            }
        });
    });
}

template <typename T>
void ColumnAffine2(const T* x, const T* g, int64_t rows, int64_t stride, int64_t width, const T* p,
                   int64_t plane, T* y) {
    ForSomeRows(rows, [&]<int kRows>(int64_t first) {
        ForBatches<T>(width, [&]<bool kPart>(int64_t j, int64_t part) {
            Batch<T> q[4];
            for (int m = 0; m < 4; ++m) q[m] = LoadAt<kPart>(p + m * plane + j, 0, part);
            for (int r = 0; r < kRows; ++r) {
                const int64_t at = (first + r) * stride + j;
                const Batch<T> v = LoadStreamAt<kPart>(x + at, 0, part);
                const Batch<T> gy = LoadStreamAt<kPart>(g + at, 0, part);
                StoreAt<kPart>(y + at, 0, part,
                               xsimd::fma(v - q[0], q[1], xsimd::fma(gy, q[2], q[3])));
            }
        });
    });
}

// ---- rows with gamma and beta per element ------------------------------------------------------

template <typename T>
void Row(const T* x, int64_t n, const T* p, const T* gamma, const T* beta, T* y) {
    const Batch<T> center(p[0]);
    const Batch<T> scale(p[1]);
    const Batch<T> shift(p[2]);
    ForBatches<T>(n, [&]<bool kPart>(int64_t i, int64_t part) {
        const Batch<T> u = xsimd::fma(LoadAt<kPart>(x + i, 0, part) - center, scale, shift);
        StoreAt<kPart>(
            y + i, 0, part,
            xsimd::fma(u, LoadAt<kPart>(gamma + i, 0, part), LoadAt<kPart>(beta + i, 0, part)));
    });
}

template <typename T>
void RowDots(const T* x, const T* g, const T* gamma, int64_t n, T center, double* sums) {
    const Batch<T> c(center);
    ForBlocks(1, 0, n, [&](int64_t first, int64_t, int64_t length) {
        const T* x0 = x + first;
        const T* g0 = g + first;
        const T* gamma0 = gamma + first;
        DotSums<T> s;
        ForLanes<T, NormLanes<T>()>(0, length, [&]<bool kPart>(auto k, int64_t i, int64_t part) {
            s.Add(k, DistanceAt<kPart>(x0 + i, part, c),
                  LoadAt<kPart>(g0 + i, 0, part) * LoadAt<kPart>(gamma0 + i, 0, part));
        });
        s.Flush(sums);
    });
}

template <typename T, int kRows, bool kWrites>
inline void GradOfRows(const T* x, const T* g, int64_t stride, int64_t n, const T* p,
                       const T* gamma, T* ggamma, T* gbeta, T* gx) {
    Batch<T> q[kRows][kRowParams];
    for (int r = 0; r < kRows; ++r) {
        for (int k = 0; k < kRowParams; ++k) q[r][k] = Batch<T>(p[r * kRowParams + k]);
    }
    ForBatches<T>(n, [&]<bool kPart>(int64_t i, int64_t part) {
        const Batch<T> scale = kWrites ? LoadAt<kPart>(gamma + i, 0, part) : Batch<T>(T(0));
        Batch<T> of_gamma = LoadAt<kPart>(ggamma + i, 0, part);
        Batch<T> of_beta = LoadAt<kPart>(gbeta + i, 0, part);
        for (int r = 0; r < kRows; ++r) {
            const Batch<T> gy = LoadAt<kPart>(g + r * stride + i, 0, part);
            const Batch<T> d = LoadAt<kPart>(x + r * stride + i, 0, part) - q[r][0];
            of_gamma = xsimd::fma(gy, xsimd::fma(d, q[r][1], q[r][2]), of_gamma);
            of_beta += gy;
            if constexpr (kWrites) {
                StoreAt<kPart>(gx + r * stride + i, 0, part,
                               xsimd::fma(gy * scale, q[r][1], xsimd::fma(d, q[r][3], q[r][4])));
            }
        }
        StoreAt<kPart>(ggamma + i, 0, part, of_gamma);
        StoreAt<kPart>(gbeta + i, 0, part, of_beta);
    });
}

template <typename T, bool kWrites>
inline void GradOfAllRows(const T* x, const T* g, int64_t rows, int64_t stride, int64_t n,
                          const T* p, const T* gamma, T* ggamma, T* gbeta, T* gx) {
    int64_t r = 0;
    const auto run = [&]<int kRows>() {
        T* to = kWrites ? gx + r * stride : nullptr;
        GradOfRows<T, kRows, kWrites>(x + r * stride, g + r * stride, stride, n, p + r * kRowParams,
                                      gamma, ggamma, gbeta, to);
        r += kRows;
    };
    while (r + 4 <= rows) run.template operator()<4>();
    while (r < rows) run.template operator()<1>();
}

template <typename T>
void RowGrad(const T* x, const T* g, int64_t rows, int64_t stride, int64_t n, const T* p,
             const T* gamma, T* ggamma, T* gbeta, T* gx) {
    if (gx != nullptr) {
        GradOfAllRows<T, true>(x, g, rows, stride, n, p, gamma, ggamma, gbeta, gx);
    } else {
        GradOfAllRows<T, false>(x, g, rows, stride, n, p, gamma, ggamma, gbeta, gx);
    }
}

template <typename T>
void Flush(T* x, int64_t n, bool is_first, double* sums) {
    ForBatches<T>(n, [&]<bool kPart>(int64_t i, int64_t part) {
        const Batch<T> v = LoadAt<kPart>(x + i, 0, part);
        ForWide<T, kPart>(0, part, [&]<bool kSome>(int64_t lane, int64_t some, const auto& widen) {
            double* to = sums + i + lane;
            StoreAt<kSome>(to, 0, some,
                           is_first ? widen(v) : LoadAt<kSome>(to, 0, some) + widen(v));
        });
        StoreAt<kPart>(x + i, 0, part, Batch<T>(T(0)));
    });
}

template <typename T>
constexpr NormalizationLoops<T> kLoops = {
    Moments<T>, ColumnMoments<T>, Dots<T>, ColumnDots<T>, Affine<T>,  ColumnAffine<T>,
    Affine2<T>, ColumnAffine2<T>, Row<T>,  RowDots<T>,    RowGrad<T>, Flush<T>,
};

}  // namespace

CX_EXPORT_LOOPS(NormalizationIsaLoops){kLoops<float>, kLoops<double>};

}  // namespace chainerx::native::CX_ISA
