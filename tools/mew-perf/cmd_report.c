/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "profile/filter.h"
#include "results.h"
#include "say.h"
#include "store/store.h"

/* What report has beyond the shared options. */
static enum mew_report_sort sort_by;
static unsigned top;
static int top_given, stacks_given, children_given;
static enum mew_stack_view view;
static uint64_t cpu_id, heap_id; /* 0: the newest */

static int set_sort(struct mew_options *o, const char *value, struct mew_error *error)
{
	(void)o;
	if (mew_report_sort_parse(value, &sort_by))
		return mew_error_set(error, -EINVAL,
				     "'%s' is none of: blame self tax total allocs bytes peak held "
				     "name",
				     value);
	return 0;
}

static int set_top(struct mew_options *o, const char *value, struct mew_error *error)
{
	uint64_t n = 0;
	int err = 0;

	(void)o;
	if (strcmp(value, "all"))
		err = mew_option_number(value, 1000000, &n, error);
	if (!err) {
		top = (unsigned)n;
		top_given = 1;
	}
	return err;
}

static int set_stacks(struct mew_options *o, const char *value, struct mew_error *error)
{
	static const char *const words[] = {
		[MEW_STACKS_CPU] = "cpu", [MEW_STACKS_PEAK] = "peak", [MEW_STACKS_HELD] = "held"};
	size_t i;

	(void)o;
	stacks_given = 1;
	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strcmp(value ? value : "cpu", words[i]))
			continue;
		view = (enum mew_stack_view)i;
		return 0;
	}
	return mew_error_set(error, -EINVAL, "'%s' is none of: cpu peak held", value);
}

static int set_cpu(struct mew_options *o, const char *value, struct mew_error *error)
{
	(void)o;
	return mew_option_number(value, INT64_MAX, &cpu_id, error);
}

static int set_mem(struct mew_options *o, const char *value, struct mew_error *error)
{
	(void)o;
	return mew_option_number(value, INT64_MAX, &heap_id, error);
}

static int set_no_children(struct mew_options *o, const char *value, struct mew_error *error)
{
	(void)o;
	(void)value;
	(void)error;
	children_given = 1;
	return 0;
}

static const struct mew_option sort_row = {
	.letter = 's',
	.name = "sort",
	.value = "COLUMN",
	.complete = "blame self tax total allocs bytes peak held name",
	.help = "order of the functions; default blame: self and tax",
	.set = set_sort};
static const struct mew_option top_row = {
	.name = "top",
	.value = "N",
	.help = "functions or stacks of a case, 'all' for all; default 10",
	.set = set_top};
static const struct mew_option stacks_row = {
	.name = "stacks",
	.value = "VIEW",
	.optional = 1,
	.complete = "cpu peak held",
	.help = "stacks instead of functions: the hottest (cpu), what the peak holds, what is "
		"held at the loop's end",
	.set = set_stacks};
static const struct mew_option cpu_row = {
	.name = "cpu", .value = "ID", .help = "this CPU session, not the newest", .set = set_cpu};
static const struct mew_option mem_row = {.name = "mem",
					  .alias = "heap",
					  .value = "ID",
					  .help = "this heap session, not the newest",
					  .set = set_mem};
static const struct mew_option no_children_row = {
	.name = "no-children",
	.help = "does nothing: SELF and TOTAL are both shown",
	.set = set_no_children};

static int set_input(struct mew_options *o, const char *value, struct mew_error *error)
{
	return mew_option_db.set(o, value, error);
}

static const struct mew_option input_row = {.letter = 'i',
					    .name = "input",
					    .value = "FILE",
					    .complete = MEW_COMPLETE_FILE,
					    .help = "the same as --db",
					    .set = set_input};

static const struct mew_option *const options[] = {
	&mew_option_filter,
	&sort_row,
	&top_row,
	&stacks_row,
	&cpu_row,
	&mem_row,
	&mew_option_output,
	&mew_option_format,
	&mew_option_csv,
	&mew_option_table,
	&mew_option_db,
	&input_row,
	&mew_option_wide,
	&mew_option_color,
	&no_children_row,
	&mew_option_quiet,
	&mew_option_verbose,
	&mew_option_help,
	&mew_option_version,
	NULL,
};

/* Is it the same program with the same arguments? */
static int same_program(const struct mew_session *a, const struct mew_session *b)
{
	int same = *a->build_id && *b->build_id ? !strcmp(a->build_id, b->build_id)
						: !strcmp(a->program, b->program);

	return same && !strcmp(a->arguments, b->arguments);
}

/* ---- which sessions ---- */

/* The newest session of another kind with the same program as `of`, that has a case. */
struct search {
	struct mew_store *store;
	const struct mew_session *of;
	int64_t id;
};

static void look_at(void *arg, const struct mew_session *head, int complete)
{
	struct search *search = arg;

	(void)complete;
	if (!search->id && head->kind != search->of->kind && same_program(head, search->of) &&
	    mew_store_n_cases(search->store, head->id, NULL) > 0)
		search->id = head->id;
}

