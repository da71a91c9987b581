// A chain of elementwise kernels, and of reductions of rows, which a device may run block by block:
// what one call writes for the next one then stays in the cache, or in registers.
//
// All calls iterate over one frame, a shape without axes of length 1, or over its first axes alone,
// the rows. An element of a row depends on nothing but that row, and what a call reads at a place
// of the frame, an earlier one has written at the same place or none has: so the frame may be cut
// into any blocks of rows, or of elements if no call knows rows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chainerx/core/dims.h"
#include "chainerx/core/dtype.h"
#include "chainerx/kernels/kept_call.h"

namespace chainerx {

// An array operand of a call.
struct FusedOperand {
    int array;  // index among inputs, outputs and scratch arrays, in this order
    Dtype dtype;
    // In bytes, by axis of the frame; 0 along axes in which it is broadcast. Those of a scratch
    // array are the device's own: it has an element per element of the frame, or of its rows.
    Strides strides;
};

struct FusedCall {
    // With operands that are laid out as they were for the whole frame.
    std::unique_ptr<KeptCall> call;
    std::vector<FusedOperand> operands;  // its arrays, in order; the last one is written
    bool by_row;                         // iterates over the rows
    bool reduces;                        // the axes of the frame after the rows
};

// An array that nobody else sees.
struct FusedScratch {
    int64_t item_size;
    bool by_row;
};

// What a device has made of a chain.
class FusedPlan {
 public:
    virtual ~FusedPlan() = default;
    // The memory of scratch arrays.
    virtual int64_t nbytes() const = 0;
};

struct FusedChain {
    const char* name;  // "Multiply, Add, Tanh"; lives forever
    Shape frame;
    int8_t row_ndim;  // axes of the frame that are rows; all of them if no call knows rows
    std::vector<FusedCall> calls;
    int n_arrays;  // inputs and outputs
    std::vector<FusedScratch> scratch;
    int64_t block;  // elements of a block; 0: as many as the device likes
    // Belongs to the device, which makes it in the first run. Runs do not overlap.
    mutable std::unique_ptr<FusedPlan> plan{};
};

// As the operand of a kernel.
struct FusedChainRef {
    const FusedChain* chain;

    bool operator==(const FusedChainRef&) const = default;
    std::string ToString() const { return chain->name; }
};

}  // namespace chainerx
