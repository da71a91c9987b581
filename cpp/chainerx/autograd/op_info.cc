#include "chainerx/autograd/op_info.h"

#include <map>
#include <mutex>
#include <string>

#include "chainerx/core/fork_mutex.h"

namespace chainerx {

const OpInfo& UserOp(const char* name) {
    struct Ops {
        internal::ForkMutex mutex;
        std::map<std::string, OpInfo, std::less<>> by_name;
    };
    static constinit internal::Lazy<Ops> lazy;  // nodes refer to them for the life of the process
    Ops& ops = lazy.Get();
    const std::lock_guard lock{ops.mutex};
    auto it = ops.by_name.find(name);
    if (it == ops.by_name.end()) {
        it = ops.by_name.emplace(name, OpInfo{}).first;
        it->second.name = it->first.c_str();
    }
    return it->second;
}

}  // namespace chainerx
