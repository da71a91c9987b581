// Prints the nanoseconds per `a + b` of shape (2, 3), without a graph, then with one. Each
// figure is the best of many short rounds.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "chainerx/chainerx.h"

namespace {

double BestNanoseconds(const chainerx::Array& a, const chainerx::Array& b) {
    constexpr int kRounds = 200;
    constexpr int kRuns = 5000;
    double best = std::numeric_limits<double>::infinity();
    for (int round = 0; round < kRounds; ++round) {
        auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < kRuns; ++i) {
            chainerx::Array y = a + b;
        }
        std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
        best = std::min(best, elapsed.count() / kRuns);
    }
    return best;
}

}  // namespace

int main() {
    chainerx::Context context;
    chainerx::SetDefaultContext(&context);
    const chainerx::Array a = chainerx::Ones({2, 3}, chainerx::Dtype::kFloat32);
    const chainerx::Array b = chainerx::Ones({2, 3}, chainerx::Dtype::kFloat32);
    const double without_graph = BestNanoseconds(a, b);
    a.RequireGrad();
    b.RequireGrad();
    std::printf("%.2f %.2f\n", without_graph, BestNanoseconds(a, b));
}
