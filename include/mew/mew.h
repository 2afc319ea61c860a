/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mew/mew.h: write a benchmark. Knows entries, the timing loop, pauses and counters; nothing of
 * profilers. C99 and C++11, gcc and clang, clean under -pedantic -Wshadow. Link with -lmew.
 *
 *      MEW_BENCHMARK(sort_ints, state)
 *      {
 *              int *v = make_ints(1000);                     set-up: in no figure
 *              MEW_LOOP(state) {
 *                      MEW_PAUSE(state) { shuffle(v, 1000); }    nor is this
 *                      sort(v, 1000);
 *              }
 *              free(v);                                      nor is the tear-down
 *      }
 *      MEW_MAIN();
 *
 * Run plainly the program prints a timing table; under mew-perf its loops are profiled.
 */
#ifndef MEW_MEW_H
#define MEW_MEW_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define MEW_PARAM(state, type) static_cast<const type *>(mew_param(state))
#else
#define MEW_PARAM(state, type) ((const type *)mew_param(state)) /* see mew_param */
#endif
#define MEW_PRINTF_ __attribute__((format(printf, 2, 3)))
#define MEW_CLEANUP_(fn) __attribute__((cleanup(fn)))
#define MEW_INLINE_ static inline __attribute__((always_inline))
#define MEW_PASTE_(a, b) MEW_PASTE2_(a, b)
#define MEW_PASTE2_(a, b) a##b
#ifdef __OPTIMIZE__
#define MEW_UNOPTIMIZED_ 0
#else
#define MEW_UNOPTIMIZED_ 1
#endif

#pragma GCC visibility push(default)

/*
 * One run of one case, on one thread. Made by libmew and its until the entry's function returns.
 * Good in the thread that got it; the rest of it is hidden.
 */
struct mew_state {
	unsigned
		attention_; /* not 0: a pause is open, or the loop is to end; read each iteration */
};
typedef void (*mew_bench_fn)(struct mew_state *state);

/*
 * A registered benchmark. Filled by the macros below, or by hand for mew_register(). Everything it
 * points to is borrowed for ever. A plain entry has one case, keyed by its name; a family has one a
 * parameter, keyed "name/case:<i>" from 0, each with a label for people.
 */
struct mew_entry {
	const char *name;    /* the key, unique in the program; with "/case:<i>" at most 255 B */
	mew_bench_fn run;    /* called once a case and thread: set-up, one MEW_LOOP, tear-down */
	const void *params;  /* n_params elements of param_bytes each; NULL: a plain entry */
	size_t n_params;     /* cases of the family; not used in a plain entry */
	size_t param_bytes;  /* of one element; with arg: sizeof(int64_t) */
	const char *arg;     /* elements are int64_t, labelled "<arg>=<value>"; NULL: the label is
			      * the string at label_off */
	size_t label_off;    /* offset of a const char * in an element; not used with arg */
	unsigned n_threads;  /* that run it together, at most 256; 0 and 1: one */
	uint64_t iterations; /* of each thread; 0: the runner decides */
	double min_time_s;   /* at least so long a measured round; 0: the runner decides */
	int unoptimized_;    /* the file was compiled without -O */
	struct mew_entry *next_; /* libmew's */
};

/*
 * Add entry to the program's benchmarks: libmew keeps the pointer for ever. Call it before
 * mew_main(), from one thread at a time; the macros do so before main(). Two entries of one name
 * are an error when mew_main() starts.
 */
void mew_register(struct mew_entry *entry);

/*
 * Run, list, or serve mew-perf, as the arguments and the environment say; --help describes them.
 * Returns the exit status: 0 done, 1 a case failed, 2 usage, 125 own failure (mew-perf went away,
 * no memory), 130 interrupted. argv is used until the program ends. Call it once; it ends the
 * process itself where the connection to mew-perf breaks.
 */
int mew_main(int argc, char **argv);

/*
 * The program's own arguments: what followed "--". argv is argc strings and a NULL, good until the
 * program ends. Empty before mew_main().
 */
int mew_argc(void);
char **mew_argv(void);

/*
 *      MEW_BENCHMARK(name, state) { ... }
 *
 *      MEW_BENCHMARK_VALUES(name, state, "n", 100, 1000, 10000) { ... mew_value(state) ... }
 *              a family over int64_t values; labels "n=100", "n=1000", ...
 *
 *      MEW_BENCHMARK_FAMILY(name, state, inputs, label)
 *      { ... MEW_PARAM(state, struct input)->path ... }
 *              a family over the elements of the array `inputs`; label: the member of an element
 *              that is its label, a const char *. The array lives for ever and may be filled in
 *              until main().
 *
 *      MEW_OPTION(name, n_threads, 4);
 *              sets a member of the entry, after any of them: n_threads, iterations, min_time_s
 *
 *      MEW_MAIN();
 *              once a program: main() that calls mew_main(), and the note
 *
 *      MEW_NOTE();
 *              instead, in a program with a main() of its own that calls mew_main(): the ELF note
 *              by which mew-perf knows a benchmark without starting it
 *
 * name becomes part of C names, so it is an identifier; state is the name of the struct mew_state *
 * in the function. The function is never inlined: its frame is there for the profilers.
 */
