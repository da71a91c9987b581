// Is told of the operations that this thread records during its life: for forward mode
// (functional.h), and for checkpoints, which find the arrays that a function uses
// (ops/checkpoint.h).
#pragma once

#include <span>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/thread_state.h"

namespace chainerx::internal {

struct Node;

// Observers nest, and all of them see each operation. None may record anything itself.
class CX_API RecordObserver {
 public:
    RecordObserver() : outer_{t_state.record_observer} { t_state.record_observer = this; }
    virtual ~RecordObserver() { t_state.record_observer = outer_; }
    RecordObserver(const RecordObserver&) = delete;
    RecordObserver& operator=(const RecordObserver&) = delete;

    RecordObserver* outer() const { return outer_; }

    // Called for an operation with an input that is or was in a graph, whether it is recorded or
    // not.
    virtual void Called(std::span<const ConstArrayRef> inputs) = 0;
    // Called with its node before its gradient functions are added.
    virtual void Recorded(Node* node, std::span<const ConstArrayRef> inputs,
                          std::span<const Array> outputs) = 0;

 private:
    RecordObserver* outer_;
};

}  // namespace chainerx::internal
