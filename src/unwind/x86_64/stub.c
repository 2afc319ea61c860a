/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "unwind/stub.h"

#include "unwind/cpu.h"

#if MEW_CPU_EM == 62

/* Linkers write CFI for .plt, and libcs for their signal trampoline. */
size_t mew_stubs_find(Elf *elf, struct mew_stub ret[MEW_STUBS_MAX])
{
	(void)elf;
	(void)ret;
	return 0;
}

#endif
