// How the stand-in for cuDNN computes: by plain loops, with sums in double.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "chainerx/core/float16.h"
#include "cudnn_objects.h"

namespace chainerx::cuda::standin {

// What stays when the descriptors are gone.
struct ConvWork {
    int pass;  // the type of the operation's descriptor
    int type;
    int axes;
    bool is_tf32;
    std::vector<std::int64_t> x, w, y, stride, dilate, pad;
    const void *x_data, *w_data, *y_data;  // one of them is written
    const void* bias;                      // or null
    void* work;
    std::uint64_t work_size;
};

// TF32 has ten bits behind the point.
inline float RoundToTf32(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof(x));
    bits = (bits + 0x1000) & 0xffffe000;
    std::memcpy(&x, &bits, sizeof(x));
    return x;
}

// Calls f(x, w, y) with the positions of each product.
template <typename F>
void ForEachProduct(const ConvWork& c, const F& f) {
    const std::int64_t groups = c.x[1] / c.w[1], outs = c.w[0] / groups;
    const auto count = [&](const std::vector<std::int64_t>& dims) {
        std::int64_t n = 1;
        for (int d = 0; d < c.axes; ++d) n *= dims[2 + d];
        return n;
    };
    const std::int64_t x_size = count(c.x), taps = count(c.w), positions = count(c.y);
    // Of each position and element of the window, the place in the image, or -1.
    std::vector<std::int64_t> places(positions * taps, 0);
    for (std::int64_t p = 0; p < positions; ++p) {
        for (std::int64_t t = 0; t < taps; ++t) {
            std::int64_t rest_p = p, rest_t = t, unit = 1, place = 0;
            for (int d = c.axes - 1; d >= 0 && place >= 0; --d) {
                const std::int64_t i = rest_p % c.y[2 + d] * c.stride[d] - c.pad[d] +
                                       rest_t % c.w[2 + d] * c.dilate[d];
                rest_p /= c.y[2 + d];
                rest_t /= c.w[2 + d];
                place = i >= 0 && i < c.x[2 + d] ? place + i * unit : -1;
                unit *= c.x[2 + d];
            }
            places[p * taps + t] = place;
        }
    }
    for (std::int64_t n = 0; n < c.x[0]; ++n) {
        for (std::int64_t o = 0; o < c.w[0]; ++o) {
            for (std::int64_t i = 0; i < c.w[1]; ++i) {
                const std::int64_t image = (n * c.x[1] + o / outs * c.w[1] + i) * x_size;
                for (std::int64_t p = 0; p < positions; ++p) {
                    for (std::int64_t t = 0; t < taps; ++t) {
                        const std::int64_t place = places[p * taps + t];
                        if (place >= 0) {
                            f(image + place, (o * c.w[1] + i) * taps + t,
                              (n * c.w[0] + o) * positions + p);
                        }
                    }
                }
            }
        }
    }
}

template <typename T>
void ComputeConv(const ConvWork& c) {
    if (c.work_size != 0) std::memset(View(c.work), 0xff, c.work_size);
    const auto read = [&](const void* data, std::int64_t i) {
        const T value = static_cast<const T*>(View(data))[i];
        if constexpr (std::is_same_v<T, float>) {
            if (c.is_tf32) return static_cast<double>(RoundToTf32(value));
        }
        return static_cast<double>(value);
    };
    const auto size = [](const std::vector<std::int64_t>& dims) {
        std::int64_t n = 1;
        for (const std::int64_t length : dims) n *= length;
        return n;
    };
    const bool is_forward = c.pass == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
    const bool is_data = c.pass == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR;
    const auto& dims = is_forward ? c.y : is_data ? c.x : c.w;
    const void* out = is_forward ? c.y_data : is_data ? c.x_data : c.w_data;
    std::vector<double> sums(size(dims), 0.0);
    ForEachProduct(c, [&](std::int64_t x, std::int64_t w, std::int64_t y) {
        if (is_forward) {
            sums[y] += read(c.x_data, x) * read(c.w_data, w);
        } else if (is_data) {
            sums[x] += read(c.y_data, y) * read(c.w_data, w);
        } else {
            sums[w] += read(c.y_data, y) * read(c.x_data, x);
        }
    });
    auto* const result = const_cast<T*>(static_cast<const T*>(View(out)));
    const std::int64_t inner = size(dims) / (dims[0] * dims[1]);
    for (std::int64_t i = 0; i < std::ssize(sums); ++i) {
        if (c.bias != nullptr) sums[i] += read(c.bias, i / inner % dims[1]);
        if constexpr (sizeof(T) == 8) {
            result[i] = sums[i];
        } else {
            result[i] = static_cast<T>(static_cast<float>(sums[i]));
        }
    }
}

}  // namespace chainerx::cuda::standin
