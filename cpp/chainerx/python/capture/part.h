// What Python adds to a step that is recorded: see part.cc.
#pragma once

#include <cstdint>

#include "chainerx/python/bind.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {

// Whether somebody wants to see each call of a captured function.
bool IsWatched();
// How often hooks were added to links, or removed.
uint64_t CountHookChanges();

// What a step that is recorded does at its end, before it is known which arrays stay in use.
class AtEnd {
 public:
    AtEnd();
    ~AtEnd();
    AtEnd(const AtEnd&) = delete;
    AtEnd& operator=(const AtEnd&) = delete;

    // Another function of the same key takes the place of the first one.
    void Add(PyObject* key, PyObject* function);
    void Run();

 private:
    AtEnd* const outer_;
    Ref functions_;  // dict
};

void InitCapturePart(PyObject* engine);

}  // namespace chainerx::python
