// Shared by digits.cc and lenet.cc: the digits, parameters and their updates, the training.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "chainerx/chainerx.h"
#include "options.h"
#include "picture.h"

namespace cx = chainerx;

constexpr int64_t kSide = 8;
constexpr int64_t kPixels = kSide * kSide;
constexpr int64_t kTrain = 1437;
constexpr int64_t kBatch = 32;

struct Digits {
    std::vector<float> pixels;
    std::vector<int64_t> labels;
    int64_t size() const { return static_cast<int64_t>(labels.size()); }
};

// Reads lines of a label and 64 pixels from 0 to 16.
inline Digits Load(const std::string& path) {
    std::ifstream file{path};
    if (!file) throw std::runtime_error{"cannot read " + path};
    const std::runtime_error unknown{path + " is not what export_digits.py writes"};
    Digits digits;
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields{line};
        std::string field;
        std::getline(fields, field, ',');
        try {
            digits.labels.push_back(std::stoll(field));
            while (std::getline(fields, field, ',')) digits.pixels.push_back(std::stof(field) / 16);
        } catch (const std::logic_error&) {  // not a number, or out of range
            throw unknown;
        }
        if (digits.labels.back() < 0 || digits.labels.back() > 9) throw unknown;
    }
    if (digits.size() <= kTrain || digits.pixels.size() != digits.labels.size() * kPixels) {
        throw unknown;
    }
    return digits;
}

struct Batch {
    cx::Array x;
    cx::Array t;
};

inline Batch Gather(const Digits& digits, const int64_t* rows, int64_t n) {
    std::vector<float> pixels;
    std::vector<int64_t> labels;
    for (int64_t i = 0; i < n; ++i) {
        const auto first = digits.pixels.begin() + rows[i] * kPixels;
        pixels.insert(pixels.end(), first, first + kPixels);
        labels.push_back(digits.labels[static_cast<size_t>(rows[i])]);
    }
    return {cx::Array::FromHost(pixels, {n, kPixels}), cx::Array::FromHost(labels)};
}

// A network, trained by gradient descent with momentum; subclasses define what it computes.
class Model {
 public:
    virtual ~Model() = default;
    virtual cx::Array operator()(cx::Array x) const = 0;

    void Update(double learning_rate, double momentum = 0.9) {
        for (size_t i = 0; i < parameters_.size(); ++i) {
            velocities_[i] *= momentum;
            velocities_[i] -= *parameters_[i].GetGrad() * learning_rate;
            // A parameter is part of a graph and may not be written; its grad-stopped view may.
            parameters_[i].AsGradStopped() += velocities_[i];
            parameters_[i].ClearGrad();
        }
    }

 protected:
    // A weight of this shape, whose first axis is the outputs, and their bias.
    void AddLayer(const cx::Shape& shape) {
        const double ins = static_cast<double>(shape.GetTotalSize() / shape[0]);
        const double scale = std::sqrt(2.0 / ins);
        AddParameter(cx::random::Normal(0, scale, {.size = shape, .dtype = cx::Dtype::kFloat32}));
        AddParameter(cx::Zeros({shape[0]}));
    }
    const cx::Array& weight(size_t layer) const { return parameters_[2 * layer]; }
    const cx::Array& bias(size_t layer) const { return parameters_[2 * layer + 1]; }
    size_t layers() const { return parameters_.size() / 2; }

 private:
    void AddParameter(const cx::Array& parameter) {
        parameters_.push_back(parameter.RequireGrad());
        velocities_.push_back(cx::ZerosLike(parameter));
    }

    std::vector<cx::Array> parameters_;
    std::vector<cx::Array> velocities_;
};

// The model's prediction for each of these.
inline cx::Array Guess(const Model& model, const Batch& batch) {
    const cx::NoBackpropModeScope scope;
    return cx::ArgMax(model(batch.x), 1);
}

inline double Accuracy(const Model& model, const Digits& digits, const std::vector<int64_t>& rows) {
    const auto n = static_cast<int64_t>(rows.size());
    const Batch batch = Gather(digits, rows.data(), n);
    const cx::Array hits = Guess(model, batch) == batch.t;
    return static_cast<double>(cx::CountNonzero(hits).Item<int64_t>()) / static_cast<double>(n);
}

