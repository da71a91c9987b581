// Scopes that release or hold the GIL or disable recording, and the query of whether it is enabled.
#pragma once

#include <cstdint>

#include "chainerx/core/context.h"
#include "chainerx/core/thread_state.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/engine/state.h"
#include "chainerx/python/engine/variable.h"

namespace chainerx::python::engine {

class GilScope {
 public:
    GilScope() : state_{PyGILState_Ensure()} {}
    ~GilScope() { PyGILState_Release(state_); }
    GilScope(const GilScope&) = delete;
    GilScope& operator=(const GilScope&) = delete;

 private:
    PyGILState_STATE state_;
};

// Disables recording during its lifetime.
class NoRecordScope {
 public:
    explicit NoRecordScope(bool active = true) : active_{active} {
        if (!active) return;
        context_ = internal::t_state.record_context;
        mask_ = internal::t_state.record_mask;
        internal::t_state.record_context = &GetDefaultContext();
        internal::t_state.record_mask = 0;
    }
    ~NoRecordScope() {
        if (!active_) return;
        internal::t_state.record_context = context_;
        internal::t_state.record_mask = mask_;
    }
    NoRecordScope(const NoRecordScope&) = delete;
    NoRecordScope& operator=(const NoRecordScope&) = delete;

 private:
    bool active_;
    Context* context_{nullptr};
    uint64_t mask_{0};
};

// Whether functions are recorded: the configuration enables it, and no mode of chainerx disables
// it.
inline bool Records(const State& state) {
    return state.enable_backprop && (internal::RecordMask(&GetDefaultContext()) & GraphBit()) != 0;
}

}  // namespace chainerx::python::engine
