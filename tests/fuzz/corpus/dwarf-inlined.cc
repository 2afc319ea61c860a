// SPDX-License-Identifier: Apache-2.0
// Inlined functions, namespaces, a class, a lambda: what seeds.sh compiles for fuzz_dwarf.
namespace outer { struct held { int n; int twice(int k) const { return n * k + 2; } }; }
extern "C" int other(int, ...);
static inline __attribute__((always_inline)) int inner(int n) { outer::held h{n}; return other(h.twice(n)); }
static inline __attribute__((always_inline)) int middle(int n) { { int k = inner(n) + 1; return k * inner(k); } }
namespace { int hidden(int n) { return middle(n) + 1; } }
int called(int n) { auto f = [n](int k) { return other(n, k); }; return hidden(n) + f(n) + f(n + 1); }
