// Trains the network of examples/digits.py on the same digits, without Python.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "chainerx/chainerx.h"

namespace cx = chainerx;

constexpr int64_t kPixels = 64;
constexpr int64_t kTrain = 1437;
constexpr int64_t kBatch = 32;
constexpr int kEpochs = 20;
constexpr double kMinAccuracy = 0.97;

struct Digits {
    std::vector<float> pixels;
    std::vector<int64_t> labels;
    int64_t size() const { return static_cast<int64_t>(labels.size()); }
};

// Lines of a label and 64 pixels from 0 to 16.
Digits Load(const char* path) {
    std::ifstream file{path};
    if (!file) throw std::runtime_error{std::string{"cannot read "} + path};
    Digits digits;
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields{line};
        std::string field;
        std::getline(fields, field, ',');
        digits.labels.push_back(std::stoll(field));
        while (std::getline(fields, field, ',')) digits.pixels.push_back(std::stof(field) / 16);
    }
    if (digits.size() <= kTrain || digits.pixels.size() != digits.labels.size() * kPixels) {
        throw std::runtime_error{std::string{path} + " is not what export_digits.py writes"};
    }
    return digits;
}

struct Batch {
    cx::Array x;
    cx::Array t;
};

Batch Gather(const Digits& digits, const int64_t* rows, int64_t n) {
    std::vector<float> pixels;
    std::vector<int64_t> labels;
    for (int64_t i = 0; i < n; ++i) {
        const auto first = digits.pixels.begin() + rows[i] * kPixels;
        pixels.insert(pixels.end(), first, first + kPixels);
        labels.push_back(digits.labels[static_cast<size_t>(rows[i])]);
    }
    return {cx::Array::FromHost(pixels, {n, kPixels}), cx::Array::FromHost(labels)};
}

// Linear layers with ReLU between them, and gradient descent with momentum.
class Mlp {
 public:
    explicit Mlp(const std::vector<int64_t>& sizes) {
        for (size_t i = 0; i + 1 < sizes.size(); ++i) {
            const double scale = std::sqrt(2.0 / static_cast<double>(sizes[i]));
            AddParameter(
                cx::random::Normal(0, scale, {sizes[i + 1], sizes[i]}, cx::Dtype::kFloat32));
            AddParameter(cx::Zeros({sizes[i + 1]}));
        }
    }

    cx::Array operator()(cx::Array x) const {
        for (size_t i = 0; i < parameters_.size(); i += 2) {
            x = cx::Linear(i == 0 ? x : cx::Relu(x), parameters_[i], parameters_[i + 1]);
        }
        return x;
    }

    void Update(double learning_rate, double momentum = 0.9) {
        for (size_t i = 0; i < parameters_.size(); ++i) {
            velocities_[i] *= momentum;
            velocities_[i] -= *parameters_[i].GetGrad() * learning_rate;
            // A parameter is part of a graph and may not be written; its grad-stopped view may.
            parameters_[i].AsGradStopped() += velocities_[i];
            parameters_[i].ClearGrad();
        }
    }

 private:
    void AddParameter(const cx::Array& parameter) {
        parameters_.push_back(parameter.RequireGrad());
        velocities_.push_back(cx::ZerosLike(parameter));
    }

    std::vector<cx::Array> parameters_;
    std::vector<cx::Array> velocities_;
};

double Accuracy(const Mlp& model, const Digits& digits, const std::vector<int64_t>& rows) {
    const cx::NoBackpropModeScope scope;
    const auto n = static_cast<int64_t>(rows.size());
    const Batch batch = Gather(digits, rows.data(), n);
    const cx::Array hits = cx::ArgMax(model(batch.x), 1) == batch.t;
    return static_cast<double>(cx::CountNonzero(hits).Item<int64_t>()) / static_cast<double>(n);
}

int Run(const char* path, const char* device) {
    cx::Context context;
    cx::SetGlobalDefaultContext(&context);
    cx::SetDefaultDevice(&cx::GetDevice(device));
    cx::random::Seed(0);
    std::mt19937 shuffler{0};

    const Digits digits = Load(path);
    std::vector<int64_t> train(kTrain);
    std::iota(train.begin(), train.end(), 0);
    std::vector<int64_t> test(static_cast<size_t>(digits.size() - kTrain));
    std::iota(test.begin(), test.end(), kTrain);

    Mlp model{{kPixels, 128, 64, 10}};
    for (int epoch = 0; epoch < kEpochs; ++epoch) {
        const auto start = std::chrono::steady_clock::now();
        std::shuffle(train.begin(), train.end(), shuffler);
        const double learning_rate = 0.1 * (1 - static_cast<double>(epoch) / kEpochs);
        double total = 0;
        for (int64_t i = 0; i < kTrain; i += kBatch) {
            const int64_t n = std::min(kBatch, kTrain - i);
            const Batch batch = Gather(digits, train.data() + i, n);
            const cx::Array losses = cx::SoftmaxCrossEntropy(model(batch.x), batch.t);
            const cx::Array loss = cx::Sum(losses) * (1.0 / static_cast<double>(n));
            cx::Backward(loss);
            model.Update(learning_rate);
            total += loss.Item<double>() * static_cast<double>(n);
        }
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
        std::printf("epoch %2d/%d  loss %.4f  accuracy %.4f  %.0f samples/s\n", epoch + 1, kEpochs,
                    total / kTrain, Accuracy(model, digits, train), kTrain / time.count());
    }
    const double accuracy = Accuracy(model, digits, test);
    std::printf("Final test accuracy: %.4f on %zu digits (device %s)\n", accuracy, test.size(),
                device);
    return accuracy >= kMinAccuracy ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char** argv) {
    if (argc < 2 || argc > 3) {
        std::cerr << "usage: digits digits.csv [device]\n";
        return 2;
    }
    try {
        return Run(argv[1], argc > 2 ? argv[2] : "native:0");
    } catch (const std::exception& e) {
        std::cerr << "digits: " << e.what() << "\n";
        return EXIT_FAILURE;
    }
}
