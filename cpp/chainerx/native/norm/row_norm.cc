// Row normalization: layer, group and instance normalization.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "chainerx/kernels/norm/normalization.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/norm/normalization_common.h"
#include "chainerx/native/norm/row_order.h"
#include "chainerx/native/upcast.h"

namespace chainerx::native {

CX_DISPATCH(normalization, NormalizationIsaLoops)

namespace {

constexpr int64_t kGrain = 1 << 14;  // elements worth a thread
constexpr int64_t kStreamGrain = kNormPiece;
constexpr int64_t kRowsAtOnce = 4;
constexpr int64_t kNearby = 1 << 12;  // elements
constexpr int64_t kTile = 4096;       // columns of a task

// x is (n, g, k, s). If s is short, gamma and beta are expanded over it, and s is 1.
struct RowShape {
    int64_t n;
    int64_t g;
    int64_t k;
    int64_t s;

    explicit RowShape(const Array& x)
        : n{x.shape()[0]}, g{x.shape()[1]}, k{x.shape()[2]}, s{x.shape()[3]} {}
    int64_t rows() const { return n * g; }
    int64_t length() const { return k * s; }
    int64_t image() const { return g * k * s; }
    // Whether each element has its own gamma.
    bool is_by_element() const { return s < kNormLongRun; }
};

template <typename T>
std::unique_ptr<T[]> Allocate(int64_t n) {
    return std::unique_ptr<T[]>{new T[static_cast<size_t>(n)]};
}

// Expands values of (g, k) to each element of (g, k, s); null if there are none.
template <typename T>
class Spread {
 public:
    Spread(const T* p, const RowShape& shape) : p_{shape.is_by_element() ? p : nullptr} {
        if (p_ == nullptr || shape.s == 1) return;
        own_ = Allocate<T>(shape.image());
        for (int64_t i = 0; i < shape.g * shape.k; ++i) {
            std::fill_n(own_.get() + i * shape.s, shape.s, p[i]);
        }
        p_ = own_.get();
    }
    const T* get() const { return p_; }

 private:
    const T* p_;
    std::unique_ptr<T[]> own_;
};

// ---- forward
// -----------------------------------------------------------------------------------

template <typename T>
struct Forward {
    const NormalizationLoops<T>& loops;
    const RowShape shape;
    const T* x;
    const T* gamma;
    const T* beta;
    bool centered;
    double eps;
    T* y;
    T* mean;
    T* inv_std;

    struct Row {
        double mean;
        double r;
    };

    // Computes the statistics of a row from its moments.
    Row Finish(int64_t row, double exact_mean, double square) const {
        const double r = 1 / std::sqrt(square / static_cast<double>(shape.length()) + eps);
        mean[row] = static_cast<T>(exact_mean);
        inv_std[row] = static_cast<T>(r);
        return {exact_mean, r};
    }

    // Writes elements [begin, begin + count) of a row.
    void Write(int64_t row, const Row& statistics, int64_t begin, int64_t count,
               const T* wide_gamma, const T* wide_beta) const {
        const int64_t length = shape.length();
        const int64_t group = row % shape.g;
        const T* from = x + row * length + begin;
        T* to = y + row * length + begin;
        const auto center = static_cast<T>(statistics.mean);
        const double rest = statistics.mean - static_cast<double>(center);
        if (shape.is_by_element()) {
            const T p[] = {center, static_cast<T>(statistics.r),
                           static_cast<T>(-rest * statistics.r)};
            const int64_t at = group * length + begin;
            loops.row(from, count, p, wide_gamma + at, wide_beta + at, to);
            return;
        }
        // Handles whole channels, or a part of one.
        const int64_t s = shape.s;
        for (int64_t i = 0; i < count;) {
            const int64_t channel = group * shape.k + (begin + i) / s;
            const int64_t n = std::min(count - i, s - (begin + i) % s);
            const double scale = static_cast<double>(gamma[channel]) * statistics.r;
            const T p[] = {center, static_cast<T>(scale),
                           static_cast<T>(static_cast<double>(beta[channel]) - rest * scale)};
            loops.affine(from + i, 1, 0, n, p, 0, to + i);
            i += n;
        }
    }

