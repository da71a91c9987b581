// Scratch memory of a kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chainerx/core/host_memory.h"

namespace chainerx::native {

// n uninitialized elements, aligned to 64 bytes.
template <typename T>
class Scratch {
 public:
    explicit Scratch(int64_t n) : size_{static_cast<size_t>(n) * sizeof(T)} {
        data_ = static_cast<T*>(AllocLarge(size_));
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() { FreeLarge(data_, size_); }
    T* data() const { return data_; }

 private:
    size_t size_;
    T* data_;
};

}  // namespace chainerx::native
