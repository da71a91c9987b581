// The instruction sets of the native backend, for those who may not see native/: defined in
// native/isa.cc.
#pragma once

#include <string>
#include <vector>

#include "chainerx/core/macro.h"

namespace chainerx {

struct IsaInfo {
    std::string used;  // "none" if this processor has none of those that were built
    std::vector<std::string> built;
    std::vector<std::string> available;  // of these, those that this processor has
};
CX_API IsaInfo GetIsaInfo();

}  // namespace chainerx
