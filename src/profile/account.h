/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.h: arithmetic of one CPU case: from rounds, ticks, switches and counts to user, kernel
 * and off-CPU time, slowdown, and what they do not explain. Pure: numbers in, numbers out.
 */
#ifndef MEW_PROFILE_ACCOUNT_H
#define MEW_PROFILE_ACCOUNT_H

#include <stdint.h>

/* One thread in one sampled round. */
struct mew_account_round {
	double wall_s;  /* loop of the thread, pauses taken out */
	double off_s;   /* off the CPU in the loop, outside pauses: from switch records; NAN: not
			   known */
	double count_s; /* on the CPU in the loop, outside pauses: the clock event's count less the
			   pauses' */
	double clock_all_s; /* the clock's count with the pauses: whole ticks are expected of it */
	double period_s;    /* of the tick that tells user from kernel */
	uint64_t ticks;     /* delivered in the loop, in user mode, outside pauses */
	uint64_t n_more_ends; /* clocks beside the first that the count is the sum of, each of which
				 stopped in the middle of a period; and */
	double unticked_s;    /* about what they have run after their last ticks */
};

struct mew_account {
	double wall_s, user_s, kernel_s, off_s;
	double unexplained_s;  /* wall - user - kernel - off */
	double kernel_error_s; /* one standard error of kernel_s */
	double weight_scale; /* factor on sum of periods so that ticks stand for the time they cover
				(phase lost at round ends) */
	double unticked_s;   /* a part of unexplained_s: of the rounds' unticked_s what can be */
	/* Sums over the rounds, for finish. */
	struct {
		double count_s, clock_all_s;
		double expected_s;  /* whole ticks that could be seen x their periods */
		double delivered_s; /* ticks in user mode outside pauses x their periods */
		double expected_s2; /* expected x period^2 */
		double period_s2;   /* period^2 */
	} sum;
};

/* Begin with a zeroed struct. */
void mew_account_add(struct mew_account *a, const struct mew_account_round *r);
/*
 * After all rounds, once. kernel_s below twice its error becomes 0, and user_s and weight_scale
 * take it. off_s is NAN when it is not known of a round; unexplained_s then is NAN, too.
 */
void mew_account_finish(struct mew_account *a);

/* The samples of an event that stands for time, and what they weigh so far, in any unit. */
struct mew_account_samples {
	int of_user, of_kernel; /* the modes in which they are taken */
	int are_ticks;          /* they are the ticks that the account is made of: a clock's */
	double user, kernel;    /* sums over the loop's threads, by where each was taken */
};

struct mew_account_weights {
	double user_factor, kernel_factor; /* on what each sample weighs */
	double user_s, kernel_s, unexplained_s;
	double unsampled_user_s; /* of user_s, and */
	double sampled_kernel_s; /* of kernel_s: so that samples + unsampled user + kernel - sampled
				    kernel is user + kernel */
};

/*
 * After finish: from samples to time, so that those of a mode add up to what the loop spent in it.
 * Where a clock has ticks in both modes the ticks tell how much that is, and what they miss is not
 * explained; where it ticks in the kernel alone, `user_s` of the account is the kernel's. Of other
 * events, the clock beside them tells; if it tells of no kernel time, samples in the kernel count
 * as those in user mode, out of whose time they come.
 */
void mew_account_weigh(const struct mew_account *a, const struct mew_account_samples *s,
		       struct mew_account_weights *ret);

#endif
