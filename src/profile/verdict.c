/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "profile/verdict.h"

/* From here on a figure is not trusted as it stands. */
enum { FEW_SAMPLES = 100, FEW_ITERATIONS = 30 };
#define BROKEN_SHARE 0.001
#define UNKNOWN_SHARE 0.05
#define SLOWDOWN_LIMIT 1.05
#define SPREAD_LIMIT 0.05
#define UNEXPLAINED_SHARE 0.05
#define UNTICKED_SHARE 0.05
#define PAUSES_SHARE 0.1
#define PEAK_SHARE 0.001
#define INTERVAL_LEAST_S 20e-6 /* a shorter one takes more time than it tells of */
#define STACK_BYTES_MAX 65528u /* PERF_SAMPLE_STACK_USER has 16 bits */

static void clause(struct mew_verdict *v, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A clause that has no room is left out whole. */
static void clause(struct mew_verdict *v, const char *format, ...)
{
	size_t len = strlen(v->text), room = sizeof(v->text) - len;
	va_list ap;
	int n = snprintf(v->text + len, room, "%s", len ? "; " : ""), more;

	va_start(ap, format);
	more = vsnprintf(v->text + len + n, room > (size_t)n ? room - (size_t)n : 0, format, ap);
	va_end(ap);
	if (more < 0 || (size_t)(n + more) >= room)
		v->text[len] = '\0';
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static double share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static const char *percent(char *buf, double value)
{
	return mew_format_percent(buf, MEW_NUMBER_SIZE, value, 0.01);
}

/* The first doubt that has something to try gives the hint. */
static void hint(struct mew_verdict *v, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void hint(struct mew_verdict *v, const char *format, ...)
{
	va_list ap;

	if (v->hint[0])
		return;
	va_start(ap, format);
	vsnprintf(v->hint, sizeof(v->hint), format, ap);
	va_end(ap);
}

/* What was said so far makes the row doubtful; notes follow. */
static void end_doubts(struct mew_verdict *v)
{
	v->doubtful = v->text[0] != '\0';
	if (!v->doubtful)
		clause(v, "ok");
}

/* A whole program runs once, and a loop that leaves early will do so again. */
static void hint_iterations(struct mew_verdict *v, const struct mew_cpu_row *row,
			    const struct mew_verdict_cpu *f)
{
	uint64_t n = row->iterations / (f->n_threads ? f->n_threads : 1);

	if (n && n < UINT64_MAX / 10 && !f->whole_program && !f->left_early)
		hint(v, "-n %" PRIu64, n * 10);
}

/* What has no interval is not helped by a longer one. */
static void hint_interval(struct mew_verdict *v, const struct mew_cpu_row *row)
{
	char text[MEW_NUMBER_SIZE];

	if (row->interval_s > 0)
		hint(v, "--interval %sms",
		     mew_format_csv_double(text, sizeof(text), row->interval_s * 10 * 1e3));
}

static void hint_shorter_interval(struct mew_verdict *v, const struct mew_cpu_row *row)
{
	char text[MEW_NUMBER_SIZE];
	double interval_s = row->interval_s / 10;

	if (interval_s >= INTERVAL_LEAST_S)
		hint(v, "--interval %sms",
		     mew_format_csv_double(text, sizeof(text), interval_s * 1e3));
}

static void judge_losses(const struct mew_cpu_row *row, const struct mew_verdict_cpu *f,
			 struct mew_verdict *v)
{
	double samples = (double)row->sample_count;
	char text[MEW_NUMBER_SIZE];

	if (row->lost) {
		clause(v, "%" PRIu64 " sample%s lost", row->lost, plural(row->lost));
		hint_interval(v, row);
	}
	if (f->threads_not_sampled)
		clause(v, "%u thread%s not sampled", f->threads_not_sampled,
		       plural(f->threads_not_sampled));
	if (f->n_children)
		clause(v, "%u child process%s not sampled", f->n_children,
		       f->n_children == 1 ? "" : "es");
	if (share((double)f->broken, samples) > BROKEN_SHARE) {
		clause(v, "%" PRIu64 " stack%s broken", f->broken, plural(f->broken));
		if (f->stack_bytes && f->stack_bytes < STACK_BYTES_MAX)
			hint(v, "--stack-size %u",
			     f->stack_bytes > STACK_BYTES_MAX / 4 ? STACK_BYTES_MAX
								  : f->stack_bytes * 4);
	}
	if (share((double)row->unknown, samples) > UNKNOWN_SHARE)
		clause(v, "%s of the samples in unknown code",
		       percent(text, share((double)row->unknown, samples)));
}

void mew_verdict_cpu(const struct mew_cpu_row *row, const struct mew_verdict_cpu *f,
		     struct mew_verdict *v)
{
	double unexplained = share(f->unexplained_s, f->threads_wall_s);
	char text[MEW_NUMBER_SIZE];

	memset(v, 0, sizeof(*v));
	if (f->left_early)
		clause(v, "left early after %" PRIu64 " iteration%s", row->iterations,
		       plural(row->iterations));
	if (f->doubt)
		clause(v, "%s", f->doubt);
	if (row->sample_count < FEW_SAMPLES) {
		clause(v, "few samples: %" PRIu64, row->sample_count);
		hint_iterations(v, row, f);
	}
	if (row->iterations < FEW_ITERATIONS && !f->left_early && !f->whole_program) {
		clause(v, "few iterations: %" PRIu64, row->iterations);
		hint_iterations(v, row, f);
	}
	judge_losses(row, f, v);
	if (row->slowdown > SLOWDOWN_LIMIT) {
		clause(v, "slowed %s by sampling",
		       mew_format_ratio(text, sizeof(text), row->slowdown));
		hint_interval(v, row);
	}
	if (row->time_spread > SPREAD_LIMIT) {
		clause(v, "noisy: +-%s over %" PRIu64 " iteration%s",
		       mew_format_percent(text, sizeof(text), row->time_spread, 0), row->iterations,
		       plural(row->iterations));
		hint_iterations(v, row, f);
	}
	if (share(f->pauses_s, f->threads_wall_s) > PAUSES_SHARE) {
		clause(v, "pauses cost %s of the loop's time",
		       percent(text, share(f->pauses_s, f->threads_wall_s)));
		v->hint[0] = '\0'; /* what helps is a longer iteration, which is no option */
	}
	if (f->unticked_share > UNTICKED_SHARE) {
		clause(v, "up to %s of the CPU time not sampled: short threads or children",
		       percent(text, f->unticked_share));
		hint_shorter_interval(v, row);
	}
	/* Within one tick the account is as fine as it can be. */
	if (fabs(f->unexplained_s) <= row->interval_s)
		unexplained = 0;
	if (unexplained > UNEXPLAINED_SHARE)
		clause(v, "%s of the time unexplained", percent(text, unexplained));
	else if (unexplained < -UNEXPLAINED_SHARE)
		clause(v, "accounts for %s more time than has passed", percent(text, -unexplained));
	end_doubts(v);
	if (f->pause_by_clock)
		clause(v, "pauses by clock");
	if (f->note)
		clause(v, "%s", f->note);
}

static void judge_peak(int64_t apart, struct mew_verdict *v)
{
	char text[MEW_NUMBER_SIZE];

	clause(v, "stacks hold %s %s than the peak",
	       mew_format_bytes(text, sizeof(text), fabs((double)apart)),
	       apart > 0 ? "less" : "more");
}

void mew_verdict_heap(const struct mew_heap_row *row, const struct mew_verdict_heap *f,
		      struct mew_verdict *v)
{
	int64_t apart = row->peak_bytes - row->total_bytes;
	int is_much = apart && (f->n_threads <= 1 ||
				fabs((double)apart) > PEAK_SHARE * (double)row->peak_bytes);

	memset(v, 0, sizeof(*v));
	if (f->left_early)
		clause(v, "left early after %" PRIu64 " iteration%s", row->iterations,
		       plural(row->iterations));
	if (f->ended_inside)
		clause(v, "the program ended inside the loop");
	if (f->doubt)
		clause(v, "%s", f->doubt);
	if (row->lost)
		clause(v, "%" PRIu64 " allocation%s without a stack", row->lost, plural(row->lost));
	if (f->n_mapped_lost)
		clause(v, "%" PRIu64 " mapping%s not counted", f->n_mapped_lost,
		       plural(f->n_mapped_lost));
	if (share((double)f->broken, (double)row->total_allocations) > BROKEN_SHARE)
		clause(v, "%" PRIu64 " stack%s broken", f->broken, plural(f->broken));
	if (f->n_children)
		clause(v, "%u child process%s not recorded", f->n_children,
		       f->n_children == 1 ? "" : "es");
	/* One thread: equal, or something is wrong. Several: their peaks are snapshots apart, which
	 * is told, and a doubt when it is much. */
	if (is_much)
		judge_peak(apart, v);
	end_doubts(v);
	if (apart && !is_much)
		judge_peak(apart, v);
	if (f->note)
		clause(v, "%s", f->note);
}

int mew_verdict_store(struct mew_session *s, struct mew_pcase *c, const struct mew_verdict *v)
{
	const char *text = mew_session_text(s, v->text), *options = mew_session_text(s, v->hint);

	if (!text || !options)
		return -ENOMEM;
	c->verdict = text;
	c->hint = options;
	c->doubtful = v->doubtful;
	return 0;
}
