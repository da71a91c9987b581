// The instruction sets of the native backend, for callers that may not include native/: defined in
// native/isa.cc.
#pragma once

#include <string>
#include <vector>

#include "chainerx/core/macro.h"

namespace chainerx {

struct IsaInfo {
    std::string used;  // "none" if this processor supports none of those that were built
    std::vector<std::string> built;
    std::vector<std::string> available;  // those that this processor supports
};
CX_API IsaInfo GetIsaInfo();

}  // namespace chainerx
