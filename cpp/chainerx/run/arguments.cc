#include "chainerx/run/arguments.h"

#include <charconv>
#include <string_view>

namespace chainerx::run {

const char* const kUsage =
    "usage: chainerx-run MODEL [--input [NAME=]FILE]... [--output PATH] [options]\n"
    "\n"
    "Runs a model of ONNX. Without inputs, shows what the model takes and gives.\n"
    "\n"
    "  --input FILE       an .npy for the next input in the model's order, or an .npz or\n"
    "                     .safetensors whose arrays have the names of inputs\n"
    "  --input NAME=FILE  one array for the input of this name\n"
    "  --output PATH      where outputs go: one .npy; an .npz or .safetensors; or a folder that "
    "gets\n"
    "                     an .npy for each. Without it they are shown\n"
    "  --device NAME      where to compute, such as cuda:0 (default: native:0)\n"
    "  --repeat N         run N times more, and show the least and the median time\n"
    "  --threads N        how many threads compute (default: the CPUs of this process)\n"
    "  --profile          show the time of each operator and node, the median of N runs\n"
    "  --version          show the version\n"
    "  --help             show this\n";

namespace {

// The words behind the name of the program, with --name=value as two.
class Words {
 public:
    Words(int argc, const char* const* argv) : words_(argv + (argc > 0 ? 1 : 0), argv + argc) {}

    bool is_empty() const { return at_ == words_.size(); }

    // An option, or a positional argument.
    std::string_view Next() {
        const std::string_view word = words_[at_++];
        const size_t equals = word.find('=');
        if (!word.starts_with("--") || equals == std::string_view::npos) return word;
        value_ = word.substr(equals + 1);
        return word.substr(0, equals);
    }

    // The value of the option that came last.
    std::string Value(std::string_view option) {
        if (value_.has_value()) {
            const std::string value{*value_};
            value_.reset();
            return value;
        }
        if (is_empty()) throw UsageError{std::string{option} + " needs a value"};
        return std::string{words_[at_++]};
    }

    int Count(std::string_view option) {
        const std::string text = Value(option);
        int n = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
        if (error != std::errc{} || end != text.data() + text.size() || n < 1) {
            throw UsageError{std::string{option} + " is " + text + ", expected a number from 1 on"};
        }
        return n;
    }

    // Ends in an error if the option that came last had a value, but takes none.
    void ExpectNoValue(std::string_view option) const {
        if (value_.has_value()) throw UsageError{std::string{option} + " takes no value"};
    }

 private:
    std::vector<std::string_view> words_;
    size_t at_{0};
    std::optional<std::string_view> value_;
};

}  // namespace

Arguments ParseArguments(int argc, const char* const* argv) {
    Arguments arguments;
    std::vector<std::string> rest;
    for (Words words{argc, argv}; !words.is_empty();) {
        const std::string_view word = words.Next();
        if (word == "--input") {
            arguments.inputs.push_back(words.Value(word));
        } else if (word == "--output") {
            if (arguments.output.has_value()) throw UsageError{"--output is there twice"};
            arguments.output = words.Value(word);
        } else if (word == "--device") {
            arguments.device = words.Value(word);
        } else if (word == "--repeat") {
            arguments.n_repeats = words.Count(word);
        } else if (word == "--threads") {
            arguments.n_threads = words.Count(word);
        } else if (word == "--profile") {
            arguments.has_profile = true;
        } else if (word == "--help" || word == "-h") {
            arguments.wants_help = true;
        } else if (word == "--version") {
            arguments.wants_version = true;
        } else if (word.starts_with("-")) {
            throw UsageError{"there is no option " + std::string{word}};
        } else {
            rest.emplace_back(word);
        }
        words.ExpectNoValue(word);
        if (arguments.wants_help || arguments.wants_version) return arguments;
    }
    if (rest.size() != 1) {
        throw UsageError{"expected one model, got " + std::to_string(rest.size())};
    }
    arguments.model = rest[0];
    if (arguments.output.has_value() && arguments.output->empty()) {
        throw UsageError{"--output is empty"};
    }
    return arguments;
}

}  // namespace chainerx::run