    void Run() const {
        const int64_t rows = shape.rows();
        const int64_t length = shape.length();
        const Spread<T> wide_gamma{gamma, shape};
        const Spread<T> wide_beta{beta, shape};
        if (IsOneNormPiece(length, rows)) {
            const int64_t group = std::max<int64_t>(1, kGrain / length);
            // Sums several rows while they are in cache, so that their additions overlap.
            const int64_t at_once = std::clamp<int64_t>(kNearby / length, 1, kRowsAtOnce);
            ParallelFor(CeilDiv(rows, group), [&](int64_t task) {
                const int64_t end = std::min(rows, (task + 1) * group);
                for (int64_t first = task * group; first < end; first += at_once) {
                    const int64_t count = std::min(at_once, end - first);
                    Row statistics[kRowsAtOnce];
                    for (int64_t i = 0; i < count; ++i) {
                        double sums[2];
                        loops.moments(x + (first + i) * length, 1, 0, length, centered, sums);
                        statistics[i] = Finish(first + i, sums[0], sums[1]);
                    }
                    for (int64_t i = 0; i < count; ++i) {
                        Write(first + i, statistics[i], 0, length, wide_gamma.get(),
                              wide_beta.get());
                    }
                }
            });
            return;
        }
        const int64_t pieces = CeilDiv(length, kStreamGrain);
        const auto size = [&](int64_t piece) {
            return std::min(kStreamGrain, length - piece * kStreamGrain);
        };
        const auto sums = Allocate<double>(2 * rows * pieces);
        ParallelFor(rows * pieces, [&](int64_t task) {
            const int64_t piece = task % pieces;
            loops.moments(x + task / pieces * length + piece * kStreamGrain, 1, 0, size(piece),
                          centered, sums.get() + 2 * task);
        });
        const auto statistics = Allocate<Row>(rows);
        for (int64_t row = 0; row < rows; ++row) {
            double* all = sums.get() + 2 * row * pieces;
            for (int64_t piece = 1; piece < pieces; ++piece) {
                JoinMoments(&all[0], &all[1], piece * kStreamGrain, all[2 * piece],
                            all[2 * piece + 1], size(piece));
            }
            statistics[row] = Finish(row, all[0], all[1]);
        }
        ParallelFor(rows * pieces, [&](int64_t task) {
            const int64_t row = task / pieces;
            const int64_t piece = task % pieces;
            Write(row, statistics[row], piece * kStreamGrain, size(piece), wide_gamma.get(),
                  wide_beta.get());
        });
    }
};

void RowNorm(const Array& x, const Array& gamma, const Array& beta, bool centered, double eps,
             const Array& y, const Array& mean, const Array& inv_std) {
    if (RunUpcast(y, [&](const Array& wide) {
            RowNorm(ToFloat32(x), gamma, beta, centered, eps, wide, mean, inv_std);
        })) {
        return;
    }
    VisitUpcast(normalization_loops(), x.dtype(),
                [&]<typename T>(const NormalizationLoops<T>& loops) {
                    const Forward<T> op{loops,         RowShape{x},     Data<T>(x), Data<T>(gamma),
                                        Data<T>(beta), centered,        eps,        Data<T>(y),
                                        Data<T>(mean), Data<T>(inv_std)};
                    op.Run();
                });
}
CX_NATIVE_KERNEL(RowNorm)

// ---- backward
// ----------------------------------------------------------------------------------

template <typename T>
struct Backward {
    const NormalizationLoops<T>& loops;
    const RowShape shape;
    const T* x;
    const T* gamma;
    const T* mean;  // null, as inv_std, to recompute them
    const T* inv_std;
    const T* g;
    bool centered;
    double eps;
    T* gx;  // null if not requested
    T* ggamma;
    T* gbeta;

    // Parameters of gx, from the sums of d = x - mean, h = g * gamma, and h * d: gx = r * (h -
    // mean of h - u * mean of h * u), where u = (d - rest) * r.
    struct Row {
        double rest;  // rounding error of the mean
        double r;
        double of_u;
        double shift;
    };
    static Row Finish(const RowShape& shape, bool centered, double r, const double* sums) {
        const double one_of_count = 1 / static_cast<double>(shape.length());
        const double rest = centered ? sums[0] * one_of_count : 0;
        const double product = (sums[2] - rest * sums[1]) * r * one_of_count;
        return {rest, r, -r * product, centered ? -r * sums[1] * one_of_count : 0};
    }

