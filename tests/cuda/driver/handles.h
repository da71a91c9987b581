// Objects that callers know by their address; it is noticed when one was destroyed before.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "errors.h"

namespace chainerx::cuda::test {

template <typename T>
class Handles {
 public:
    static Handles& Get() {
        static auto* const handles = new Handles;
        return *handles;
    }

    T* Add(std::unique_ptr<T> object) {
        T* p = object.get();
        const std::lock_guard lock{mutex_};
        objects_.emplace(p, std::move(object));
        return p;
    }
    bool Has(T* p) const {
        const std::lock_guard lock{mutex_};
        return objects_.contains(p);
    }
    T& At(T* p) const {
        Require(Has(p), CUDA_ERROR_INVALID_HANDLE);
        return *p;
    }
    // Returns null if there is none.
    std::unique_ptr<T> Remove(T* p) {
        const std::lock_guard lock{mutex_};
        auto node = objects_.extract(p);
        return node.empty() ? nullptr : std::move(node.mapped());
    }

 private:
    mutable std::mutex mutex_;
    std::unordered_map<const T*, std::unique_ptr<T>> objects_;
};

}  // namespace chainerx::cuda::test
