// What kernels keep of weights that stay the same.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/device.h"
#include "chainerx/core/foreign.h"

namespace chainerx {

// What kernels have made of weights, such as a copy in another layout, for later calls with the
// same weights. It is the memory of an array, so that a call that is kept keeps it, too. Threads
// may call it at once.
class KeptWeights {
 public:
    static Array New(Device& device) {
        auto* kept = new KeptWeights;
        const auto free = [](void* p) { delete static_cast<KeptWeights*>(p); };
        constexpr auto kSize = static_cast<int64_t>(sizeof(KeptWeights));
        const Shape shape{kSize};
        return internal::WrapForeign(kept, shape, Strides{shape, 1}, Dtype::kUInt8, device,
                                     {kept, free}, true);
    }
    // Null if `x` is another array, or a copy.
    static const KeptWeights* In(const Array& x) {
        if (x.GetNBytes() != sizeof(KeptWeights)) return nullptr;
        const auto* kept = reinterpret_cast<const KeptWeights*>(x.raw_data());
        return kept->self_ == kept ? kept : nullptr;
    }

    // The object of that key; if there is none, the one that `make` returns. Of several threads
    // that make one at once, the first keeps its own.
    std::shared_ptr<const void> Get(int64_t key, const auto& make) const {
        if (std::shared_ptr<const void> found = Find(key, nullptr)) return found;
        return Find(key, make());  // no lock is held meanwhile: it may wait for other threads
    }

 private:
    // Adds `made` if nothing has the key, unless it is null.
    std::shared_ptr<const void> Find(int64_t key, std::shared_ptr<const void> made) const {
        const std::lock_guard lock{mutex_};
        for (const auto& [k, object] : objects_) {
            if (k == key) return object;
        }
        if (made != nullptr) objects_.emplace_back(key, made);
        return made;
    }

    const KeptWeights* self_{this};
    mutable std::mutex mutex_;
    mutable std::vector<std::pair<int64_t, std::shared_ptr<const void>>> objects_;
};

}  // namespace chainerx