    void Run() {
        const Spread<T> wide{gamma, shape};
        if (shape.is_by_element() && shape.length() <= kNormShortRow) {
            RunShortRows(wide.get());
            return;
        }
        const auto own = Allocate<T>(mean == nullptr ? 2 * shape.rows() : 0);
        if (mean == nullptr) {
            T* const to = own.get();
            ParallelFor(shape.rows(), [&](int64_t row) {
                const Statistics of = StatisticsOf(row);
                to[row] = of.mean;
                to[shape.rows() + row] = of.r;
            });
            mean = to;
            inv_std = to + shape.rows();
        }
        if (shape.is_by_element()) {
            RunColumns(wide.get());
        } else {
            RunChannels();
        }
    }

    struct Statistics {
        T mean;
        T r;
    };
    Statistics StatisticsOf(int64_t row) const {
        if (mean != nullptr) return {mean[row], inv_std[row]};
        const int64_t length = shape.length();
        double sums[2];
        loops.moments(x + row * length, 1, 0, length, centered, sums);
        return {static_cast<T>(sums[0]),
                static_cast<T>(1 / std::sqrt(sums[1] / static_cast<double>(length) + eps))};
    }

    void SetParams(const Statistics& statistics, const double* sums, T* p) const {
        const Row of = Finish(shape, centered, static_cast<double>(statistics.r), sums);
        p[0] = statistics.mean;
        p[1] = static_cast<T>(of.r);
        p[2] = static_cast<T>(-of.rest * of.r);
        p[3] = static_cast<T>(of.of_u * of.r);
        p[4] = static_cast<T>(of.shift - of.of_u * of.r * of.rest);
    }

    // Sums g * u and g over rows begin, begin + step, ... of `width` columns into `sums` (2,
    // width), a few rows at a time in T.
    void SumRows(int64_t rows, int64_t width, double* sums, T* buffer, const auto& add) const {
        std::fill_n(buffer, 2 * width, T{0});
        for (int64_t first = 0; first < rows; first += kNormRows) {
            if (first != 0) internal::CheckInterrupt();
            add(first, std::min(kNormRows, rows - first), buffer, buffer + width);
            loops.flush(buffer, 2 * width, first == 0, sums);
        }
    }

    // Reduces sums of elements, in planes of `image()`, to those of (g, k).
    void StoreParams(const double* of_gamma, const double* of_beta, int64_t first,
                     int64_t count) const {
        if (shape.s == 1) {
            for (int64_t i = 0; i < count; ++i) ggamma[first + i] = static_cast<T>(of_gamma[i]);
            for (int64_t i = 0; i < count; ++i) gbeta[first + i] = static_cast<T>(of_beta[i]);
            return;
        }
        for (int64_t i = 0; i < count; ++i) {
            double a = 0;
            double b = 0;
            for (int64_t j = i * shape.s; j < (i + 1) * shape.s; ++j) {
                a += of_gamma[j];
                b += of_beta[j];
            }
            ggamma[first + i] = static_cast<T>(a);
            gbeta[first + i] = static_cast<T>(b);
        }
    }

    // Handles blocks of images, and the rows of each while they are in cache.
    void RunShortRows(const T* wide) const {
        const int64_t length = shape.length();
        const int64_t image = shape.image();
        const int64_t block = GammaBlock(shape.n, image, length);
        const int64_t blocks = CeilDiv(shape.n, block);
        const auto partial = Allocate<double>(blocks * 2 * image);
        ParallelFor(blocks * shape.g, [&](int64_t task) {
            const int64_t b = task / shape.g;
            const int64_t group = task % shape.g;
            const int64_t first = b * block;
            const auto buffer = Allocate<T>(2 * length);
            // (g, 2, length) of each block
            SumRows(std::min(block, shape.n - first), length,
                    partial.get() + (b * shape.g + group) * 2 * length, buffer.get(),
                    [&](int64_t begin, int64_t count, T* of_gamma, T* of_beta) {
                        RunRows(first + begin, count, group, wide + group * length, of_gamma,
                                of_beta);
                    });
        });
        for (int64_t b = 1; b < blocks; ++b) {
            const double* more = partial.get() + b * 2 * image;
            for (int64_t j = 0; j < 2 * image; ++j) partial[j] += more[j];
        }
        for (int64_t group = 0; group < shape.g; ++group) {
            const double* sums = partial.get() + group * 2 * length;
            StoreParams(sums, sums + length, group * shape.k, shape.k);
        }
    }