/* 0: there is none. */
static int64_t find_partner(struct mew_store *store, const struct mew_session *of)
{
	struct search search = {.store = store, .of = of};

	mew_store_list(store, look_at, &search, NULL);
	return search.id;
}

static int failed(const struct mew_error *error)
{
	mew_say_error("%s", error->text);
	return error->code == -ENOENT ? MEW_EXIT_USAGE : MEW_EXIT_OWN;
}

static int load(struct mew_store *store, int64_t id, enum mew_session_kind kind,
		struct mew_session **ret)
{
	struct mew_error error = {0};

	*ret = mew_store_load(store, id, &error);
	if (!*ret)
		return failed(&error);
	if ((*ret)->kind != kind) {
		mew_say_error("session %lld is a %s session", (long long)id,
			      kind == MEW_SESSION_CPU ? "heap" : "CPU");
		return MEW_EXIT_USAGE;
	}
	return 0;
}

static int load_newest(struct mew_store *store, enum mew_session_kind kind,
		       struct mew_session **ret)
{
	struct mew_error error = {0};
	int64_t id = mew_store_newest(store, kind, &error);

	if (id < 0)
		return failed(&error);
	return id ? load(store, id, kind, ret) : 0;
}

static void describe(const struct mew_session *s)
{
	time_t seconds = (time_t)(s->started_unix_ns / 1000000000);
	char when[64] = "?";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	mew_say_error("%s session %lld, %s, build-id %.16s: %s%s%s",
		      s->kind == MEW_SESSION_CPU ? "cpu" : "mem", (long long)s->id, when,
		      *s->build_id ? s->build_id : "none", s->program, *s->arguments ? " " : "",
		      s->arguments);
}

/* Two sessions that do not belong together: name them, and a pair that does. */
static int refuse(struct mew_store *store, const struct mew_session *cpu,
		  const struct mew_session *heap)
{
	const struct mew_session *newer = cpu->id > heap->id ? cpu : heap;
	int64_t partner = find_partner(store, newer);

	mew_say_error("the newest sessions are not of the same program and arguments");
	describe(cpu);
	describe(heap);
	if (partner)
		mew_say_error_hint("mew-perf report --cpu %lld --mem %lld",
				   (long long)(newer == cpu ? cpu->id : partner),
				   (long long)(newer == heap ? heap->id : partner));
	else
		mew_say_error_hint("mew-perf report --%s %lld", newer == cpu ? "cpu" : "mem",
				   (long long)newer->id);
	return MEW_EXIT_USAGE;
}

/* One chosen session takes the newest that belongs to it, or stays alone. */
static int load_chosen(struct mew_store *store, struct mew_session **cpu, struct mew_session **heap)
{
	int status = 0;
	int64_t partner;

	if (cpu_id)
		status = load(store, (int64_t)cpu_id, MEW_SESSION_CPU, cpu);
	if (!status && heap_id)
		status = load(store, (int64_t)heap_id, MEW_SESSION_HEAP, heap);
	if (status)
		return status;
	if (*cpu && *heap) {
		if (!same_program(*cpu, *heap))
			mew_say_warning("the sessions are not of the same program and arguments");
		return 0;
	}
	partner = find_partner(store, *cpu ? *cpu : *heap);
	if (!partner)
		return 0;
	return *cpu ? load(store, partner, MEW_SESSION_HEAP, heap)
		    : load(store, partner, MEW_SESSION_CPU, cpu);
}

static int load_sessions(const struct mew_options *o, struct mew_store *store,
			 struct mew_session **cpu, struct mew_session **heap)
{
	int status;

	if (cpu_id || heap_id)
		return load_chosen(store, cpu, heap);
	status = load_newest(store, MEW_SESSION_CPU, cpu);
	if (!status)
		status = load_newest(store, MEW_SESSION_HEAP, heap);
	if (status)
		return status;
	if (!*cpu && !*heap) {
		mew_say_error("recording '%s' has no case yet", o->db);
		mew_say_error_hint("mew-perf run PROGRAM");
		return MEW_EXIT_USAGE;
	}
	return *cpu && *heap && !same_program(*cpu, *heap) ? refuse(store, *cpu, *heap) : 0;
}

/* ---- which cases ---- */

static int is_chosen(void *arg, const struct mew_report_case *c)
{
	return mew_filter_chooses(arg, c->key, c->label);
}

static void say_keys(const struct mew_report *r)
{
	struct mew_buffer keys = MEW_BUFFER_INIT;
	size_t i;

	for (i = 0; i < r->n_cases; i++)
		mew_buffer_printf(&keys, "%s %s%s%s", i ? "," : "", r->cases[i].key,
				  *r->cases[i].label ? " " : "", r->cases[i].label);
	mew_say_error("no case matches; there are:%s", keys.data);
	mew_buffer_done(&keys);
}

