/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c: what the line before the table of CPU cases says of the event. */
#include "config.h"

#include <string.h>

#include "base/buffer.h"
#include "base/number.h"
#include "session/cpu.h"

void mew_cpu_remember(struct mew_cpu_engine *e, const struct mew_pcase *c)
{
	double interval = c->cpu.interval_s;

	if (interval > 0 && (!e->interval_max_s || interval < e->interval_min_s))
		e->interval_min_s = interval;
	if (interval > e->interval_max_s)
		e->interval_max_s = interval;
	if (c->cpu.pause_cost_s > e->pause_cost_s)
		e->pause_cost_s = c->cpu.pause_cost_s;
}

/* Tables pad numbers on the left. */
static const char *trim(const char *number)
{
	return number + strspn(number, " ");
}

/* "cpu-clock:u every 1 ms (a tick costs 52 us here; this machine has no hardware counters); pauses
 * cost 0.1 us" */
void mew_cpu_describe(struct mew_run *r)
{
	const struct mew_cpu_engine *e = r->engine;
	char low[MEW_NUMBER_SIZE], high[MEW_NUMBER_SIZE], cost[MEW_NUMBER_SIZE];
	struct mew_buffer b;

	mew_buffer_init(&b);
	mew_buffer_puts(&b, e->event.name);
	if (e->interval_max_s > 0) {
		mew_format_time(low, sizeof low, e->interval_min_s);
		mew_format_time(high, sizeof high, e->interval_max_s);
		mew_buffer_printf(&b, " every %s", trim(low));
		if (e->interval_max_s > e->interval_min_s)
			mew_buffer_printf(&b, " to %s", trim(high));
	}
	if (e->tick_cost_s > 0) {
		mew_format_time(cost, sizeof cost, e->tick_cost_s);
		mew_buffer_printf(&b, " (a tick costs %s here", trim(cost));
		if (!r->o->event && e->event.kind == MEW_EVENT_CLOCK)
			mew_buffer_puts(&b, "; this machine has no hardware counters");
		mew_buffer_putc(&b, ')');
	} else if (!r->o->event && e->event.kind == MEW_EVENT_CLOCK) {
		mew_buffer_puts(&b, " (this machine has no hardware counters)");
	}
	if (e->pause_cost_s > 0) {
		mew_format_time(cost, sizeof cost, e->pause_cost_s);
		mew_buffer_printf(&b, "; pauses cost %s", trim(cost));
	}
	if (!b.error)
		mew_run_note(r->o, 'n', "%s", b.data);
	mew_buffer_done(&b);
}
