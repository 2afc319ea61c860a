/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h: a session in memory: cases, their columns, and the stacks that their figures stand on.
 * Filled by session/ while a program runs, or by store/ from a recording; read by store/, output/
 * and the report. Knows no kernel, no ELF, no file format.
 *
 * One session lives in one arena: every string and array below is the session's until
 * mew_session_free.
 */
#ifndef MEW_PROFILE_PROFILE_H
#define MEW_PROFILE_PROFILE_H

#include <stddef.h>
#include <stdint.h>
#include "base/buffer.h"
#include "base/error.h"
#include "profile/shape.h"

enum mew_session_kind { MEW_SESSION_CPU = 1, MEW_SESSION_HEAP = 2 };

enum mew_case_result {
	MEW_RESULT_OK,
	MEW_RESULT_SKIPPED, /* reason says why */
	MEW_RESULT_FAILED,  /* reason says why: no figures, or figures up to the failure */
};

/* What a frame's function is to the report. */
enum mew_function_role {
	MEW_ROLE_PLAIN = 0,
	MEW_ROLE_ALLOCATOR =
		1, /* an entry point of hooks.def, or a known part of the C library's allocator */
	MEW_ROLE_WRAPPER = 2, /* strdup, asprintf, operator new, namespace std, ...: passes the tax
				 on to its caller */
};

struct mew_pfunction {
	const char *name;   /* demangled, raw bytes; "[libc.so.6]" when only the module is known */
	const char *file;   /* "" when not known */
	uint32_t line;      /* declared at; 0 when not known */
	const char *module; /* path; "" when none */
	enum mew_function_role role;
};

/* A node of the session's stack tree. Node 0 is the root, above every case; a stack is its leaf's
 * node. */
struct mew_pstack {
	uint32_t parent;
	uint32_t function; /* index into functions */
	uint32_t line;     /* where in it; 0 when not known */
	uint8_t inlined;   /* 1: inlined into its parent */
};

/* The outermost frame of stacks that did not reach their root, where frames are known at all. */
#define MEW_BROKEN_STACK "[broken stack]"

/* A case's figures on one stack. CPU: weight_s and samples; heap: the rest. */
struct mew_pvalue {
	uint32_t stack;
	uint32_t whole; /* 1: the stack reached the case's root; 0: cut or broken: counted, shown
			   under MEW_BROKEN_STACK */
	double weight_s;
	uint64_t samples;
	uint64_t allocations, bytes, frees, temporary;
	int64_t peak_bytes; /* live at the case's high-water mark */
	int64_t held_bytes; /* live at the loop's end */
};

/* DESIGN.md part 2, in its order. NAN: not measured (an empty cell, `-` in a table). */
struct mew_cpu_row {
	const char *profiler;
	double wall_time_s;
	uint64_t sample_count;
	const char *top_function; /* "name (file.c:12)", "name (module)" or "<no samples>" */
	double top_self_s;
	uint64_t iterations; /* sampled ones, over all threads */
	double interval_s;
	double paused_time_s, kernel_time_s, off_cpu_time_s;
	uint64_t lost, truncated, unknown;
	double slowdown;
	double pause_cost_s; /* a pause pair; NAN: the case does not pause */
	/* beyond the CSV's contract */
	double time_per_iteration_s; /* unsampled: thread-time of a round / iterations of it, over
					all unsampled rounds */
	double time_spread; /* half width of the 95 % interval of that, as a share; NAN: one round
			       only */
	/* Sum of weights; of samples in the kernel as well as in the program, less kernel_time_s;
	 * of the kernel's alone, what the account says. So user, kernel and off-CPU time never
	 * overlap. mew_case_summarise() knows the first case only. */
	double user_time_s;
	double top_share, top_share_half_width;
};

struct mew_heap_row {
	const char *profiler; /* "mew-heap", and what was set: "mew-heap:usable" */
	int64_t peak_bytes, total_bytes;
	uint64_t total_allocations, iterations;
	double allocations_per_iteration;
	uint64_t allocated_bytes, frees, temporary;
	int64_t leaked_bytes;
	uint64_t first_iteration_allocations, foreign_frees, lost;
	/* High-water marks of the live heap within an iteration. */
	double iteration_peak_min, iteration_peak_median, iteration_peak_max;
	/* What the program maps itself; NAN unless it was asked for. */
	double mapped_calls, mapped_bytes, mapped_peak_bytes, mapped_held_bytes;
	double hook_bytes; /* memory of the hook itself, in the process */
	/* beyond the CSV's contract */
	const char *top_allocator; /* function with the most allocated bytes, as "name (file.c:12)";
				      "-" when there are none */
	double top_allocator_share;
};