#define MEW_BENCHMARK(name, state)                                                                 \
	MEW_DEFINE_(#name, mew_run_##name, mew_entry_##name, mew_ctor_##name, state, NULL, 0, 0,   \
		    NULL, 0)
#define MEW_BENCHMARK_VALUES(name, state, arg, ...)                                                \
	static const int64_t mew_values_##name[] = {__VA_ARGS__};                                  \
	MEW_DEFINE_(#name, mew_run_##name, mew_entry_##name, mew_ctor_##name, state,               \
		    mew_values_##name, sizeof(mew_values_##name) / sizeof(int64_t),                \
		    sizeof(int64_t), arg, 0)
#define MEW_BENCHMARK_FAMILY(name, state, array, label)                                            \
	MEW_DEFINE_(#name, mew_run_##name, mew_entry_##name, mew_ctor_##name, state, array,        \
		    sizeof(array) / sizeof((array)[0]), sizeof((array)[0]), NULL,                  \
		    offsetof(__typeof__((array)[0]), label))
#define MEW_OPTION(name, field, value)                                                             \
	__attribute__((constructor)) static void mew_option_##field##_##name(void)                 \
	{                                                                                          \
		mew_entry_##name.field = (value);                                                  \
	}                                                                                          \
	struct mew_entry
#define MEW_MAIN()                                                                                 \
	MEW_NOTE_;                                                                                 \
	int main(int argc, char **argv)                                                            \
	{                                                                                          \
		return mew_main(argc, argv);                                                       \
	}                                                                                          \
	struct mew_entry
#define MEW_NOTE()                                                                                 \
	MEW_NOTE_;                                                                                 \
	struct mew_entry
#define MEW_DEFINE_(key, fn, entry, ctor, state, params, n, size, arg, off)                        \
	static void fn(struct mew_state *state);                                                   \
	static struct mew_entry entry = {key, fn,  params,           n,   size, arg, off, 0,       \
					 0,   0.0, MEW_UNOPTIMIZED_, NULL};                        \
	__attribute__((constructor)) static void ctor(void)                                        \
	{                                                                                          \
		mew_register(&entry);                                                              \
	}                                                                                          \
	__attribute__((noinline)) static void fn(struct mew_state *state)

/*
 * The timing loop: MEW_LOOP(state) { one iteration }, once a case, in the entry's function or below
 * it, on each of its threads. continue, break, return, goto and a C++ exception do what they do in
 * a for; the profilers stop the moment the loop is left, and the iterations really done are
 * counted. (C code that a C++ exception crosses needs -fexceptions. A longjmp out of the loop fails
 * the case, as do a second loop and a function that returns without one.)
 *
 * The loop may run several rounds of iterations, one after the other and without a new set-up. In a
 * forked child it ends with the round, and the child ends quietly where the entry's function
 * returns.
 */
#define MEW_LOOP(state) MEW_LOOP_(state, MEW_PASTE_(mew_loop_, __LINE__))
#define MEW_LOOP_(state_, l_)                                                                      \
	for (struct mew_loop_ l_ MEW_CLEANUP_(mew_loop_leave_) =                                   \
		     mew_loop_enter_(state_, __func__);                                            \
	     l_.left != 0; l_.left = mew_loop_step_(l_.state, l_.left))

/*
 * Left out of every figure. A pause ends with its braces, with mew_resume(), or with its iteration
 * at the latest; the outermost of nested ones counts. With one thread in the loop it takes out all
 * that the process does meanwhile; with several, the calling thread's share alone. Outside the loop
 * there is nothing to pause: pairs do nothing there, and a pause that is open when the loop begins
 * fails the case.
 *
 * MEW_PAUSE(state) { ... } resumes however the braces are left, but is a loop to the compiler:
 * break and continue inside mean the braces. A continue cannot be seen: the pause ends and the
 * iteration goes on. A break that goes on with the iteration in the same function fails the case
 * with a message; so does a goto, or an exception that is caught there. return, and leaving the
 * MEW_LOOP too, are right.
 *
 * To break or continue the MEW_LOOP out of a pause use the two functions: break, continue, return
 * and goto are safe there.
 */
#define MEW_PAUSE(state) MEW_PAUSE_(state, MEW_PASTE_(mew_pause_, __LINE__))
#define MEW_PAUSE_(state_, p_)                                                                     \
	for (struct mew_pause_ p_ MEW_CLEANUP_(mew_pause_leave_) =                                 \
		     mew_pause_enter_(state_, __func__);                                           \
	     p_.func != NULL; p_.func = NULL)
