// Objects that callers know by their address; one that was destroyed is CUDA_ERROR_INVALID_HANDLE.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "chainerx/cuda/driver/types.h"

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
    T& Require(T* p) const {
        const std::lock_guard lock{mutex_};
        if (!objects_.contains(p)) throw CUDA_ERROR_INVALID_HANDLE;
        return *p;
    }
    std::unique_ptr<T> Remove(T* p) {
        const std::lock_guard lock{mutex_};
        const auto it = objects_.find(p);
        if (it == objects_.end()) throw CUDA_ERROR_INVALID_HANDLE;
        std::unique_ptr<T> object = std::move(it->second);
        objects_.erase(it);
        return object;
    }

 private:
    mutable std::mutex mutex_;
    std::unordered_map<const T*, std::unique_ptr<T>> objects_;
};

}  // namespace chainerx::cuda::test
