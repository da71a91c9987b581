#include "chainerx/python/engine/module.h"

#include "chainerx/python/engine/call.h"
#include "chainerx/python/engine/config.h"
#include "chainerx/python/engine/cupy.h"
#include "chainerx/python/engine/function.h"
#include "chainerx/python/engine/gradient.h"
#include "chainerx/python/engine/links/linear.h"
#include "chainerx/python/engine/native.h"
#include "chainerx/python/engine/node.h"
#include "chainerx/python/engine/optim/parameter_cache.h"
#include "chainerx/python/engine/optim/step_guard.h"
#include "chainerx/python/engine/optim/update.h"
#include "chainerx/python/engine/rng_key.h"
#include "chainerx/python/engine/state.h"
#include "chainerx/python/engine/traverse.h"
#include "chainerx/python/engine/variable.h"

namespace chainerx::python::engine {

void InitEngine(PyObject* module) {
    InitState(module);
    InitConfig(module);
    InitTraverse(module);
    InitCupy(module);
    InitVariable(module);
    InitNode(module);
    InitFunctionAttributes();
    InitFunction(module);
    InitUserFunction(module);
    InitNative(module);
    InitCall(module);
    InitLinear(module);
    InitGradient(module);
    InitRun(module);
    InitRngKey(module);
    InitParameterCache(module);
    InitStepGuard();
    InitUpdate(module);
}

}  // namespace chainerx::python::engine
