"""A driver library without a card: its memory is the processor's, and its kernels are the same text compiled
for it. What it answers, and when it fails, can be set."""

import ctypes
import subprocess

import pytest

from strut.codegen import build_device_library, compiler, cuda_driver
from strut.codegen.cuda import CudaCompiler
from strut.simulate import batch_on_card

TEXT = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* what it tells and when it fails: version of CUDA, memory free as told, memory in truth, error of cuInit, of loading, and of
 * the launch with that number; launches and loads count them, held the bytes that were not given back */
int64_t fake_version = 13000, fake_told = 1 << 30, fake_memory = 1 << 30, fake_init, fake_load, fake_launch = -1,
        fake_error = 719, fake_launches, fake_loads, fake_held, fake_shared = 232448;
typedef struct { void (*here)(void **); } function;
static void *opened;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

int cuInit(unsigned flags) { (void)flags; return (int)fake_init; }
int cuDriverGetVersion(int *v) { *v = (int)fake_version; return 0; }
int cuDeviceGet(int *d, int n) { *d = n; return 0; }
int cuDeviceGetName(char *name, int length, int d) { (void)d; snprintf(name, (size_t)length, "a card that is none"); return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) { (void)d; *v = a == 75 ? 9 : a == 76 ? 0 : a == 97 ? (int)fake_shared : 1; return 0; }
int cuDevicePrimaryCtxRetain(void **c, int d) { (void)d; *c = &opened; return 0; }
int cuCtxSetCurrent(void *c) { (void)c; return 0; }
int cuStreamSynchronize(void *q) { return q != (void *)2; }
int cuMemGetInfo_v2(size_t *f, size_t *w) { *f = *w = (size_t)fake_told; return 0; }
int cuMemAllocAsync(uint64_t *at, size_t n, void *q)
{
    (void)q;
    if ((int64_t)n > fake_memory) return 2;
    size_t *block = malloc(n + 256);
    *block = n;
    fake_held += (int64_t)n;
    memset((char *)block + 256, 0xaa, n);
    *at = (uint64_t)((char *)block + 256);
    return 0;
}
int cuMemFreeAsync(uint64_t at, void *q) { (void)q; size_t *block = (size_t *)(at - 256); fake_held -= (int64_t)*block; free(block); return 0; }
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, void *q) { (void)q; memcpy((void *)to, from, n); return 0; }
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t n, void *q) { (void)q; memcpy(to, (void *)from, n); return 0; }
int cuMemsetD8Async(uint64_t at, unsigned char v, size_t n, void *q) { (void)q; memset((void *)at, v, n); return 0; }
int cuModuleLoad(void **m, const char *path)
{
    if (fake_load) return (int)fake_load;
    fake_loads++;
    *m = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return *m ? 0 : 200;
}
int cuModuleGetFunction(void **f, void *m, const char *name)
{
    char here[64];
    function *found = malloc(sizeof *found);
    snprintf(here, sizeof here, "%s_here", name);
    *(void **)&found->here = dlsym(m, here);
    *f = found;
    return found->here ? 0 : 500;
}
int cuFuncGetAttribute(int *v, int a, void *f) { (void)f; *v = a == 4 ? 255 : 1024; return 0; }
int cuFuncSetAttribute(void *f, int a, int v) { (void)f; (void)a; (void)v; return 0; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *v, void *f, int threads, size_t s) { (void)f; (void)threads; (void)s; *v = 1; return 0; }
int cuLaunchKernel(void *f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g, unsigned s, void *q, void **args, void **x)
{
    (void)a; (void)b; (void)c; (void)d; (void)e; (void)g; (void)s; (void)q; (void)x;
    if (d > 1 && fake_launches++ == fake_launch) return (int)fake_error; /* one thread alone only tells what the host has to know */
    pthread_mutex_lock(&turn); /* kernels for the processor have memory of their own: one at a time */
    ((function *)f)->here(args);
    pthread_mutex_unlock(&turn);
    return 0;
}
int cuGetErrorString(int n, const char **text)
{
    *text = n == 719 ? "unspecified launch failure" : n == 2 ? "out of memory" : n == 222 ? "the provided PTX was compiled with an unsupported toolchain."
        : n == 803 ? "system has unsupported display driver / cuda driver combination" : "some error";
    return 0;
}
"""


class FakeDriver:
    """The library, and its settings as attributes."""

    def __init__(self, path):
        object.__setattr__(self, "library", ctypes.CDLL(str(path)))
        object.__setattr__(self, "path", str(path))

    def __getattr__(self, name):
        return ctypes.c_int64.in_dll(self.library, f"fake_{name}").value

    def __setattr__(self, name, value):
        ctypes.c_int64.in_dll(self.library, f"fake_{name}").value = value


@pytest.fixture(scope="session")
def fake_driver_file(tmp_path_factory):
    cc = compiler()
    if cc is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("driver")
    (folder / "driver.c").write_text(TEXT)
    command = [
        *cc,
        "-shared",
        "-fPIC",
        "-o",
        str(folder / "libfake.so"),
        str(folder / "driver.c"),
        "-ldl",
        "-lpthread",
    ]
    subprocess.run(command, check=True)
    return folder / "libfake.so"


@pytest.fixture
def fake_driver(fake_driver_file, monkeypatch, tmp_path):
    """A driver in the place of CUDA's; kernels are compiled for the processor."""
    copy = tmp_path / "libfake.so"  # its settings begin anew
    copy.write_bytes(fake_driver_file.read_bytes())
    monkeypatch.setattr(cuda_driver, "DRIVER_LIBRARY", str(copy))
    monkeypatch.setattr(
        batch_on_card, "find_cuda_compiler", lambda cuda: CudaCompiler("nvcc", "of the processor")
    )
    monkeypatch.setattr(
        batch_on_card,
        "build_device_library",
        lambda low, method, precision, capability, *, ledger, crew, chosen: build_device_library(
            low, method, precision, None, ledger=ledger, crew=crew
        ),
    )
    return FakeDriver(copy)
