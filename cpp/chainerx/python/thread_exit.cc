// Stops threads when the interpreter is finalized. Python 3.11 to 3.13 ends a daemon thread that
// waits for the GIL by pthread_exit(), which unwinds the stack as an exception would: through every
// frame of ours that had called into Python. Destructors there would release objects without the
// GIL, and `catch (...)` would end the process, since a forced unwind must be rethrown. So the
// thread blocks at the first of these frames; the process ends soon.
#include <unistd.h>
#include <unwind.h>

#include "chainerx/python/bind.h"

namespace {

bool IsFinalizing() {
#if PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing() != 0;
#else
    return _Py_IsFinalizing() != 0;
#endif
}

}  // namespace

// The personality routine, which unwinding calls for each frame with cleanups or handlers. The
// linker replaces the compiler's by ours (cpp/CMakeLists.txt, --wrap).
extern "C" {
_Unwind_Reason_Code __real___gxx_personality_v0(int version, _Unwind_Action actions,
                                                _Unwind_Exception_Class what,
                                                _Unwind_Exception* exception,
                                                _Unwind_Context* context);

[[gnu::visibility("hidden")]] _Unwind_Reason_Code __wrap___gxx_personality_v0(
    int version, _Unwind_Action actions, _Unwind_Exception_Class what, _Unwind_Exception* exception,
    _Unwind_Context* context) {
    if ((actions & _UA_FORCE_UNWIND) != 0 && IsFinalizing()) {
        while (true) pause();
    }
    return __real___gxx_personality_v0(version, actions, what, exception, context);
}
}
