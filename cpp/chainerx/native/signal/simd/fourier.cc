// FFT of rows by the library pocketfft, which computes one row per lane.
#define POCKETFFT_NO_MULTITHREADING
#define POCKETFFT_CACHE_SIZE 0
#include <pocketfft_hdronly.h>

#include "chainerx/native/signal/fourier_loops.h"
#include "chainerx/native/signal/simd/fourier_lanes.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

namespace library = pocketfft::detail;

template <typename T, int kLanes>
using Lanes = lanes::Vector<T, kLanes>;

template <typename T>
using Complex = library::cmplx<T>;

// Loads rows from `first` on, one per lane; missing rows repeat the last one.
template <typename T, int kLanes>
class Group {
 public:
    Group(const FourierRows<T>& r, int64_t first)
        : in_step_{r.in_step},
          out_step_{r.out_step},
          count_{r.rows - first < kLanes ? r.rows - first : kLanes} {
        for (int64_t j = 0; j < kLanes; ++j) {
            const int64_t row = first + (j < count_ ? j : count_ - 1);
            in_[j] = r.in_at[row];
            out_[j] = r.out_at[row];
            in_beside_ = in_beside_ && in_[j] == in_[0] + j;
            out_beside_ = out_beside_ && out_[j] == out_[0] + j;
        }
    }
    lanes::Places in() const { return {in_, count_, in_step_, in_beside_}; }
    lanes::Places out() const { return {out_, count_, out_step_, out_beside_}; }

 private:
    int64_t in_[kLanes];
    int64_t out_[kLanes];
    int64_t in_step_;
    int64_t out_step_;
    int64_t count_;
    bool in_beside_{true};
    bool out_beside_{true};
};

// Calls f with the number of rows that are computed at once, for rows of n elements: as many as a
// register has lanes, unless half or a quarter of them, in registers of at least kMinBytes, fit
// in L1 together with the library's work space.
template <typename T, int kMinBytes, int kLanes = lanes::kMax<T>, typename F>
inline void WithLanes(int64_t n, const F& f) {
    constexpr int64_t kCache = 32 << 10;
    constexpr auto kRegister = static_cast<int64_t>(kLanes * sizeof(T));
    if (2 * kRegister * n <= kCache) {
        f.template operator()<kLanes>();
    } else if constexpr (kRegister > kMinBytes) {
        WithLanes<T, kMinBytes, kLanes / 2>(n, f);
    } else {
        f.template operator()<lanes::kMax<T>>();
    }
}

// ---- complex to complex

template <typename T>
inline Complex<T> Twiddled(const Complex<T>& y, const T* w, bool forward) {
    const T i = forward ? w[1] : -w[1];
    return {y.r * w[0] - y.i * i, y.r * i + y.i * w[0]};
}

template <typename T, int kLanes>
void ComplexGroup(const FourierRows<T>& r, const Group<T, kLanes>& g,
                  const library::pocketfft_c<T>& plan) {
    auto* work = static_cast<Complex<Lanes<T, kLanes>>*>(r.work);
    lanes::GatherComplex<kLanes>(
        r.in, g.in(), r.n,
        [&](int64_t i, const Lanes<T, kLanes>& real, const Lanes<T, kLanes>& imag) {
            work[i].r = real;
            work[i].i = imag;
        });
    plan.exec(work, r.scale, r.forward);
    if (r.twiddles != nullptr) {
        lanes::GatherComplex<kLanes>(
            r.twiddles, g.out(), r.n,
            [&](int64_t i, const Lanes<T, kLanes>& real, const Lanes<T, kLanes>& imag) {
                const Lanes<T, kLanes> w = r.forward ? imag : -imag;
                const Complex<Lanes<T, kLanes>> y = work[i];
                work[i].r = y.r * real - y.i * w;
                work[i].i = y.r * w + y.i * real;
            });
    }
    lanes::ScatterComplex<kLanes>(r.out, g.out(), r.n,
                                  [&](int64_t i, Lanes<T, kLanes>* real, Lanes<T, kLanes>* imag) {
                                      *real = work[i].r;
                                      *imag = work[i].i;
                                  });
}

