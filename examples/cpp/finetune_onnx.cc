// Trains the last layer of a model of ONNX, which export_model.py has trained on half of the
// digits.
#include "chainerx/io/files.h"
#include "chainerx/onnx/model.h"
#include "training.h"

namespace {

cx::Array Scores(const cx::onnx::Model& model, const cx::Array& x) {
    return model({cx::Reshape(x, {x.shape()[0], 1, kSide, kSide})})[0];
}

double TestAccuracy(const cx::onnx::Model& model, const Digits& digits) {
    const cx::NoBackpropModeScope scope;
    std::vector<int64_t> rows(static_cast<size_t>(digits.size() - kTrain));
    std::iota(rows.begin(), rows.end(), kTrain);
    const Batch batch = Gather(digits, rows.data(), static_cast<int64_t>(rows.size()));
    const cx::Array hits = cx::ArgMax(Scores(model, batch.x), 1) == batch.t;
    return cx::Mean(hits.AsType(cx::Dtype::kFloat64)).Item<double>();
}

int Finetune(const Options& options) {
    if (options.rest.size() != 2) throw std::invalid_argument{"expected a model and digits"};
    const int n_epochs = options.Count("--epochs");
    cx::Context context;
    cx::SetGlobalDefaultContext(&context);
    cx::SetDefaultDevice(&cx::GetDevice(options["--device"]));
    const cx::onnx::Model model = cx::onnx::Model::Load(options.rest[0]);
    const Digits digits = Load(options.rest[1]);

    // All other parameters stay as they are, and no gradients are computed for them.
    std::vector<cx::Array> trained;
    for (const auto& [name, parameter] : model.parameters()) {
        if (name.find(options["--layer"]) == std::string::npos) continue;
        trained.push_back(parameter.RequireGrad());
        std::printf("trains %s\n", name.c_str());
    }
    if (trained.empty()) {
        throw std::runtime_error{"the model has no parameter with " + options["--layer"]};
    }
    std::printf("Test accuracy before: %.4f\n", TestAccuracy(model, digits));
    std::vector<int64_t> rows(kTrain);
    std::iota(rows.begin(), rows.end(), 0);
    std::mt19937 shuffler{0};
    for (int epoch = 0; epoch < n_epochs; ++epoch) {
        std::shuffle(rows.begin(), rows.end(), shuffler);
        for (int64_t i = 0; i < kTrain; i += kBatch) {
            const Batch batch = Gather(digits, rows.data() + i, std::min(kBatch, kTrain - i));
            cx::Backward(cx::Mean(cx::SoftmaxCrossEntropy(Scores(model, batch.x), batch.t)));
            for (const cx::Array& parameter : trained) {
                parameter.AsGradStopped() -= *parameter.GetGrad() * 0.05;
                parameter.ClearGrad();
            }
        }
    }
    std::printf("Test accuracy after: %.4f\n", TestAccuracy(model, digits));
    cx::io::Save(options["--out"], model.parameters());
    std::printf("Weights: %s\n", options["--out"].c_str());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string usage =
        "usage: finetune_onnx [options] model.onnx digits.csv\n\n"
        "Trains one layer of a model; export_model.py and export_digits.py write the files.\n\n"
        "  --device NAME  where to train, native:0 or cuda:0 (default: native:0)\n"
        "  --epochs N     how often to see all digits (default: 10)\n"
        "  --layer NAME   a part of the names of the parameters to train (default: last)\n"
        "  --out PATH     the weights, as .npz or .safetensors (default: finetuned.safetensors)\n";
    return RunProgram(argc, argv, usage,
                      {{"--device", "native:0"},
                       {"--epochs", "10"},
                       {"--layer", "last"},
                       {"--out", "finetuned.safetensors"}},
                      Finetune);
}
