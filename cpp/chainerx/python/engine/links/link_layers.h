// Children of links that are Linear layers of the usual kind, whose calls come to a call of their
// function with their parameters.
#pragma once

#include "chainerx/python/bind.h"
#include "chainerx/python/engine/call.h"
#include "chainerx/python/ref.h"

namespace chainerx::python::engine {

struct LinearLayer {
    Ref w;
    Ref b;  // None if there is none
};

// Whether no hook for all links is on, in any thread.
bool AreLinkHooksOff();
// Whether a call of any Linear, in this thread, does what it did when the class was made known: no
// hook for all links is on, nobody has replaced its methods.
bool IsLinearUsual();
// False where the call of the child, in the dict of its link, may do anything else than to call
// LinearFunction() with its parameters. Asked after IsLinearUsual().
bool FindLinear(PyObject* dict, PyObject* name, LinearLayer& layer);
EntryObject* LinearFunction();

// Whether setting an attribute of an object of the class is what Link does.
bool HasUsualSetattr(PyTypeObject* type);

void InitLinkLayers(PyObject* module);

}  // namespace chainerx::python::engine
