// Sees what this thread records during its life: how a function is differentiated forward
// (functional.h), and how a checkpoint finds what its function uses (ops/checkpoint.h).
#pragma once

#include <span>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/thread_state.h"

namespace chainerx::internal {

struct Node;

// Taps lie inside one another, and all of them see each operation. May record nothing itself.
class CX_API RecordTap {
 public:
    RecordTap() : outer_{t_state.record_tap} { t_state.record_tap = this; }
    virtual ~RecordTap() { t_state.record_tap = outer_; }
    RecordTap(const RecordTap&) = delete;
    RecordTap& operator=(const RecordTap&) = delete;

    RecordTap* outer() const { return outer_; }

    // An operation with an input that is or was in a graph, whether it will be recorded or not.
    virtual void Called(std::span<const ConstArrayRef> inputs) = 0;
    // Its node, when its gradient functions are still to come.
    virtual void Recorded(Node* node, std::span<const ConstArrayRef> inputs,
                          std::span<const Array> outputs) = 0;

 private:
    RecordTap* outer_;
};

}  // namespace chainerx::internal
