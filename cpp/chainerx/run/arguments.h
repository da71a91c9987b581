// The command line of chainerx-run.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace chainerx::run {

// A command line that is not one of this program.
class UsageError : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

struct Arguments {
    std::string model;
    std::vector<std::string> inputs;  // FILE or NAME=FILE
    std::optional<std::string> output;
    std::string device{"native:0"};
    std::optional<int> n_repeats;
    std::optional<int> n_threads;
    bool has_profile{false};
    bool wants_help{false};
    bool wants_version{false};
};

// Throws UsageError. With --help or --version, nothing else is looked at.
Arguments ParseArguments(int argc, const char* const* argv);

extern const char* const kUsage;  // its first line says how to call it

}  // namespace chainerx::run
