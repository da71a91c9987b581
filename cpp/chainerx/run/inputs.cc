#include "chainerx/run/inputs.h"

#include <unistd.h>

#include <optional>
#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/io/files.h"

namespace chainerx::run {
namespace {

struct Argument {
    std::optional<size_t> input;  // the one that it names
    std::string path;
};

class Reader {
 public:
    explicit Reader(const onnx::Model& model) : model_{model}, values_(model.inputs().size()) {}

    onnx::Values Read(const std::vector<std::string>& texts) {
        std::vector<Argument> arguments;
        for (const std::string& text : texts) arguments.push_back(Parse(text));
        // Those that have names first: others take the places that are left.
        io::NamedArrays nameless;
        for (const Argument& argument : arguments) {
            for (auto& [name, x] : Load(argument)) {
                if (argument.input.has_value()) {
                    Set(*argument.input, std::move(x));
                } else if (name.empty()) {
                    nameless.emplace_back(argument.path, std::move(x));
                } else {
                    Set(FindOrThrow(name, StrCat(" for an array of \"", argument.path, "\"")),
                        std::move(x));
                }
            }
        }
        size_t next = 0;
        for (auto& [path, x] : nameless) {
            while (next < values_.size() && !values_[next].is_none()) ++next;
            if (next == values_.size()) {
                throw ValueError{"there is no input left for \"", path, "\": ", Names()};
            }
            values_[next] = std::move(x);
        }
        return std::move(values_);
    }

 private:
    std::optional<size_t> Find(const std::string& name) const {
        for (size_t i = 0; i < values_.size(); ++i) {
            if (model_.inputs()[i].name == name) return i;
        }
        return std::nullopt;
    }

    size_t FindOrThrow(const std::string& name, const std::string& where) const {
        const std::optional<size_t> found = Find(name);
        if (found.has_value()) return *found;
        throw NotFoundError{"there is no input \"", name, "\"", where, ": ", Names()};
    }

    std::string Names() const {
        std::string text;
        for (const onnx::ValueInfo& info : model_.inputs()) {
            text += StrCat(text.empty() ? "the model has " : ", ", "\"", info.name, "\"");
        }
        return text.empty() ? "the model has no inputs" : text;
    }

    // Names and paths may have '=', too.
    Argument Parse(const std::string& text) const {
        for (size_t i = text.find('='); i != std::string::npos; i = text.find('=', i + 1)) {
            if (const auto found = Find(text.substr(0, i))) return {found, text.substr(i + 1)};
        }
        const size_t equals = text.find('=');
        if (equals != std::string::npos && access(text.c_str(), F_OK) != 0) {
            FindOrThrow(text.substr(0, equals), "");
        }
        return {std::nullopt, text};
    }

    io::NamedArrays Load(const Argument& argument) const {
        io::NamedArrays arrays = io::Load(argument.path, model_.device());
        if (argument.input.has_value() && arrays.size() != 1) {
            throw ValueError{"input \"",
                             model_.inputs()[*argument.input].name,
                             "\" needs one array, but \"",
                             argument.path,
                             "\" has ",
                             arrays.size()};
        }
        return arrays;
    }

    void Set(size_t i, Array x) {
        if (!values_[i].is_none()) {
            throw ValueError{"input \"", model_.inputs()[i].name, "\" is given twice"};
        }
        values_[i] = std::move(x);
    }

    const onnx::Model& model_;
    onnx::Values values_;
};

}  // namespace

onnx::Values ReadInputs(const onnx::Model& model, const std::vector<std::string>& arguments) {
    return Reader{model}.Read(arguments);
}

}  // namespace chainerx::run