    // Handles rows of one group, four at a time.
    void RunRows(int64_t image, int64_t count, int64_t group, const T* wide, T* of_gamma,
                 T* of_beta) const {
        const int64_t length = shape.length();
        for (int64_t i = 0; i < count; i += kRowsAtOnce) {
            const int64_t rows = std::min(kRowsAtOnce, count - i);
            T params[kRowsAtOnce * kRowParams];
            const int64_t first = (image + i) * shape.g + group;
            for (int64_t k = 0; k < rows; ++k) {
                const int64_t row = first + k * shape.g;
                double sums[3] = {};
                const Statistics statistics = StatisticsOf(row);
                loops.row_dots(x + row * length, g + row * length, wide, length, statistics.mean,
                               sums);
                SetParams(statistics, sums, params + k * kRowParams);
            }
            loops.row_grad(x + first * length, g + first * length, rows, shape.image(), length,
                           params, wide, of_gamma, of_beta,
                           gx == nullptr ? nullptr : gx + first * length);
        }
    }

    // Long rows: first their sums, then tiles of columns over all rows.
    void RunColumns(const T* wide) const {
        const int64_t rows = shape.rows();
        const int64_t length = shape.length();
        const int64_t pieces = CeilDiv(length, kStreamGrain);
        const auto sums = Allocate<double>(3 * rows * pieces);
        std::fill_n(sums.get(), 3 * rows * pieces, 0.0);
        ParallelFor(rows * pieces, [&](int64_t task) {
            const int64_t row = task / pieces;
            const int64_t begin = task % pieces * kStreamGrain;
            const int64_t at = row * length + begin;
            loops.row_dots(x + at, g + at, wide + row % shape.g * length + begin,
                           std::min(kStreamGrain, length - begin), mean[row],
                           sums.get() + 3 * task);
        });
        // Parameters of one group are adjacent.
        const auto params = Allocate<T>(rows * kRowParams);
        for (int64_t row = 0; row < rows; ++row) {
            double all[3] = {};
            for (int64_t i = 0; i < 3 * pieces; ++i) all[i % 3] += sums[row * 3 * pieces + i];
            SetParams(StatisticsOf(row), all,
                      params.get() + (row % shape.g * shape.n + row / shape.g) * kRowParams);
        }
        const auto totals = Allocate<double>(2 * shape.image());
        const int64_t tile = kTile / shape.s * shape.s;
        const int64_t tiles = CeilDiv(length, tile);
        ParallelFor(shape.g * tiles, [&](int64_t task) {
            const int64_t group = task / tiles;
            const int64_t begin = task % tiles * tile;
            const int64_t width = std::min(tile, length - begin);
            const int64_t at = group * length + begin;
            double* own = totals.get() + 2 * at;
            T buffer[2 * kTile];
            SumRows(shape.n, width, own, buffer,
                    [&](int64_t first, int64_t count, T* of_gamma, T* of_beta) {
                        const int64_t offset = first * shape.image() + at;
                        loops.row_grad(x + offset, g + offset, count, shape.image(), width,
                                       params.get() + (group * shape.n + first) * kRowParams,
                                       wide + at, of_gamma, of_beta,
                                       gx == nullptr ? nullptr : gx + offset);
                    });
            StoreParams(own, own + width, at / shape.s, width / shape.s);
        });
    }

