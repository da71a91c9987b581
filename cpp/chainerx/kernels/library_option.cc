#include "chainerx/kernels/library_option.h"

#include <atomic>

namespace chainerx {
namespace {

constexpr int kOptions = 4;
constinit std::atomic<LibraryChoice> g_library_choices[kOptions]{};
constinit thread_local LibraryChoice t_choices[kOptions]{};

}  // namespace

void SetLibraryOption(LibraryOption option, LibraryChoice choice, bool of_thread) {
    const auto i = static_cast<int>(option);
    if (of_thread) {
        t_choices[i] = choice;
    } else {
        g_library_choices[i] = choice;
    }
}

LibraryChoice GetLibraryOption(LibraryOption option) {
    const auto i = static_cast<int>(option);
    if (t_choices[i] != LibraryChoice::kUnset) return t_choices[i];
    const LibraryChoice choice = g_library_choices[i];
    return choice != LibraryChoice::kUnset ? choice : LibraryChoice::kAuto;
}

}  // namespace chainerx