void mew_pause(struct mew_state *state);
void mew_resume(struct mew_state *state); /* without a pause: the case fails */

/*
 * End the loop with this iteration, or before the first; the function itself goes on, so return or
 * break where that is wanted. skip: the case was not run, exit status 0. fail: exit status 1. The
 * text is a reason for people, at most 511 bytes; the first one counts.
 */
void mew_skip(struct mew_state *state, const char *format, ...) MEW_PRINTF_;
void mew_fail(struct mew_state *state, const char *format, ...) MEW_PRINTF_;

/* This case's value of MEW_BENCHMARK_VALUES. In another entry: 0, and the case fails. */
int64_t mew_value(const struct mew_state *state);
/* This case's element, good for ever; NULL in a plain entry. MEW_PARAM is this with a cast. */
const void *mew_param(const struct mew_state *state);
unsigned mew_threads(const struct mew_state *state);      /* in the loop together, 1 or more */
unsigned mew_thread_index(const struct mew_state *state); /* 0 .. mew_threads() - 1 */
/*
 * Iterations that this thread has finished, of all rounds: 0 before the loop, brought up to date as
 * each round ends, final after the loop. What the function counts in each iteration stands beside
 * this number.
 */
uint64_t mew_iterations(const struct mew_state *state);
/* This case's label from now on, instead of the family's; at most 255 bytes, longer ones are cut.
 */
void mew_label(struct mew_state *state, const char *format, ...) MEW_PRINTF_;

/*
 * A column of your own. Threads are summed; set again by the same thread, the last value counts. At
 * most 32 a case, names (copied) of at most 63 bytes; one name has one kind. Beyond these, the case
 * fails.
 */
enum mew_counter_kind {
	MEW_AS_IS,         /* value is shown as it is */
	MEW_PER_ITERATION, /* value was counted over all iterations: shown divided by them */
	MEW_PER_SECOND     /* value was counted over all iterations: shown divided by their time */
};
void mew_counter(struct mew_state *state, const char *name, double value,
		 enum mew_counter_kind kind);
void mew_bytes_per_iteration(struct mew_state *state, double bytes); /* shown as MB/s, 10^6 B */
void mew_items_per_iteration(struct mew_state *state, double items); /* shown as items/s */

/* MEW_KEEP(value): it must be computed, though nobody uses it. */
#define MEW_KEEP(...) __asm__ volatile("" : : "r,m"(__VA_ARGS__) : "memory")
/* MEW_HIDE(variable): what it holds is unknown to the compiler from here on. */
#define MEW_HIDE(...) __asm__ volatile("" : "+m,r"(__VA_ARGS__) : : "memory")
/* All memory may have been read and changed: stores before must be done, loads after are new. */
#define MEW_CLOBBER() __asm__ volatile("" : : : "memory")

/* Below here: what the macros need. */

/*
 * An allocated ELF note, owner "mew", type 1, its desc the version 1: linkers keep notes, also
 * under
 * --gc-sections.
 */
#define MEW_NOTE_                                                                                  \
	__asm__(".pushsection .note.mew, \"a\", %note\n"                                           \
		".balign 4\n"                                                                      \
		".long 4, 4, 1\n"                                                                  \
		".asciz \"mew\"\n"                                                                 \
		".long 1\n"                                                                        \
		".popsection\n")

struct mew_loop_ {
	struct mew_state *state;
	uint64_t left; /* iterations of the round, this one included; never has an address */
};
struct mew_pause_ {
	struct mew_state *state;
	const char *func; /* NULL once the braces' end was reached */
};

/* The first call (func not NULL), the round's end (left 0) or attention: how many are left now. */
uint64_t mew_loop_next_(struct mew_state *state, uint64_t left, const char *func);
void mew_loop_end_(struct mew_state *state, uint64_t left); /* left not 0: left early */
void mew_pause_end_(struct mew_state *state, const char *left_early_func);

MEW_INLINE_ struct mew_loop_ mew_loop_enter_(struct mew_state *state, const char *func)
{
	struct mew_loop_ loop = {state, mew_loop_next_(state, 0, func)};

	return loop;
}

MEW_INLINE_ uint64_t mew_loop_step_(struct mew_state *state, uint64_t left)
{
	if (--left != 0 && __atomic_load_n(&state->attention_, __ATOMIC_RELAXED) == 0)
		return left;
	return mew_loop_next_(state, left, NULL);
}

MEW_INLINE_ void mew_loop_leave_(struct mew_loop_ *loop)
{
	if (loop->left != 0)
		mew_loop_end_(loop->state, loop->left);
}

MEW_INLINE_ struct mew_pause_ mew_pause_enter_(struct mew_state *state, const char *func)
{
	struct mew_pause_ pause = {state, func};

	mew_pause(state);
	return pause;
}

MEW_INLINE_ void mew_pause_leave_(struct mew_pause_ *pause)
{
	mew_pause_end_(pause->state, pause->func);
}

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