    // Channels with their own gamma: sums of each, then of the row.
    void RunChannels() const {
        const int64_t rows = shape.rows();
        const int64_t length = shape.length();
        const int64_t channels = shape.g * shape.k;
        const int64_t s = shape.s;
        const auto sums = Allocate<double>(3 * shape.n * channels);
        const auto dots = [&](int64_t row, int64_t k) {
            double* own = sums.get() + 3 * (row * shape.k + k);
            own[0] = own[1] = own[2] = 0;
            const int64_t at = row * length + k * s;
            loops.dots(x + at, g + at, 1, 0, s, mean[row], own);
        };
        // Completes a row from its sums; those of its channels become ggamma and gbeta of one
        // image.
        const auto finish = [&](int64_t row) {
            const T* scale = gamma + row % shape.g * shape.k;
            double* own = sums.get() + 3 * row * shape.k;
            double all[3] = {};
            for (int64_t k = 0; k < shape.k; ++k) {
                const auto of_k = static_cast<double>(scale[k]);
                all[0] += own[3 * k];
                all[1] += own[3 * k + 1] * of_k;
                all[2] += own[3 * k + 2] * of_k;
            }
            const Row of = Finish(shape, centered, static_cast<double>(inv_std[row]), all);
            for (int64_t k = 0; k < shape.k; ++k) {
                own[3 * k + 2] = (own[3 * k + 2] - of.rest * own[3 * k + 1]) * of.r;
            }
            return of;
        };
        const auto write = [&](int64_t row, const Row& of, int64_t first, int64_t count) {
            const T* scale = gamma + row % shape.g * shape.k;
            for (int64_t k = first; k < first + count; ++k) {
                // of_u * u, where u = (d - rest) * r
                const double of_x = of.of_u * of.r;
                const T p[] = {mean[row], static_cast<T>(of_x),
                               static_cast<T>(static_cast<double>(scale[k]) * of.r),
                               static_cast<T>(of.shift - of_x * of.rest)};
                const int64_t at = row * length + k * s;
                loops.affine2(x + at, g + at, 1, 0, s, p, 0, gx + at);
            }
        };
        if (IsOneNormPiece(length, rows)) {
            const int64_t group = std::max<int64_t>(1, kGrain / length);
            ParallelFor(CeilDiv(rows, group), [&](int64_t task) {
                for (int64_t row = task * group; row < std::min(rows, (task + 1) * group); ++row) {
                    for (int64_t k = 0; k < shape.k; ++k) dots(row, k);
                    const Row of = finish(row);
                    if (gx != nullptr) write(row, of, 0, shape.k);
                }
            });
        } else {
            const int64_t part = std::max<int64_t>(1, kStreamGrain / s);  // channels of a task
            const int64_t parts = CeilDiv(shape.k, part);
            const auto for_parts = [&](const auto& f) {
                ParallelFor(rows * parts, [&](int64_t task) {
                    const int64_t first = task % parts * part;
                    f(task / parts, first, std::min(part, shape.k - first));
                });
            };
            for_parts([&](int64_t row, int64_t first, int64_t count) {
                for (int64_t k = first; k < first + count; ++k) dots(row, k);
            });
            const auto all = Allocate<Row>(rows);
            for (int64_t row = 0; row < rows; ++row) all[row] = finish(row);
            if (gx != nullptr) {
                for_parts([&](int64_t row, int64_t first, int64_t count) {
                    write(row, all[row], first, count);
                });
            }
        }
        for (int64_t c = 0; c < channels; ++c) {
            double of_gamma = 0;
            double of_beta = 0;
            for (int64_t i = 0; i < shape.n; ++i) {
                const double* own = sums.get() + 3 * (i * channels + c);
                of_gamma += own[2];
                of_beta += own[1];
            }
            ggamma[c] = static_cast<T>(of_gamma);
            gbeta[c] = static_cast<T>(of_beta);
        }
    }
};

void RowNormGrad(const Array& x, const Array& gamma, const Array& mean, const Array& inv_std,
                 const Array& gy, bool centered, double eps, const Array& gx, const Array& ggamma,
                 const Array& gbeta) {
    if (RunUpcast(gx, IsHalf(x), [&](const Array& wide) {
            RowNormGrad(ToFloat32(x), gamma, mean, inv_std, ToFloat32(gy), centered, eps, wide,
                        ggamma, gbeta);
        })) {
        return;
    }
    VisitUpcast(normalization_loops(), x.dtype(),
                [&]<typename T>(const NormalizationLoops<T>& loops) {
                    const bool is_given = mean.GetTotalSize() != 0;
                    Backward<T> op{loops,
                                   RowShape{x},
                                   Data<T>(x),
                                   Data<T>(gamma),
                                   is_given ? Data<T>(mean) : nullptr,
                                   is_given ? Data<T>(inv_std) : nullptr,
                                   Data<T>(gy),
                                   centered,
                                   eps,
                                   gx.GetTotalSize() == 0 ? nullptr : Data<T>(gx),
                                   Data<T>(ggamma),
                                   Data<T>(gbeta)};
                    op.Run();
                });
}
CX_NATIVE_KERNEL(RowNormGrad)

}  // namespace
}  // namespace chainerx::native
