// Preloaded by test_out_of_memory.py: of the requests for memory that chainerx and the C++ runtime
// make in one thread, some fail.
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static struct {
    uintptr_t begin, end;
} g_code[16];
static int g_code_count;
static __thread long t_count = -1;  // -1: not counting
static __thread long t_first, t_last;

static int AddCode(struct dl_phdr_info* info, size_t size, void* unused) {
    (void)size, (void)unused;
    if (strstr(info->dlpi_name, "libchainerx") == NULL &&
        strstr(info->dlpi_name, "/_core.") == NULL &&
        strstr(info->dlpi_name, "libstdc++") == NULL) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum && g_code_count < 16; ++i) {
        const ElfW(Phdr)* part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0) continue;
        g_code[g_code_count].begin = info->dlpi_addr + part->p_vaddr;
        g_code[g_code_count++].end = info->dlpi_addr + part->p_vaddr + part->p_memsz;
    }
    return 0;
}

// Once, when the libraries are loaded.
int fail_init(void) {
    dl_iterate_phdr(&AddCode, NULL);
    return g_code_count;
}

// From now on, requests number `first` to `last` of this thread fail.
void fail_begin(long first, long last) {
    t_first = first;
    t_last = last;
    t_count = 0;
}

// Returns how many requests there were.
long fail_end(void) {
    const long count = t_count;
    t_count = -1;
    return count;
}

static int Fails(void* caller) {
    if (t_count < 0) return 0;
    const uintptr_t address = (uintptr_t)caller;
    int i = 0;
    while (i < g_code_count && !(address >= g_code[i].begin && address < g_code[i].end)) ++i;
    if (i == g_code_count) return 0;
    ++t_count;
    if (t_count < t_first || t_count > t_last) return 0;
    errno = ENOMEM;
    return 1;
}

#define CALLER __builtin_return_address(0)

void* malloc(size_t n) { return Fails(CALLER) ? NULL : __libc_malloc(n); }
void* calloc(size_t m, size_t n) { return Fails(CALLER) ? NULL : __libc_calloc(m, n); }
void* realloc(void* p, size_t n) { return Fails(CALLER) ? NULL : __libc_realloc(p, n); }
void* memalign(size_t a, size_t n) { return Fails(CALLER) ? NULL : __libc_memalign(a, n); }
void* aligned_alloc(size_t a, size_t n) { return Fails(CALLER) ? NULL : __libc_memalign(a, n); }
int posix_memalign(void** p, size_t a, size_t n) {
    if (Fails(CALLER)) return ENOMEM;
    *p = __libc_memalign(a, n);
    return *p != NULL ? 0 : ENOMEM;
}
