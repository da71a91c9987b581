// LAPACK, from the library that serves as BLAS, if it includes LAPACK.
#pragma once

#include <complex>
#include <cstddef>

#include "chainerx/native/strided/scalar_traits.h"

namespace chainerx::native {

// Fortran's calling convention: all arguments by address, matrices by columns, lengths of strings
// at the end.
template <typename T>
struct LapackOrthogonal {
    void (*gelqf)(const int* m, const int* n, T* a, const int* lda, T* tau, T* work,
                  const int* lwork, int* info);
    void (*orglq)(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau,
                  T* work, const int* lwork, int* info);
};

template <typename T>
struct LapackRoutines : LapackOrthogonal<T> {
    void (*gesdd)(const char* jobz, const int* m, const int* n, T* a, const int* lda, T* s, T* u,
                  const int* ldu, T* vt, const int* ldvt, T* work, const int* lwork, int* iwork,
                  int* info, size_t);
    void (*syevd)(const char* jobz, const char* uplo, const int* n, T* a, const int* lda, T* w,
                  T* work, const int* lwork, int* iwork, const int* liwork, int* info, size_t,
                  size_t);
    void (*geev)(const char* jobvl, const char* jobvr, const int* n, T* a, const int* lda, T* wr,
                 T* wi, T* vl, const int* ldvl, T* vr, const int* ldvr, T* work, const int* lwork,
                 int* info, size_t, size_t);
};

// Complex routines, which also take a real work space. syevd and orglq are heevd and unglq here.
template <typename R>
struct LapackRoutines<std::complex<R>> : LapackOrthogonal<std::complex<R>> {
    using T = std::complex<R>;

    void (*gesdd)(const char* jobz, const int* m, const int* n, T* a, const int* lda, R* s, T* u,
                  const int* ldu, T* vt, const int* ldvt, T* work, const int* lwork, R* rwork,
                  int* iwork, int* info, size_t);
    void (*syevd)(const char* jobz, const char* uplo, const int* n, T* a, const int* lda, R* w,
                  T* work, const int* lwork, R* rwork, const int* lrwork, int* iwork,
                  const int* liwork, int* info, size_t, size_t);
    void (*geev)(const char* jobvl, const char* jobvr, const int* n, T* a, const int* lda, T* w,
                 T* vl, const int* ldvl, T* vr, const int* ldvr, T* work, const int* lwork,
                 R* rwork, int* info, size_t, size_t);
};

// Null if a routine is missing. Guard calls of them by BlasCall.
template <typename T>
const LapackRoutines<T>* FindLapack();

}  // namespace chainerx::native
