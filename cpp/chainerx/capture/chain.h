// Chains of calls that are being collected, and the calls that may be part of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "chainerx/capture/recording.h"
#include "chainerx/core/overlap.h"
#include "chainerx/kernels/fuse/fusion_device.h"

namespace chainerx::internal {

// What a call does to some memory.
struct Access {
    Place place;
    Extent extent;
    OperandRole role;
    ArrayBody* body;    // null for bytes of the host
    Strides strides{};  // along the frame of the call, if it may be part of a chain

    bool writes() const { return role != OperandRole::kIn; }
};

std::vector<Access> AccessesOf(const Recording& recording, const RecordedCall& call);

// How a call iterates that may be part of a chain: an elementwise kernel, a copy, a fill, or a
// reduction of rows in an order that the number of rows has no influence on.
struct ChainCall {
    Shape frame;      // without axes of length 1
    int8_t row_ndim;  // of a reduction: the axes that are kept; else those of `frame`
    std::vector<Access> accesses;
    size_t n_scalars{0};

    bool reduces() const { return row_ndim != frame.ndim(); }
};

// The limits of a device that does not say others.
const FusionLimits& FusionLimitsOf(const Device& device);

// nullopt for other calls, and those that their device can't fuse.
std::optional<ChainCall> AsChainCall(const Recording& recording, const RecordedCall& call);

// Returns whether a call with these accesses writes to some of these memories.
bool WritesTo(const std::vector<bool>& memories, std::span<const Access> accesses);

// Returns whether both have each element of the frame at the same address. Axes that one of them
// lacks are those of rows.
bool IsSameAlong(const Access& a, const Access& b);

// A call that only computes its results, which are the last operand.
bool IsPure(const KernelInfo& kernel);

class Chain {
 public:
    // `first` is the call at which it was begun.
    Chain(const Recording& recording, Device& device, size_t first)
        : recording_{&recording}, device_{&device}, first_{first} {}

    size_t first() const { return first_; }
    // The indices of its calls.
    std::vector<size_t> members() const;
    // Whether it is long, and large, enough to pay; `is_forced`: to be one.
    bool Pays(bool is_forced) const {
        return members_.size() > 1 &&
               (is_forced || frame_.GetTotalSize() >= FusionLimitsOf(*device_).min_size);
    }

    // Those of its calls that write to some of these memories.
    std::vector<size_t> FindWritersTo(const std::vector<bool>& memories) const;

    // Returns whether the order matters in which these and the accesses of the chain happen.
    bool ConflictsWith(std::span<const Access> accesses) const;

    // Adds the call with that index; returns false, with nothing done, if it can't be part of the
    // chain. `depends` says whether it conflicts with the chain: for others, rows are not told
    // apart.
    bool Add(Device& device, const ChainCall& call, size_t index, bool depends);
    // The same for all calls of another chain, which does not conflict with this one.
    bool Merge(const Chain& o);

    // Takes the calls out of the recording. Returns the call that replaces them, of blocks of so
    // many elements, or as the device likes if it is 0. `uses` has the number of operands of the
    // recording in each memory, and more for memory that is a result.
    RecordedCall Build(Recording& recording, std::span<const int> uses, int64_t block,
                       size_t time) const;

 private:
    struct Member {
        size_t index;
        ChainCall call;
        bool by_row;
    };
    class Builder;  // chain_build.cc
    struct Counts {
        size_t calls;
        size_t reductions;
        size_t arrays;  // at most
        size_t scalars;

        Counts operator+(const Counts& o) const {
            return {calls + o.calls, reductions + o.reductions, arrays + o.arrays,
                    scalars + o.scalars};
        }
    };

    bool Adapt(const ChainCall& call, bool depends, bool& by_row);
    // Whether the device takes chains of so many.
    bool CanHold(const Shape& frame, Counts counts) const;
    size_t CountNewArrays(const ChainCall& call) const;

    const Recording* recording_;
    Device* device_;
    size_t first_;
    Shape frame_;
    int8_t row_ndim_{-1};  // -1 as long as no call knows rows
    Counts counts_{};
    std::vector<Member> members_;
};

}  // namespace chainerx::internal
