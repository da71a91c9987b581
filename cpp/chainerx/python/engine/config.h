// chainer.config: values of the running thread over global values. Many functions read it, and many
// calls are made inside of a block that sets it.
#pragma once

#include <cstdint>

#include "chainerx/python/bind.h"
#include "chainerx/python/engine/state.h"

namespace chainerx::python::engine {

// Updates the mirror of `chainer.config`. Does nothing before chainer is imported.
void ReadConfig(State& state);

// After a change of `global_config`, which the engine reads or not: tells backends what it says
// about libraries. `value` null: it was deleted.
void MirrorGlobal(PyObject* global_config, PyObject* name, PyObject* value);

// Whether `chainer.config.train` is true.
bool IsTraining();

// A number of the values of `chainer.config` in this thread: equal only for equal values. 0 before
// chainer is imported.
uint64_t GetConfigNumber();

// Sets `enable_backprop` of the running thread during its lifetime, both there and in the mirror.
class BackpropConfig {
 public:
    explicit BackpropConfig(bool enabled);
    ~BackpropConfig();
    BackpropConfig(const BackpropConfig&) = delete;
    BackpropConfig& operator=(const BackpropConfig&) = delete;

 private:
    State& state_;
    bool changed_;
    Ref old_;  // null: not set
};

void InitConfig(PyObject* module);

}  // namespace chainerx::python::engine
