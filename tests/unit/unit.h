/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each unit test includes: cmocka and the headers that it wants first. One group of tests a
 * program (TAP has one plan), names are sentences, no skip().
 */
#ifndef MEW_TESTS_UNIT_H
#define MEW_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Doubles that differ by no more than `by`. */
#define assert_near(a, b, by)                                                                      \
	do {                                                                                       \
		double near_a_ = (a), near_b_ = (b);                                               \
		if (!(near_a_ - near_b_ <= (by) && near_b_ - near_a_ <= (by)))                     \
			fail_msg("%s is %.12g, not %.12g", #a, near_a_, near_b_);                  \
	} while (0)

#endif
