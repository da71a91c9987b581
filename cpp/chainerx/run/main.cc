// chainerx-run: runs a model of ONNX on files of arrays, without Python.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "chainerx/core/context.h"
#include "chainerx/core/device.h"
#include "chainerx/core/error.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/onnx/model.h"
#include "chainerx/run/arguments.h"
#include "chainerx/run/inputs.h"
#include "chainerx/run/outputs.h"
#include "chainerx/run/report.h"

namespace chainerx::run {
namespace {

using Clock = std::chrono::steady_clock;

void Print(const std::string& text) { std::fputs(text.c_str(), stdout); }

double SecondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Runs the model and waits for its device; returns the seconds.
double TimeRun(const onnx::Model& model, const onnx::Values& inputs, onnx::Values* outputs) {
    const auto start = Clock::now();
    onnx::Values values = model.Run(inputs);
    model.device().Synchronize();
    const double seconds = SecondsSince(start);
    if (outputs != nullptr) *outputs = std::move(values);
    return seconds;
}

void ReportTimes(const onnx::Model& model, const onnx::Values& inputs, double load_seconds,
                 double first_seconds, int n) {
    std::vector<double> seconds;
    for (int i = 0; i < n; ++i) seconds.push_back(TimeRun(model, inputs, nullptr));
    Print(StrCat("load ", Milliseconds(load_seconds), ", first run ", Milliseconds(first_seconds),
                 ", ", n, " more: min ", Milliseconds(*std::ranges::min_element(seconds)),
                 ", median ", Milliseconds(Median(seconds)), "\n"));
}

void ReportOutputs(const io::NamedArrays& arrays, const std::optional<std::string>& path) {
    std::vector<std::string> paths;
    if (path.has_value()) paths = WriteOutputs(arrays, *path);
    for (size_t i = 0; i < arrays.size(); ++i) {
        const auto& [name, x] = arrays[i];
        Print(StrCat(name, ": ", x.dtype(), " ", x.shape(),
                     path.has_value() ? StrCat(" in ", paths[i]) : StrCat("\n", x.ToString()),
                     "\n"));
    }
}

void Run(const Arguments& arguments) {
    if (arguments.n_threads.has_value()) SetNumThreads(*arguments.n_threads);
    Context context;
    const ContextScope scope{context};
    Device& device = context.GetDevice(arguments.device);
    const auto start = Clock::now();
    const onnx::Model model = onnx::Model::Load(arguments.model, device);
    const double load_seconds = SecondsSince(start);
    const bool wants_run = !arguments.inputs.empty() || arguments.output.has_value() ||
                           arguments.n_repeats.has_value() || arguments.has_profile;
    if (!wants_run) return Print(DescribeModel(model));

    if (arguments.output.has_value()) CheckOutputPath(model, *arguments.output);
    const onnx::Values inputs = ReadInputs(model, arguments.inputs);
    onnx::Values outputs;
    const double first_seconds = TimeRun(model, inputs, &outputs);
    ReportOutputs(NameOutputs(model, outputs), arguments.output);
    const int n = arguments.n_repeats.value_or(1);
    if (arguments.n_repeats.has_value()) {
        ReportTimes(model, inputs, load_seconds, first_seconds, n);
    }
    if (arguments.has_profile) {
        std::vector<std::vector<onnx::NodeTime>> runs(static_cast<size_t>(n));
        for (std::vector<onnx::NodeTime>& times : runs) model.Run(inputs, {.times = &times});
        Print(DescribeTimes(runs));
    }
}

int Main(int argc, const char* const* argv) {
    try {
        const Arguments arguments = ParseArguments(argc, argv);
        if (arguments.wants_help) {
            Print(kUsage);
        } else if (arguments.wants_version) {
            Print("chainerx-run " CHAINERX_VERSION "\n");
        } else {
            Run(arguments);
        }
        if (std::fflush(stdout) != 0) throw ValueError{"stdout can't be written"};
        return 0;
    } catch (const UsageError& e) {
        const std::string usage = kUsage;
        std::fprintf(stderr, "%schainerx-run: %s\n", usage.substr(0, usage.find('\n') + 1).c_str(),
                     e.what());
        return 2;
    } catch (const std::bad_alloc&) {
        std::fputs("chainerx-run: out of memory\n", stderr);
        return 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "chainerx-run: %s\n", e.what());
        return 1;
    }
}

}  // namespace
}  // namespace chainerx::run

int main(int argc, char** argv) { return chainerx::run::Main(argc, argv); }
