/* SPDX-License-Identifier: Apache-2.0 */
/* What a benchmark asks of its state and tells it: no clock, no loop. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench/run.h"

void mew_skip(struct mew_state *state, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	mew_run_vdecide(mew_thread_of(state)->run, MEW_CASE_SKIPPED, format, ap);
	va_end(ap);
}

void mew_fail(struct mew_state *state, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	mew_run_vdecide(mew_thread_of(state)->run, MEW_CASE_FAILED, format, ap);
	va_end(ap);
}

int64_t mew_value(const struct mew_state *state)
{
	struct mew_run *run = mew_thread_of(state)->run;
	int64_t value;

	if (!run->c->param || !run->c->entry->arg) {
		mew_run_decide(run, MEW_CASE_FAILED,
			       "mew_value() without MEW_BENCHMARK_VALUES: there is no value");
		return 0;
	}
	memcpy(&value, run->c->param, sizeof(value));
	return value;
}

const void *mew_param(const struct mew_state *state)
{
	return mew_thread_of(state)->run->c->param;
}

unsigned mew_threads(const struct mew_state *state)
{
	return mew_thread_of(state)->run->n_threads;
}

unsigned mew_thread_index(const struct mew_state *state)
{
	return mew_thread_of(state)->index;
}

uint64_t mew_iterations(const struct mew_state *state)
{
	return mew_thread_of(state)->iterations;
}

void mew_label(struct mew_state *state, const char *format, ...)
{
	struct mew_run *run = mew_thread_of(state)->run;
	char text[MEW_LABEL_BYTES + 8];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	pthread_mutex_lock(&run->text_lock);
	mew_label_set(run->label, sizeof(run->label), text);
	pthread_mutex_unlock(&run->text_lock);
}

/* The counter's index, made when new; MEW_RUN_COUNTERS: it cannot be, and why. */
static unsigned find_counter(struct mew_run *run, const char *name, enum mew_counter_kind kind,
			     const char **ret_why)
{
	unsigned i;

	if (!name[0] || strlen(name) >= MEW_COUNTER_NAME_BYTES) {
		*ret_why = "its name is empty, or longer than 63 bytes";
		return MEW_RUN_COUNTERS;
	}
	for (i = 0; i < run->n_counters; i++) {
		if (strcmp(run->counters[i].name, name) != 0)
			continue;
		if (run->counters[i].kind == kind)
			return i;
		*ret_why = "it had another kind before";
		return MEW_RUN_COUNTERS;
	}
	if (i == MEW_RUN_COUNTERS) {
		*ret_why = "a case has 32 at most";
		return i;
	}
	strcpy(run->counters[i].name, name);
	run->counters[i].kind = kind;
	run->n_counters++;
	return i;
}

void mew_counter(struct mew_state *state, const char *name, double value,
		 enum mew_counter_kind kind)
{
	struct mew_thread *t = mew_thread_of(state);
	const char *why = NULL;
	unsigned i;

	pthread_mutex_lock(&t->run->text_lock);
	i = find_counter(t->run, name, kind, &why);
	pthread_mutex_unlock(&t->run->text_lock);
	if (why)
		mew_run_decide(t->run, MEW_CASE_FAILED, "counter '%.80s': %s", name, why);
	else
		t->counters[i] = value;
}

void mew_bytes_per_iteration(struct mew_state *state, double bytes)
{
	mew_thread_of(state)->bytes = bytes;
}

void mew_items_per_iteration(struct mew_state *state, double items)
{
	mew_thread_of(state)->items = items;
}

double mew_run_counter(const struct mew_run *run, unsigned i)
{
	double sum = 0;
	unsigned t;

	for (t = 0; t < run->n_threads; t++)
		sum += run->threads[t].counters[i];
	return sum;
}

/* Of a double member of the threads: the mean, weighted by the iterations that each of them did. */
static double per_iteration(const struct mew_run *run, size_t offset)
{
	double sum = 0, iterations = 0;
	unsigned i;

	for (i = 0; i < run->n_threads; i++) {
		const struct mew_thread *t = &run->threads[i];
		double value;

		memcpy(&value, (const char *)t + offset, sizeof(value));
		sum += value * (double)t->iterations;
		iterations += (double)t->iterations;
	}
	return iterations > 0 ? sum / iterations : 0;
}

double mew_run_bytes(const struct mew_run *run)
{
	return per_iteration(run, offsetof(struct mew_thread, bytes));
}

double mew_run_items(const struct mew_run *run)
{
	return per_iteration(run, offsetof(struct mew_thread, items));
}
