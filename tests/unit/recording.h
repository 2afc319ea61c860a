/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of recordings: a directory for each of them, and a session to record. */
#ifndef MEW_TESTS_RECORDING_H
#define MEW_TESTS_RECORDING_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sql.h"
#include "unit.h"

static char directory[64];

static inline int enter(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/mew_store.XXXXXX");
	return !mkdtemp(directory) || chmod(directory, 0755) || chdir(directory);
}

static inline int leave(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return chdir("/") || system(command);
}

static inline struct mew_store *open_store(enum mew_store_mode mode)
{
	struct mew_error error = {0};
	struct mew_store *st = mew_store_open("x.db", mode, &error);

	if (!st)
		fail_msg("%s", error.text);
	return st;
}

static inline uint32_t stack_of(struct mew_session *s, uint32_t parent, const char *name)
{
	return mew_session_stack(s, parent, mew_session_function(s, name, "a.c", 3, "/lib/m.so"), 4,
				 1);
}

/* A session with one case of which nothing is left at its default. */
static inline struct mew_session *cpu_session(void)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_pcase *c = mew_session_case(s, "na\xffme", "=1+1");
	struct mew_pvalue *v;

	s->started_unix_ns = 1700000000123456789;
	s->program = "/bin/bench";
	s->build_id = "abcd";
	s->arguments = "'a b' c";
	s->tag = "base";
	s->engine = "perf_event:cpu-clock:u";
	s->machine = "Linux 6.1";
	s->version = "0.1";
	c->n_threads = 3;
	c->verdict = "noisy";
	c->hint = "-n 300";
	c->doubtful = 1;
	c->cpu = (struct mew_cpu_row){.profiler = "perf_event:cpu-clock:u",
				      .wall_time_s = 1.5,
				      .sample_count = 7,
				      .top_function = "f (a.c:3)",
				      .top_self_s = 0.25,
				      .iterations = 9,
				      .interval_s = 1e-4,
				      .paused_time_s = 0.5,
				      .kernel_time_s = 0.125,
				      .off_cpu_time_s = NAN,
				      .lost = 1,
				      .truncated = 2,
				      .unknown = 3,
				      .slowdown = 1.03,
				      .pause_cost_s = 5e-6,
				      .time_per_iteration_s = 0.1,
				      .time_spread = 0.01,
				      .user_time_s = 1.25,
				      .top_share = 0.2,
				      .top_share_half_width = 0.03};
	v = mew_case_value(s, c, stack_of(s, stack_of(s, 0, "loop"), "malloc"), 1);
	v->samples = 5;
	v->weight_s = 1;
	v = mew_case_value(s, c, 0, 0);
	v->samples = 2;
	v->weight_s = 0.25;
	mew_case_counter(s, c, "hits", 12.5, 1);
	mew_case_counter(s, c, "bytes", 1e9, 2);
	return s;
}

static inline void record(struct mew_store *st, struct mew_session *s)
{
	struct mew_error error = {0};
	size_t i;

	assert_int_equal(mew_store_begin(st, s, &error), 0);
	for (i = 0; i < s->n_cases; i++)
		if (mew_store_case(st, s, &s->cases[i], &error))
			fail_msg("%s", error.text);
	assert_int_equal(mew_store_end(st, s, &error), 0);
}

static inline int64_t number(struct mew_store *st, const char *sql)
{
	struct mew_error error = {0};
	int64_t n = -1;

	if (mew_sql_number(st, sql, 0, &n, &error))
		fail_msg("%s", error.text);
	return n;
}

static inline void fill_shape(struct mew_shape *shape)
{
	shape->width = 8;
	assert_int_equal(mew_shape_point(shape, 100), 0);
	assert_int_equal(mew_shape_point(shape, INT64_MAX), 0);
	assert_int_equal(mew_shape_size(shape, 0, 1), 0);
	assert_int_equal(mew_shape_size(shape, INT64_MAX, 15), 0);
}

static inline void assert_shape(const struct mew_shape *shape)
{
	assert_int_equal(shape->width, 8);
	assert_int_equal(shape->n_points, 2);
	assert_int_equal(shape->points[0], 100);
	assert_int_equal(shape->points[1], INT64_MAX);
	assert_int_equal(shape->n_sizes, 2);
	assert_int_equal(shape->sizes[0].most, 0);
	assert_int_equal(shape->sizes[0].allocations, 1);
	assert_int_equal(shape->sizes[1].most, INT64_MAX);
	assert_int_equal(shape->sizes[1].allocations, 15);
}

#endif
