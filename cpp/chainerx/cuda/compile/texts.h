// The texts of device sources, which the build puts into this library.
#pragma once

#include <span>

namespace chainerx::cuda {

struct DeviceText {
    const char* name;  // as an #include spells it
    const char* text;
};

// The headers that device sources include.
std::span<const DeviceText> GetDeviceTexts();

}  // namespace chainerx::cuda
