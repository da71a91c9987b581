// Further random numbers of an element, for rejection sampling, on the host and on devices.
#pragma once

#include <cstdint>

#include "chainerx/native/random/random.h"

namespace chainerx::native {

// Layout of the Philox blocks of one call: those from 0 on, further ones for second and third
// numbers, and a million for each element's substream.
inline constexpr uint64_t kSecondNumbers = uint64_t{1} << 61;
inline constexpr uint64_t kThirdNumbers = uint64_t{1} << 62;
inline constexpr uint64_t kSubstreams = uint64_t{1} << 63;

// Further random numbers of one element, for rejection sampling.
class Substream {
 public:
    // More than are ever drawn if a fifth is accepted. It bounds the loop if another thread writes
    // an invalid parameter after the check, for which nothing is accepted.
    static constexpr uint64_t kMax = 1024;

    Substream(const philox::Stream& stream, int64_t element)
        : stream_{stream}, block_{kSubstreams | static_cast<uint64_t>(element) << 20} {}

    philox::Block Next() { return stream_.Get(block_ + drawn_++); }
    bool is_used_up() const { return drawn_ >= kMax; }

 private:
    philox::Stream stream_;
    uint64_t block_;
    uint64_t drawn_{0};
};

// Returns the k of the first pair of numbers that accept(u, v, &k) accepts: this pair, or further
// ones of the element. 0 if none is accepted.
template <typename F>
inline int64_t Reject(const philox::Stream& stream, int64_t element, double u, double v,
                      const F& accept) {
    Substream substream{stream, element};
    double k;
    while (!accept(u, v, &k)) {
        if (substream.is_used_up()) return 0;
        const philox::Block block = substream.Next();
        u = philox::ToUniform(philox::Join(block.v[0], block.v[1]));
        v = philox::ToUniform(philox::Join(block.v[2], block.v[3]));
    }
    return static_cast<int64_t>(k);
}

}  // namespace chainerx::native
