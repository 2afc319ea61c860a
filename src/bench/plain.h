/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain.h: the plain run: iterations are tuned, rounds are timed, each case in a child process, so
 * that one that dies takes no other with it.
 */
#ifndef MEW_BENCH_PLAIN_H
#define MEW_BENCH_PLAIN_H

#include <signal.h>

#include "bench/option.h"
#include "bench/registry.h"
#include "bench/result.h"

/*
 * Run a case. *ret is the caller's: free it by mew_plain_free. A case that fails or dies is no
 * failure of this function. *interrupted is looked at while the case runs (the signal's handler is
 * the caller's): the case is ended then, -EINTR. Else 0 or -errno: the process or its memory could
 * not be made.
 */
int mew_plain_run(const struct mew_case *c, const struct mew_options *o,
		  const volatile sig_atomic_t *interrupted, struct mew_result **ret,
		  struct mew_error *error);
void mew_plain_free(struct mew_result *r, const struct mew_options *o);

#endif
