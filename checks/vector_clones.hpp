// Loops over elements, compiled once for each width of vectors that the processor may have; the widest is taken when
// the program starts. Results are the same in all of them: no multiplication is fused with an addition.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define PLUMBLINE_VECTOR_CLONES __attribute__((flatten, target_clones("avx512f", "avx2", "default")))
#else
#define PLUMBLINE_VECTOR_CLONES
#endif
