// Gamma variates (gamma.h), in chunks.
#include <algorithm>
#include <cstdint>

#include "chainerx/kernels/random/random.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/random/gamma.h"
#include "chainerx/native/random/random_loops.h"
#include "chainerx/native/upcast.h"

namespace chainerx::native {
namespace {

constexpr int64_t kGammaChunk = 512;  // elements
constexpr int64_t kGrain = 1 << 13;

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
            out[j] = static_cast<C>(
                FinishGamma(static_cast<double>(out[j]), shapes_[first + j], powers_[j], log_));
        }
    }

    philox::Stream stream_;
    Each<double> shapes_;
    bool log_;
    alignas(64) C z_[kGammaChunk];
    alignas(64) C u_[kGammaChunk];
    alignas(64) double powers_[kGammaChunk];
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
            for (int64_t i = task * kGrain; i < end; i += kGammaChunk) {
                chunk.Draw(i, std::min(kGammaChunk, end - i), to + i);
            }
        });
    });
}
CX_NATIVE_KERNEL(RandomGamma)

}  // namespace
}  // namespace chainerx::native
