// Runs a model of ONNX on an array.
#include "chainerx/chainerx.h"
#include "chainerx/io/files.h"
#include "chainerx/onnx/model.h"
#include "options.h"

namespace cx = chainerx;

int Run(const Options& options) {
    if (options.rest.size() != 2) throw std::invalid_argument{"expected a model and an array"};
    cx::Context context;
    cx::SetGlobalDefaultContext(&context);
    const cx::onnx::Model model = cx::onnx::Model::Load(options.rest[0]);
    for (const cx::Array& y : model({cx::io::LoadNpy(options.rest[1])})) std::cout << y << "\n";
    return 0;
}

int main(int argc, char** argv) {
    return RunProgram(argc, argv, "usage: run_onnx model.onnx x.npy\n", {}, Run);
}
