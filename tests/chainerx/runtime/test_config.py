"""chainerx's description of itself, and the BLAS library that $CHAINERX_BLAS selects."""

import io
import os
import subprocess
import sys
import textwrap

import chainerx as chx
import numpy as np
import pytest

PRODUCT = """
import chainerx as chx, numpy as np
rng = np.random.default_rng(0)
for dtype in ('float32', 'float64', 'complex64', 'complex128'):
    x, y = rng.integers(-9, 9, (90, 70)).astype(dtype), rng.integers(-9, 9, (70, 80)).astype(dtype)
    for a, b in ((x, y), (x[0], y), (x, y[:, 0])):
        assert (chx.to_numpy(chx.array(a) @ chx.array(b)) == a @ b).all()
print(chx.config_info()['blas'])
"""

# CBLAS as simple loops over INT indices; says how often it was called, and what it was told.
LIBRARY = r"""
#include <complex>
#include <cstdio>
#include <cstdlib>
template <typename T> struct Scalar { using Type = T; static T Get(T v) { return v; } };
template <typename T> struct Scalar<std::complex<T>> {
    using Type = const void*;
    static std::complex<T> Get(Type p) { return *static_cast<const std::complex<T>*>(p); }
};
#ifndef FIRST
#define FIRST
#endif
int calls = 0;
template <typename T>
void Gemm(int ta, int tb, INT m, INT n, INT k, T alpha, const T* a, INT lda, const T* b, INT ldb,
          T beta, T* c, INT ldc) {
    ++calls;
    for (INT i = 0; i < m; ++i) {
        for (INT j = 0; j < n; ++j) {
            T sum{FIRST};
            for (INT q = 0; q < k; ++q) {
                sum += (ta == 112 ? a[q * lda + i] : a[i * lda + q]) *
                       (tb == 112 ? b[j * ldb + q] : b[q * ldb + j]);
            }
            c[i * ldc + j] = alpha * sum + (beta == T{} ? T{} : beta * c[i * ldc + j]);
        }
    }
}
#define CBLAS(letter, T)                                                                          \
    extern "C" __attribute__((visibility("default"))) void cblas_##letter##gemm(                  \
        int, int ta, int tb, INT m, INT n, INT k, Scalar<T>::Type alpha, const T* a, INT lda,     \
        const T* b, INT ldb, Scalar<T>::Type beta, T* c, INT ldc) {                               \
        Gemm<T>(ta, tb, m, n, k, Scalar<T>::Get(alpha), a, lda, b, ldb, Scalar<T>::Get(beta), c,  \
                ldc);                                                                             \
    }                                                                                             \
    extern "C" __attribute__((visibility("default"))) void cblas_##letter##gemv(                  \
        int, int t, INT m, INT n, Scalar<T>::Type alpha, const T* a, INT lda, const T* x,         \
        INT incx, Scalar<T>::Type beta, T* y, INT incy) {                                         \
        if (t == 112) {                                                                           \
            Gemm<T>(112, 111, n, 1, m, Scalar<T>::Get(alpha), a, lda, x, incx,                    \
                    Scalar<T>::Get(beta), y, incy);                                               \
        } else {                                                                                  \
            Gemm<T>(111, 111, m, 1, n, Scalar<T>::Get(alpha), a, lda, x, incx,                    \
                    Scalar<T>::Get(beta), y, incy);                                               \
        }                                                                                         \
    }
CBLAS(s, float)
CBLAS(d, double)
CBLAS(c, std::complex<float>)
CBLAS(z, std::complex<double>)
#ifdef AS_MKL
#define MKL extern "C" __attribute__((visibility("default")))
MKL int MKL_Set_Interface_Layer(int layer) { return std::printf("layer %d\n", layer); }
MKL int MKL_Set_Threading_Layer(int layer) { return std::printf("threading %d\n", layer); }
MKL void MKL_Set_Num_Threads(int n) { std::printf("threads %d\n", n); }
MKL void MKL_Get_Version_String(char* text, int n) { std::snprintf(text, n, "Not MKL 1.0   "); }
#endif
struct AtExit { ~AtExit() { std::printf("calls %d\n", calls); std::fflush(stdout); } } at_exit;
"""


