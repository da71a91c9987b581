// Poisson and binomial variates (counts.h).
#include <cstdint>

#include "chainerx/kernels/random/random.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/random/counts.h"
#include "chainerx/native/random/random_loops.h"

namespace chainerx::native {
namespace {

// The sums of PoissonSum as a table, for many variates.
class PoissonTable {
 public:
    explicit PoissonTable(double mean) {
        PoissonSum sum{mean};
        do {
            sums_[last_++] = sum.sum();
        } while (last_ < kSize && sum.Next());
        --last_;
        int16_t k = 0;
        for (int g = 0; g < kGuides; ++g) {
            while (k < last_ && sums_[k] <= static_cast<double>(g) / kGuides) ++k;
            guides_[g] = k;
        }
    }

    int64_t Find(double u) const {
        int64_t k = guides_[static_cast<int>(u * kGuides)];
        while (k < last_ && u >= sums_[k]) ++k;
        return k;
    }

 private:
    static constexpr int kSize = 128;  // a mean of 10 needs fewer than 70
    static constexpr int kGuides = 256;

    double sums_[kSize];
    int16_t guides_[kGuides];
    int16_t last_{0};
};

void RandomPoisson(const Array& state, const Array& mean, const Array& out) {
    const philox::Stream stream = NextCall(state);
    const Each<double> means{mean};
    auto* to = reinterpret_cast<int64_t*>(out.raw_data());
    const int64_t n = out.GetTotalSize();
    if (n == 0) return;
    if (!means.is_one()) {
        ForPairs(stream, n, [&](int64_t i, double u, double v) {
            to[i] = DrawPoisson(stream, i, means[i], u, v);
        });
    } else if (means[0] < kSmallMean) {
        const PoissonTable table{means[0]};
        ForPairs(stream, n, [&](int64_t i, double u, double) { to[i] = table.Find(u); });
    } else {
        const PoissonRejection accept{means[0]};
        ForPairs(stream, n,
                 [&](int64_t i, double u, double v) { to[i] = Reject(stream, i, u, v, accept); });
    }
}
CX_NATIVE_KERNEL(RandomPoisson)

void RandomBinomial(const Array& state, const Array& n, const Array& p, const Array& out) {
    const philox::Stream stream = NextCall(state);
    const Each<int64_t> counts{n};
    const Each<double> ps{p};
    auto* to = reinterpret_cast<int64_t*>(out.raw_data());
    ForPairs(stream, out.GetTotalSize(), [&](int64_t i, double u, double v) {
        to[i] = DrawBinomial(stream, i, counts[i], ps[i], u, v);
    });
}
CX_NATIVE_KERNEL(RandomBinomial)

}  // namespace
}  // namespace chainerx::native
