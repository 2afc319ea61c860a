/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/hook.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "bench/environment.h"
#include "bench/root.h"

static void refuse(struct mew_run *run, const char *why)
{
	mew_run_decide(run, MEW_CASE_FAILED, "allocator not hooked: %s", why);
}

/* The hook must see an allocation of this program, or all its zeros would mean nothing. */
static bool hook_sees_us(const struct mew_gate *gate)
{
	uint64_t before = gate->n_hooked();
	void *volatile block = malloc(1);

	free(block);
	return gate->n_hooked() != before;
}

bool mew_hook_open(struct mew_run *run)
{
	const struct mew_gate *gate = dlsym(RTLD_DEFAULT, MEW_GATE_SYMBOL);
	int32_t status;

	if (!gate) {
		/* No interpreter: nothing can be preloaded. */
		if (getauxval(AT_BASE) == 0)
			refuse(run, "the program is static");
		else if (getauxval(AT_SECURE) != 0)
			refuse(run, "the program is set-user-ID or has capabilities");
		else
			refuse(run, MEW_HEAP_LIBRARY " is not loaded");
		return false;
	}
	if (gate->version != MEW_GATE_VERSION) {
		refuse(run, MEW_HEAP_LIBRARY " is of another version than libmew");
		return false;
	}
	status = gate->status();
	if (status != 0) {
		refuse(run, strerror(-status));
		return false;
	}
	if (!hook_sees_us(gate)) {
		refuse(run, "the program brings its own malloc");
		return false;
	}
	gate->prepare(mew_root_lo(), mew_root_hi());
	run->gate = gate;
	return true;
}