template <typename T>
void ComplexRow(const FourierRows<T>& r, int64_t row, const library::pocketfft_c<T>& plan) {
    const T* in = r.in + 2 * r.in_at[row];
    T* out = r.out + 2 * r.out_at[row];
    const bool in_place = r.out_step == 1;
    auto* work = in_place ? reinterpret_cast<Complex<T>*>(out) : static_cast<Complex<T>*>(r.work);
    if (&work[0].r != in || r.in_step != 1) {
        for (int64_t i = 0; i < r.n; ++i) {
            work[i].Set(in[2 * i * r.in_step], in[2 * i * r.in_step + 1]);
        }
    }
    plan.exec(work, r.scale, r.forward);
    if (in_place && r.twiddles == nullptr) return;
    for (int64_t i = 0; i < r.n; ++i) {
        const int64_t at = 2 * i * r.out_step;
        const Complex<T> y =
            r.twiddles == nullptr
                ? work[i]
                : Twiddled(work[i], r.twiddles + 2 * r.out_at[row] + at, r.forward);
        out[at] = y.r;
        out[at + 1] = y.i;
    }
}

template <typename T>
void RunComplex(const FourierRows<T>& r) {
    const auto& plan = *static_cast<const library::pocketfft_c<T>*>(r.plan);
    WithLanes<T, 32>(2 * r.n, [&]<int kLanes>() {
        for (int64_t row = 0; row < r.rows; row += kLanes) {
            if (r.rows - row == 1) {
                ComplexRow(r, row, plan);
            } else {
                ComplexGroup(r, Group<T, kLanes>{r, row}, plan);
            }
        }
    });
}

// ---- real to complex and back; the library stores the parts of number k at 2 k - 1 and 2 k, and
// that of number 0 at 0

template <typename T, int kLanes>
void FromRealGroup(const FourierRows<T>& r, const Group<T, kLanes>& g,
                   const library::pocketfft_r<T>& plan) {
    auto* work = static_cast<Lanes<T, kLanes>*>(r.work);
    lanes::GatherReal<kLanes>(r.in, g.in(), r.n, work);
    plan.exec(work, r.scale, true);
    const T sign = r.forward ? r.inside : -r.inside;
    lanes::ScatterComplex<kLanes>(r.out, g.out(), r.n / 2 + 1,
                                  [&](int64_t k, Lanes<T, kLanes>* real, Lanes<T, kLanes>* imag) {
                                      if (k == 0 || 2 * k == r.n) {
                                          *real = work[k == 0 ? 0 : r.n - 1];
                                          *imag = Lanes<T, kLanes>{};
                                      } else {
                                          *real = work[2 * k - 1] * r.inside;
                                          *imag = work[2 * k] * sign;
                                      }
                                  });
}

template <typename T>
void FromRealRow(const FourierRows<T>& r, int64_t row, const library::pocketfft_r<T>& plan) {
    auto* work = static_cast<T*>(r.work);
    const T* in = r.in + r.in_at[row];
    for (int64_t i = 0; i < r.n; ++i) work[i] = in[i * r.in_step];
    plan.exec(work, r.scale, true);
    T* out = r.out + 2 * r.out_at[row];
    const T imag = r.forward ? r.inside : -r.inside;
    const auto set = [&](int64_t k, T real, T imag) {
        out[2 * k * r.out_step] = real;
        out[2 * k * r.out_step + 1] = imag;
    };
    set(0, work[0], T(0));
    for (int64_t k = 1; 2 * k < r.n; ++k) set(k, work[2 * k - 1] * r.inside, work[2 * k] * imag);
    if (r.n % 2 == 0) set(r.n / 2, work[r.n - 1], T(0));
}

