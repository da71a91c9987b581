// The shared memory of a block: filled with 0xff, with gaps between arrays.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace chainerx::cuda::test {

class SharedMemory {
 public:
    static constexpr std::size_t kStaticLimit = 48 << 10, kLimit = 227 << 10;

    // Forgets all arrays, and makes the dynamic one.
    void Reset(std::size_t dynamic_nbytes);
    // Returns null where the limit is exceeded.
    void* Get(const void* place, std::size_t nbytes, std::size_t alignment);
    void* dynamic() const { return arrays_[0].data; }

    bool Holds(const void* p) const;
    // Does one array contain all these bytes?
    bool Covers(const void* p, std::size_t nbytes) const;
    std::size_t Offset(const void* p) const { return static_cast<const char*>(p) - memory_.get(); }
    // Was anything written between the arrays?
    bool Overrun() const;

    static constexpr std::size_t kGap = 128, kCapacity = 2 * kLimit;

 private:
    struct Array {
        const void* place;
        char* data;
        std::size_t nbytes;
    };
    char* Add(const void* place, std::size_t nbytes, std::size_t alignment);

    std::unique_ptr<char[]> memory_;
    std::size_t end_ = 0, static_nbytes_ = 0;
    std::vector<Array> arrays_;
};

}  // namespace chainerx::cuda::test