// Losses and accuracies by epoch, and the first digits of these rows with their predicted labels.
inline void Draw(const std::string& path, const std::vector<double>& losses,
                 const std::vector<double>& accuracies, const Model& model, const Digits& digits,
                 const std::vector<int64_t>& rows) {
    Picture picture{720, 420};
    picture.Curve(60, 40, 260, 130, "mean training loss by epoch", losses);
    picture.Curve(60, 240, 260, 130, "training accuracy by epoch", accuracies);
    picture.Write(360, 32, "test digits, and what they are taken for (wrong ones in red)");
    constexpr int kColumns = 6;
    const int64_t n = std::min<int64_t>(24, static_cast<int64_t>(rows.size()));
    const Batch batch = Gather(digits, rows.data(), n);
    const std::vector<int64_t> guesses = Guess(model, batch).ToHost<int64_t>();
    for (int64_t i = 0; i < n; ++i) {
        const int64_t row = rows[static_cast<size_t>(i)];
        const double left = 360 + 58 * static_cast<double>(i % kColumns);
        const double top = 44 + 88 * static_cast<double>(i / kColumns);
        for (int64_t k = 0; k < kPixels; ++k) {
            const float ink = digits.pixels[static_cast<size_t>(row * kPixels + k)];
            picture.Square(left + 6 * static_cast<double>(k % kSide),
                           top + 6 * static_cast<double>(k / kSide), 6, 6, 1 - ink);
        }
        const int64_t guess = guesses[static_cast<size_t>(i)];
        const bool right = guess == digits.labels[static_cast<size_t>(row)];
        picture.Write(left + 20, top + 64, std::to_string(guess), right ? "black" : "red");
    }
    picture.Save(path);
    std::printf("Picture: %s\n", path.c_str());
}

// Creates a network on the default device.
using Maker = std::function<std::unique_ptr<Model>()>;

inline int Run(const Options& options, const Maker& make, double learning_rate,
               double min_accuracy) {
    if (options.rest.size() != 1) throw std::invalid_argument{"expected one file of digits"};
    const int n_epochs = options.Count("--epochs");
    cx::Context context;
    cx::SetGlobalDefaultContext(&context);
    cx::SetDefaultDevice(&cx::GetDevice(options["--device"]));
    cx::random::Seed(0);
    std::mt19937 shuffler{0};

    const Digits digits = Load(options.rest[0]);
    std::vector<int64_t> train(kTrain);
    std::iota(train.begin(), train.end(), 0);
    std::vector<int64_t> test(static_cast<size_t>(digits.size() - kTrain));
    std::iota(test.begin(), test.end(), kTrain);

    const std::unique_ptr<Model> made = make();
    Model& model = *made;
    std::vector<double> losses;
    std::vector<double> accuracies;
    for (int epoch = 0; epoch < n_epochs; ++epoch) {
        const auto start = std::chrono::steady_clock::now();
        std::shuffle(train.begin(), train.end(), shuffler);
        const double rate = learning_rate * (1 - static_cast<double>(epoch) / n_epochs);
        double total = 0;
        for (int64_t i = 0; i < kTrain; i += kBatch) {
            const int64_t n = std::min(kBatch, kTrain - i);
            const Batch batch = Gather(digits, train.data() + i, n);
            const cx::Array each = cx::SoftmaxCrossEntropy(model(batch.x), batch.t);
            const cx::Array loss = cx::Sum(each) * (1.0 / static_cast<double>(n));
            cx::Backward(loss);
            model.Update(rate);
            total += loss.Item<double>() * static_cast<double>(n);
        }
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
        losses.push_back(total / kTrain);
        accuracies.push_back(Accuracy(model, digits, train));
        std::printf("epoch %2d/%d  loss %.4f  accuracy %.4f  %.0f samples/s\n", epoch + 1, n_epochs,
                    losses.back(), accuracies.back(), kTrain / time.count());
    }
    Draw(options["--out"], losses, accuracies, model, digits, test);
    const double accuracy = Accuracy(model, digits, test);
    std::printf("Final test accuracy: %.4f on %zu digits (device %s)\n", accuracy, test.size(),
                options["--device"].c_str());
    if (accuracy >= min_accuracy) return EXIT_SUCCESS;
    std::fprintf(stderr, "That is below the %.3f that it must reach.\n", min_accuracy);
    return EXIT_FAILURE;
}

// The body of `main` of a program called `name`.
inline int Main(const std::string& name, int argc, char** argv, const Maker& make,
                double learning_rate, double min_accuracy) {
    const std::string usage =
        "usage: " + name + " [--device NAME] [--epochs N] [--out PATH] digits.csv\n\n" +
        "Learns 1,797 real handwritten digits; digits.csv is what export_digits.py writes.\n\n"
        "  --device NAME  where to train, native:0 or cuda:0 (default: native:0)\n"
        "  --epochs N     how often to see all digits (default: 20)\n"
        "  --out PATH     the picture of how it went (default: " +
        name + ".svg)\n";
    return RunProgram(
        argc, argv, usage, {{"--device", "native:0"}, {"--epochs", "20"}, {"--out", name + ".svg"}},
        [&](const Options& options) { return Run(options, make, learning_rate, min_accuracy); });
}