template <typename T>
void RunFromReal(const FourierRows<T>& r) {
    const auto& plan = *static_cast<const library::pocketfft_r<T>*>(r.plan);
    WithLanes<T, 16>(r.n, [&]<int kLanes>() {
        for (int64_t row = 0; row < r.rows; row += kLanes) {
            if (r.rows - row == 1) {
                FromRealRow(r, row, plan);
            } else {
                FromRealGroup(r, Group<T, kLanes>{r, row}, plan);
            }
        }
    });
}

template <typename T, int kLanes>
void ToRealGroup(const FourierRows<T>& r, const Group<T, kLanes>& g,
                 const library::pocketfft_r<T>& plan) {
    auto* work = static_cast<Lanes<T, kLanes>*>(r.work);
    const T sign = r.forward ? -r.inside : r.inside;
    lanes::GatherComplex<kLanes>(
        r.in, g.in(), r.n / 2 + 1,
        [&](int64_t k, const Lanes<T, kLanes>& real, const Lanes<T, kLanes>& imag) {
            if (k == 0 || 2 * k == r.n) {
                work[k == 0 ? 0 : r.n - 1] = real;
            } else {
                work[2 * k - 1] = real * r.inside;
                work[2 * k] = imag * sign;
            }
        });
    plan.exec(work, r.scale, false);
    lanes::ScatterReal<kLanes>(r.out, g.out(), r.n, work);
}

template <typename T>
void ToRealRow(const FourierRows<T>& r, int64_t row, const library::pocketfft_r<T>& plan) {
    const bool in_place = r.out_step == 1;
    T* out = r.out + r.out_at[row];
    T* work = in_place ? out : static_cast<T*>(r.work);
    const T* in = r.in + 2 * r.in_at[row];
    const T sign = r.forward ? -r.inside : r.inside;
    work[0] = in[0];
    for (int64_t k = 1; 2 * k < r.n; ++k) {
        work[2 * k - 1] = in[2 * k * r.in_step] * r.inside;
        work[2 * k] = in[2 * k * r.in_step + 1] * sign;
    }
    if (r.n % 2 == 0) work[r.n - 1] = in[r.n * r.in_step];
    plan.exec(work, r.scale, false);
    if (in_place) return;
    for (int64_t i = 0; i < r.n; ++i) out[i * r.out_step] = work[i];
}

template <typename T>
void RunToReal(const FourierRows<T>& r) {
    const auto& plan = *static_cast<const library::pocketfft_r<T>*>(r.plan);
    WithLanes<T, 16>(r.n, [&]<int kLanes>() {
        for (int64_t row = 0; row < r.rows; row += kLanes) {
            if (r.rows - row == 1) {
                ToRealRow(r, row, plan);
            } else {
                ToRealGroup(r, Group<T, kLanes>{r, row}, plan);
            }
        }
    });
}

template <typename Plan>
void* Make(int64_t n) {
    return new Plan{static_cast<size_t>(n)};
}

template <typename Plan>
void Release(void* plan) {
    delete static_cast<Plan*>(plan);
}

template <typename T>
int64_t Work(int64_t n) {
    return n * static_cast<int64_t>(sizeof(Complex<Lanes<T, lanes::kMax<T>>>));
}

template <typename T>
constexpr FourierLoops<T> kLoops = {
    {&Make<library::pocketfft_c<T>>, &Make<library::pocketfft_r<T>>},
    {&Release<library::pocketfft_c<T>>, &Release<library::pocketfft_r<T>>},
    &Work<T>,
    lanes::kMax<T>,
    &RunComplex<T>,
    &RunFromReal<T>,
    &RunToReal<T>,
};

}  // namespace

CX_EXPORT_LOOPS(FourierUnit){kLoops<float>, kLoops<double>};

}  // namespace chainerx::native::CX_ISA
