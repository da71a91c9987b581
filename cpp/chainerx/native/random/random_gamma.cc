// Gamma variates: G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables", ACM
// Transactions on Mathematical Software, 2000. For a normal z, d (1 + c z)^3 is nearly gamma, and
// few are rejected; for a shape below 1, a variate of shape + 1 is scaled by a power of a uniform
// number.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "chainerx/kernels/random/random.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/random/random_loops.h"
#include "chainerx/native/upcast.h"

namespace chainerx::native {
namespace {

constexpr int64_t kChunk = 512;  // elements
constexpr int64_t kGrain = 1 << 13;
constexpr double kLowest = std::numeric_limits<double>::lowest();

template <typename C>
struct Cubes {
    C d;
    C c;

    // A shape beyond the range of C is clamped to its largest number.
    explicit Cubes(double shape)
        : d{static_cast<C>(std::min((shape < 1 ? shape + 1 : shape) - 1.0 / 3,
                                    static_cast<double>(std::numeric_limits<C>::max())))},
          c{1 / std::sqrt(9 * d)} {}

    // Returns whether a variate is accepted by the paper's squeeze. If not, IsRight() decides.
    bool Draw(C z, C u, C* y) const {
        const C t = 1 + c * z;
        *y = d * (t * t * t);
        return (t > 0) & (u < 1 - static_cast<C>(0.0331) * (z * z) * (z * z));
    }
};

bool IsRight(double d, double c, double z, double u) {
    const double t = 1 + c * z;
    if (!(t > 0)) return false;
    const double v = t * t * t;
    return std::log(u) < 0.5 * z * z + d * (1 - v + std::log(v));
}

// Draws an element whose first normal z and u were not accepted by the squeeze.
double DrawSlowly(const philox::Stream& stream, int64_t element, double d, double c, double z,
                  double u) {
    Substream substream{stream, element};
    while (!IsRight(d, c, z, u)) {
        if (substream.is_used_up()) return 0;
        const philox::Block block = substream.Next();
        double unused;
        philox::ToNormals(philox::Join(block.v[0], block.v[1]),
                          philox::Join(block.v[2], block.v[3]), &z, &unused);
        const philox::Block next = substream.Next();
        u = philox::ToUniform(philox::Join(next.v[0], next.v[1]));
    }
    const double t = 1 + c * z;
    return d * (t * t * t);
}

template <typename C>
class GammaChunk {
 public:
    GammaChunk(const philox::Stream& stream, const Each<double>& shapes, bool log)
        : stream_{stream}, shapes_{shapes}, log_{log} {}

    // Draws elements first, ..., first + n - 1; `first` begins a Philox block.
    void Draw(int64_t first, int64_t n, C* out) {
        constexpr int64_t kPer = 16 / sizeof(C);
        const auto block = static_cast<uint64_t>(first / kPer);
        const auto& loops = LoopsOf<C>();
        loops.normal(stream_.seed, stream_.call, block, CeilDiv(n, kPer), z_);
        loops.uniform(stream_.seed, stream_.call, kSecondNumbers + block, CeilDiv(n, kPer), u_);
        if (shapes_.is_one()) {
            DrawAll(first, n, [cubes = Cubes<C>{shapes_[0]}](int64_t) { return cubes; }, out);
        } else {
            DrawAll(first, n, [this](int64_t i) { return Cubes<C>{shapes_[i]}; }, out);
        }
        const bool any_below_one = [&] {
            if (shapes_.is_one()) return shapes_[0] < 1;
            bool any = false;
            for (int64_t i = first; i < first + n; ++i) any |= shapes_[i] < 1;
            return any;
        }();
        if (any_below_one || log_) Finish(first, n, any_below_one, out);
    }

 private:
    void DrawAll(int64_t first, int64_t n, const auto& cubes_of, C* out) {
        for (int64_t j = 0; j < n; ++j) {
            const Cubes<C> cubes = cubes_of(first + j);
            if (!cubes.Draw(z_[j], u_[j], &out[j])) [[unlikely]] {
                out[j] = static_cast<C>(DrawSlowly(stream_, first + j, cubes.d, cubes.c,
                                                   static_cast<double>(z_[j]),
                                                   static_cast<double>(u_[j])));
            }
        }
    }

    void Finish(int64_t first, int64_t n, bool any_below_one, C* out) {
        if (any_below_one) {
            LoopsOf<double>().uniform(stream_.seed, stream_.call,
                                      kThirdNumbers + static_cast<uint64_t>(first / 2),
                                      CeilDiv(n, 2), powers_);
        }
        for (int64_t j = 0; j < n; ++j) {
            const double shape = shapes_[first + j];
            const double power = shape < 1 ? std::log1p(-powers_[j]) / shape : 0;
            const double y = static_cast<double>(out[j]);
            // Logarithms are clamped to finite values, since others are subtracted from them.
            out[j] =
                static_cast<C>(log_ ? std::max(std::log(y) + power, kLowest) : y * std::exp(power));
        }
    }

    philox::Stream stream_;
    Each<double> shapes_;
    bool log_;
    alignas(64) C z_[kChunk];
    alignas(64) C u_[kChunk];
    alignas(64) double powers_[kChunk];
};

void RandomGamma(const Array& state, const Array& shape, bool log, const Array& out) {
    const philox::Stream stream = NextCall(state);
    const Each<double> shapes{shape};
    const int64_t n = out.GetTotalSize();
    VisitUpcast(out, [&]<typename C>(C) {
        C* to = DataOrNull<C>(out);
        ParallelFor(CeilDiv(n, kGrain), [&](int64_t task) {
            GammaChunk<C> chunk{stream, shapes, log};
            const int64_t end = std::min(n, (task + 1) * kGrain);
            for (int64_t i = task * kGrain; i < end; i += kChunk) {
                chunk.Draw(i, std::min(kChunk, end - i), to + i);
            }
        });
    });
}
CX_NATIVE_KERNEL(RandomGamma)

}  // namespace
}  // namespace chainerx::native