def run(body=PRODUCT, *, fails=False, **environment):
    clean = {k: v for k, v in os.environ.items() if k not in ('CHAINERX_BLAS', 'CHAINERX_OPENBLAS')}
    done = subprocess.run(
        [sys.executable, '-c', textwrap.dedent(body)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        env={**clean, **environment},
        check=False,
    )
    assert (done.returncode != 0) == fails, done.stdout
    return done.stdout


@pytest.fixture(scope='module')
def cblas(build_library, tmp_path_factory):
    def build(name, *options):
        library = tmp_path_factory.mktemp('cblas') / f'lib{name}.so'
        build_library(library, LIBRARY, *options)
        return str(library)

    return build


# ---- engines -----------------------------------------------------------------------------------


@pytest.mark.parametrize('engine', ['', 'auto', 'own', 'plain'])
def test_engines(engine):
    info = run(CHAINERX_BLAS=engine)
    assert f"'engine': '{engine or 'auto'}'" in info
    if engine == 'plain':
        assert "'path': 'none'" in info


def test_openblas_is_requested():
    """It is there, or the error names the searched paths."""
    here = run()
    if 'OpenBLAS' in here:
        assert 'openblas' in run(CHAINERX_BLAS='openblas')
    out = run(
        "import chainerx._core as c; c._set_openblas_path('/nowhere'); import chainerx;"
        'chainerx.ones((99, 99)) @ chainerx.ones((99, 99))',
        fails=True,
        CHAINERX_BLAS='openblas',
        CHAINERX_OPENBLAS='/nowhere/lib.so',
    )
    assert "CHAINERX_OPENBLAS is '/nowhere/lib.so', which can't be used" in out


def test_library_by_path(cblas):
    path = cblas('plain', '-DINT=int')
    out = run(CHAINERX_BLAS=path)
    assert "'engine': 'file'" in out
    assert f"'path': '{path}'" in out
    assert "'threads': 'as it likes'" in out
    assert int(out.split('calls ')[1]) > 12


def test_openblas_path_of_old(cblas):
    path = cblas('old', '-DINT=int')
    assert f"'path': '{path}'" in run(CHAINERX_OPENBLAS=path)
    # CHAINERX_BLAS takes precedence; if its library is missing, no other is searched.
    assert f"'path': '{path}'" in run(CHAINERX_OPENBLAS='/nowhere', CHAINERX_BLAS=path)
    assert "'path': 'none'" in run(CHAINERX_OPENBLAS='/nowhere', CHAINERX_BLAS='plain')


def test_mkl_gets_integer_size_and_threads(cblas):
    out = run(CHAINERX_BLAS=cblas('mkl', '-DINT=int', '-DAS_MKL'))
    assert 'layer 0\nthreading 1\nthreads 1\n' in out
    assert "'version': 'Not MKL 1.0', 'threads': 'one for each call'" in out


def test_a_library_is_opened_once(cblas):
    """Also if several threads call at once: each would set its number of threads again."""
    program = """
    import threading, chainerx as chx
    gate = threading.Barrier(8)
    def product():
        x = chx.ones((256, 256), 'float64')  # large enough that others may run
        gate.wait()
        assert float((x @ x)[0, 0]) == 256
    threads = [threading.Thread(target=product) for _ in range(8)]
    for t in threads: t.start()
    for t in threads: t.join()
    """
    out = run(program, CHAINERX_BLAS=cblas('shared', '-DINT=int', '-DAS_MKL'))
    assert out.count('layer 0') == 1, out


def test_reason_why_there_is_none():
    out = run("import chainerx as c; c.show_config(); print(c.config_info()['blas']['reason'])")
    assert 'none (' not in out
    assert out.endswith('\n\n'), out
    out = run('import chainerx as c; c.show_config()', CHAINERX_BLAS='plain')
    assert "none (CHAINERX_BLAS is 'plain')" in out


@pytest.mark.parametrize(
    'value', ['opnblas', '/nowhere/libx.so', 'libm.so.6', 'OPENBLAS', 'plain ', '/']
)
def test_bad_values(value):
    body = """
    import chainerx as chx
    x = chx.ones((64, 64), 'float32')
    (x + x).sum()  # needs no engine
    try:
        x @ x
    except chx.ChainerxError as e:
        print(e)
    assert 'CHAINERX_BLAS' in chx.config_info()['blas']['error']
    chx.show_config()
    """
    out = run(body, CHAINERX_BLAS=value)
    assert out.count(f"CHAINERX_BLAS is '{value}', which can't be used: ") == 2, out
    assert 'expected auto, openblas, own, plain or a library with CBLAS' in out


def test_library_that_computes_wrong(cblas):
    """Functions with the right names but other parameters are detected before they do harm."""
    wrong = cblas('wrong', '-DINT=int', '-DFIRST=1')
    out = run(CHAINERX_BLAS=wrong, fails=True)
    assert f"CHAINERX_BLAS is '{wrong}', which can't be used: {wrong} computes wrong" in out


# ---- facts -------------------------------------------------------------------------------------


def test_config_info():
    info = chx.config_info()
    assert info['chainerx'] == chx.__version__
    assert info['packages']['numpy'] == np.__version__
    assert info['num_threads'] == chx.get_num_threads()
    assert info['default_device'] == chx.get_default_device().name
    assert {chx.get_device('native:0').name} <= {*info['devices']}
    isa = info['isa']
    assert isa['used'] in isa['available']
    assert {*isa['available']} <= {*isa['built']}
    assert info['memory']['cache_limit'] == chx.get_memory_info()['limit']
    assert info['memory']['physical'] > 1 << 28
    assert set(info['blas']) == {'engine', 'path', 'version', 'threads', 'reason'}


def test_show_config(capsys):
    assert chx.show_config() is None
    out = capsys.readouterr().out
    file = io.StringIO()
    chx.show_config(file)
    assert file.getvalue() == out
    info = chx.config_info()
    for part in (
        chx.__version__,
        info['compiler'],
        info['isa']['used'],
        info['blas']['path'],
        info['blas']['threads'],
        ', '.join(info['devices']),
        f'numpy {np.__version__}',
    ):
        assert part in out, part


def test_module_prints_it():
    body = "import sys, runpy; sys.argv = ['chainerx', '--info']; runpy.run_module('chainerx')"
    out = run(body.replace("'chainerx')", "'chainerx', run_name='__main__')"))
    assert 'instruction set:' in out


def test_environment():
    out = run(
        'import chainerx; chainerx.show_config()',
        CHAINERX_NUM_THREADS='3',
        CHAINERX_NUM_THREAD='3',
    )
    assert 'CHAINERX_NUM_THREADS=3\n' in out
    assert 'CHAINERX_NUM_THREAD=3  (chainerx knows no such variable)' in out
    assert 'threads:          3\n' in out


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('CHAINERX_ISA', 'abacus'),
        ('CHAINERX_NUM_THREADS', 'many'),
        ('CHAINERX_CACHE_LIMIT', '2 GB'),
        ('CHAINERX_CACHE_LIMIT', '-1'),
        ('CHAINERX_CACHE_LIMIT', '99999999999999999999'),
    ],
)
def test_a_wrong_setting_is_shown(name, value):
    out = run('import chainerx; chainerx.show_config()', **{name: value})
    assert f"{name} is '{value}'" in out


