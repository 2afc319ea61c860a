/* SPDX-License-Identifier: Apache-2.0 */
/* weigh.h: when a case is over, what each of its samples stands for: time, so that they add up to
 * what the account says. */
#ifndef MEW_SESSION_WEIGH_H
#define MEW_SESSION_WEIGH_H

#include "kernel/event.h"
#include "profile/account.h"
#include "session/collect.h"

/* Whether a thread is the loop's: the time is divided among the samples of these, and the others'
 * weigh as much as theirs. NULL: all are. */
typedef int (*mew_weigh_loop_fn)(void *arg, uint32_t thread);

/* Sets the hits' weight_s, which are settled; ret: what goes into the row. */
void mew_weigh(struct mew_collect *c, const struct mew_event *event, const struct mew_account *a,
	       mew_weigh_loop_fn in_loop, void *arg, struct mew_account_weights *ret);

/* After the case was summarised: the times of the modes. */
void mew_weigh_row(const struct mew_account_weights *w, struct mew_cpu_row *row);

#endif