static int choose_cases(const struct mew_options *o, struct mew_report *r)
{
	struct mew_error error = {0};
	struct mew_filter *filter =
		mew_filter_new((const char *const *)o->filters, o->n_filters, &error);
	size_t n = 0, i;

	if (!filter)
		return failed(&error);
	for (i = 0; i < r->n_cases; i++)
		n += is_chosen(filter, &r->cases[i]) != 0;
	if (n)
		mew_report_keep(r, is_chosen, filter);
	else
		say_keys(r);
	mew_filter_free(filter);
	return n ? 0 : MEW_EXIT_USAGE;
}

/* ---- show ---- */

/* Stacks are text of their own; in CSV they are the rows of one of the sessions. */
static int show_stacks(const struct mew_options *o, const struct mew_report *r,
		       struct mew_output_options *how)
{
	struct mew_report side = *r;
	struct mew_output_input in = {.report = &side};
	struct mew_buffer text = MEW_BUFFER_INIT;
	int status = 0;

	if (view != MEW_STACKS_CPU)
		side.cpu = NULL;
	if (view == MEW_STACKS_CPU ? !side.cpu : !side.heap) {
		mew_say_error("there is no %s session to take stacks from",
			      view == MEW_STACKS_CPU ? "CPU" : "heap");
		return MEW_EXIT_USAGE;
	}
	how->table = MEW_TABLE_STACKS;
	if (!mew_results_text(o))
		return mew_results_write(o, &in, how, MEW_RESULTS_ALL);
	if (mew_output_stacks(r, view, how, &text))
		text.error = -ENOMEM;
	status = mew_results_print(&text);
	mew_buffer_done(&text);
	return status ? status : mew_results_write(o, &in, how, MEW_RESULTS_FILES);
}

static int show(const struct mew_options *o, const struct mew_report *r)
{
	struct mew_output_input in = {.report = r};
	struct mew_output_options how;
	int status;

	if (mew_results_of_heap(o) && !r->heap) {
		mew_say_error("there is no heap session to take %s from",
			      o->table == MEW_TABLE_CURVE ? "a curve" : "sizes");
		return MEW_EXIT_USAGE;
	}
	mew_results_options(o, &how);
	if (top_given)
		how.top = top;
	if (!o->table_given)
		how.table = MEW_TABLE_FUNCTIONS;
	if (stacks_given)
		return show_stacks(o, r, &how);
	status = mew_results_write(o, &in, &how, MEW_RESULTS_ALL);
	if (mew_results_text(o))
		mew_output_report_notes(r, &how, mew_results_note, NULL);
	return status;
}

static void warn(const char *side, const struct mew_pcase *c)
{
	if (c && c->result == MEW_RESULT_OK && c->doubtful)
		mew_say_warning("%s: %s: %s", c->key, side, c->verdict);
}

static int report(const struct mew_options *o, const struct mew_session *cpu,
		  const struct mew_session *heap)
{
	struct mew_report *r = mew_report_new(cpu, heap);
	int status;
	size_t i;

	if (!r) {
		mew_say_error("%s", strerror(ENOMEM));
		return MEW_EXIT_OWN;
	}
	status = choose_cases(o, r);
	if (!status) {
		mew_report_sort(r, sort_by);
		status = show(o, r);
		for (i = 0; i < r->n_cases; i++) {
			warn("cpu", r->cases[i].cpu);
			warn("mem", r->cases[i].heap);
		}
	}
	mew_report_free(r);
	return status;
}

static int run(const struct mew_options *o, int argc, char **argv)
{
	struct mew_session *cpu = NULL, *heap = NULL;
	struct mew_error error = {0};
	struct mew_store *store;
	int status;

	if (argc) {
		mew_say_error("report runs nothing: what is '%s'?", argv[0]);
		mew_say_error_hint("-d FILE names a recording, 'mew-perf run PROGRAM' makes one");
		return MEW_EXIT_USAGE;
	}
	if (children_given)
		mew_say_note("--no-children does nothing: SELF and TOTAL are both shown");
	store = mew_store_open(o->db, MEW_STORE_READ, &error);
	if (!store) {
		mew_say_error("%s", error.text);
		if (error.code == -ENOENT)
			mew_say_error_hint("'mew-perf run PROGRAM' makes a recording");
		return MEW_EXIT_OWN;
	}
	status = load_sessions(o, store, &cpu, &heap);
	mew_store_close(store);
	if (!status)
		status = report(o, cpu, heap);
	mew_session_free(cpu);
	mew_session_free(heap);
	return status;
}

const struct mew_command mew_command_report = {
	.name = "report",
	.operands = "",
	.summary = "join the newest CPU and heap sessions by function",
	.description = "Show, for each case of a recording, which functions the time and the heap "
		       "of its\nloop go to, and the allocator tax of each.",
	.options = options,
	.run = run,
};