@pytest.mark.parametrize('value', ['0', '1000000', ''])
def test_cache_limit(value):
    body = """
    import chainerx as chx
    chx.empty(100_000, 'int8')
    info = chx.get_memory_info()
    print(info['limit'], info['cached'] > 0)
    """
    limit, cached = run(body, CHAINERX_CACHE_LIMIT=value).split()
    if value:
        assert limit == value
    assert cached == str(value != '0' and 'libasan' not in os.environ.get('LD_PRELOAD', ''))


def test_wrong_cache_limit_is_an_error_of_the_first_large_array():
    body = """
    import chainerx as chx
    chx.ones(3) + 1
    for _ in range(2):
        try:
            chx.empty(100_000, 'int8')
        except ValueError as e:
            print(e)
    """
    out = run(body, CHAINERX_CACHE_LIMIT='lots')
    assert out.count("CHAINERX_CACHE_LIMIT is 'lots', expected a number of bytes") == 2


def test_plugins_are_listed(build_backend):
    library = build_backend('toy')
    body = """
    import chainerx as chx
    assert chx.config_info()['plugins'] == {}
    chx.get_device('toy:1')
    info = chx.config_info()
    print(info['plugins'])
    print(info['devices'])
    chx.show_config()
    """
    out = run(body, CHAINERX_PATH=str(library.parents[1]))
    assert str({str(library): 'toy'}) in out
    assert "'toy:0', 'toy:1'" in out
    assert f'toy ({library})' in out


def test_backends_of_other_contexts_are_no_devices_of_the_default_one(build_backend):
    library = build_backend('toy')
    body = """
    import os
    import chainerx as chx
    context = chx.Context()
    context.get_device('toy:0')
    del os.environ['CHAINERX_PATH']
    info = chx.config_info()
    print([d for d in info['devices'] if not d.startswith('native')], *info['plugins'].values())
    """
    assert run(body, CHAINERX_PATH=str(library.parents[1])).strip() == '[] toy'