struct mew_pcounter {
	const char *name;
	double value; /* as counted, the mean of an iteration, or per second */
	int kind;     /* enum mew_counter_unit of channel/message.h */
};

struct mew_pcase {
	const char *key, *label;
	uint32_t n_threads;
	enum mew_case_result result;
	const char *reason;  /* "" when result is OK */
	const char *verdict; /* "ok", or what is doubtful, clauses joined by "; " */
	int doubtful;        /* 1: the row gets its mark */
	const char *hint; /* a command's options to try, for the hint line ("-n 300"); "" when there
			     is none */
	struct mew_cpu_row cpu;   /* kind CPU */
	struct mew_heap_row heap; /* kind HEAP */
	struct mew_pvalue *values;
	size_t n_values;
	struct mew_pcounter *counters;
	size_t n_counters;
	struct mew_shape shape; /* heap */
	int64_t id;             /* in the recording; 0: not stored */
};

/* Whether c has figures: a case that failed may have those up to its failure. */
static inline int mew_case_measured(const struct mew_pcase *c)
{
	return c->result == MEW_RESULT_OK || (c->cpu.profiler && c->cpu.profiler[0]) ||
	       (c->heap.profiler && c->heap.profiler[0]);
}

struct mew_session {
	enum mew_session_kind kind;
	int64_t id; /* in the recording; 0: not stored */
	int64_t started_unix_ns;
	const char *program;  /* path that was run */
	const char *build_id; /* hex; "" when the program has none */
	const char
		*arguments; /* the program's arguments, each quoted for a shell, joined by spaces */
	const char *tag;    /* "" when none */
	const char *engine; /* "perf_event:cpu-clock:u", "mew-heap" */
	const char *machine; /* one line: kernel release, CPU model */
	const char *version; /* of mew-perf */
	int whole_program;
	struct mew_pcase *cases;
	size_t n_cases;
	struct mew_pfunction *functions;
	size_t n_functions;
	struct mew_pstack *stacks;
	size_t n_stacks;
	struct mew_session_private *private_; /* arena, intern tables, capacities */
};

struct mew_session *mew_session_new(enum mew_session_kind kind); /* NULL: no memory */
void mew_session_free(struct mew_session *s);

/* Interned text of the session's arena. NULL: no memory. */
const char *mew_session_text(struct mew_session *s, const char *text);
const char *mew_session_printf(struct mew_session *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A function by (name, file, line, module): one index each; its role is found by name and module.
 * UINT32_MAX: no memory. */
uint32_t mew_session_function(struct mew_session *s, const char *name, const char *file,
			      uint32_t line, const char *module);
/* The child of parent with these: one node each. UINT32_MAX: no memory. */
uint32_t mew_session_stack(struct mew_session *s, uint32_t parent, uint32_t function, uint32_t line,
			   int inlined);
/* A new case at the end; the pointer is good until the next one is added. NULL: no memory. */
struct mew_pcase *mew_session_case(struct mew_session *s, const char *key, const char *label);
/* Takes the last case out again. One that has values leaves no room for another after it. */
void mew_session_drop_case(struct mew_session *s);
/* The case's value on stack (made zero when new). NULL: no memory. Good until the next call for the
 * same case. */
struct mew_pvalue *mew_case_value(struct mew_session *s, struct mew_pcase *c, uint32_t stack,
				  int whole);

/* Adds a counter. 0 or -ENOMEM. */
int mew_case_counter(struct mew_session *s, struct mew_pcase *c, const char *name, double value,
		     int kind);

/* By name, module, file and line: a total order that no run changes. */
int mew_pfunction_compare(const struct mew_pfunction *a, const struct mew_pfunction *b);

/* Appends "name (file.c:12)", or "name (module.so)" without debug info. 0 or -ENOMEM. */
int mew_pfunction_describe(const struct mew_pfunction *f, struct mew_buffer *out);

/* What follows the last slash. */
const char *mew_base_name(const char *path);

/* The part of the loop's time, user, kernel and off the CPU, that part_s is. NAN: no time. */
double mew_time_share(const struct mew_cpu_row *row, double part_s);

/* Half the width of the 95 % interval of a share p that n samples show. NAN without samples. */
double mew_share_half_width(double p, uint64_t n);

/*
 * Fill in what follows from the values: cpu top_function, top_self_s, top_share (+ half width),
 * user_time_s; heap top_allocator, top_allocator_share, total_bytes. Self time goes to the leaf
 * node's function, summed over all stacks; bytes to the function that answers for them (roles.h).
 * Of equal functions the first by mew_pfunction_compare is the top. 0 or -ENOMEM.
 */
int mew_case_summarise(struct mew_session *s, struct mew_pcase *c);

#endif
