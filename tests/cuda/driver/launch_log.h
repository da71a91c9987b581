// The names of what is launched, for tests and benchmarks that count it.
#pragma once

#include <string_view>

namespace chainerx::cuda::test {

// Adds a kernel, a copy, a fill or a call of a library, if cx_test_log_launches() asked for it.
void LogLaunch(std::string_view name);

}  // namespace chainerx::cuda::test
