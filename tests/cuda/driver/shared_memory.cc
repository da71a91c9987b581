#include "shared_memory.h"

#include <algorithm>
#include <cstring>

namespace chainerx::cuda::test {

char* SharedMemory::Add(const void* place, std::size_t nbytes, std::size_t alignment) {
    alignment = std::max<std::size_t>(alignment, 16);
    const std::size_t begin = (end_ + kGap + alignment - 1) / alignment * alignment;
    if (begin + nbytes + kGap > kCapacity) return nullptr;
    std::memset(memory_.get() + end_, 0xff, begin + nbytes + kGap - end_);
    end_ = begin + nbytes;
    arrays_.push_back({place, memory_.get() + begin, nbytes});
    return arrays_.back().data;
}

void SharedMemory::Reset(std::size_t dynamic_nbytes) {
    if (memory_ == nullptr) memory_.reset(new char[kCapacity]);
    arrays_.clear();
    end_ = static_nbytes_ = 0;
    Add(nullptr, dynamic_nbytes, 128);
}

void* SharedMemory::Get(const void* place, std::size_t nbytes, std::size_t alignment) {
    for (const Array& array : arrays_) {
        if (array.place == place) return array.data;
    }
    static_nbytes_ += nbytes;
    if (static_nbytes_ > kStaticLimit) return nullptr;
    return Add(place, nbytes, alignment);
}

bool SharedMemory::Holds(const void* p) const {
    return p >= memory_.get() && p < memory_.get() + kCapacity;
}

bool SharedMemory::Covers(const void* p, std::size_t nbytes) const {
    const char* begin = static_cast<const char*>(p);
    return std::any_of(arrays_.begin(), arrays_.end(), [&](const Array& array) {
        return begin >= array.data && begin + nbytes <= array.data + array.nbytes;
    });
}

bool SharedMemory::Overrun() const {
    const char* gap = memory_.get();
    const auto written = [](const char* begin, const char* end) {
        return std::any_of(begin, end, [](char c) { return c != '\xff'; });
    };
    for (const Array& array : arrays_) {
        if (written(gap, array.data)) return true;
        gap = array.data + array.nbytes;
    }
    return written(gap, gap + kGap);
}

}  // namespace chainerx::cuda::test
