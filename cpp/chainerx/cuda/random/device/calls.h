// The streams of random numbers of calls.
#pragma once

#include "chainerx/cuda/device/block.h"
#include "chainerx/cuda/random/params.h"
#include "chainerx/native/random/random.h"

namespace chainerx::cuda {

// Threads of several streams may draw from one generator.
inline uint64_t CountCall(Ptr<uint64_t> state) {
    return atomicAdd(reinterpret_cast<unsigned long long*>(&state[1]), 1ull);
}

// Takes the next call of a generator for the kernels that follow.
inline void TakeCall(const RandomCall& call) {
    const auto key = const_cast<uint64_t*>(static_cast<const uint64_t*>(call.key));
    key[0] = call.state[0];
    key[1] = CountCall(call.state);
}

// All threads of the block come here together.
inline philox::Stream StreamOf(const RandomCall& call) {
    CX_SHARED(uint64_t, words, 2);
    if (call.key != nullptr) return {call.key[0], call.key[1]};
    if (threadIdx.x == 0) {
        words[0] = call.state[0];
        words[1] = CountCall(call.state);
    }
    __syncthreads();
    return {words[0], words[1]};
}

}  // namespace chainerx::cuda
