/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_self MODE: walks its own stack by the tables of its own modules, live and from a copy, and
 * compares with what backtrace(3) of libc finds, frame by frame. Exits with 1 and says what
 *differs. recursion	20 frames deep, all without frame pointers
 *	realigned	with stacks of variable size and alignment
 *	rows		below frames that only assembly has: found by other registers, by programs
 *	qsort		in a comparison function that libc calls
 *	signal		in a signal handler, on the interrupted stack and on a stack of its own
 *	thread		from a thread's start
 *	plugin FILE	in a library that came by dlopen, and what is left after dlclose
 *	sample N	in a timer's handler, N times, wherever it strikes, in libc and the vDSO too
 */
#include "config.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "unwind/cpu.h"
#include "unwind/modules.h"
#include "unwind/table.h"
#include "unwind/walk.h"

#define SPACE_BYTES (64u << 20)
#define FRAMES_MAX 1024
#define COPY_BYTES (256u << 10)

/* pc, sp and frame pointer, here; and the registers of a signal's context by DWARF number. */
#if defined(__x86_64__)
#define HERE "lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"

static void registers_of(const ucontext_t *u, uint64_t ret[MEW_WALK_REGS])
{
	static const int regs[MEW_WALK_REGS] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
		REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};

	for (int i = 0; i < MEW_WALK_REGS; i++)
		ret[i] = (uint64_t)u->uc_mcontext.gregs[regs[i]];
}

/* What the function that this is inlined into has not saved yet is the callers'. */
static inline __attribute__((always_inline)) void saved_registers(uint64_t ret[MEW_WALK_REGS])
{
	__asm__ volatile("mov %%rbx, %0\n\tmov %%r12, %1\n\tmov %%r13, %2\n\tmov %%r14, %3\n\t"
			 "mov %%r15, %4"
			 : "=m"(ret[3]), "=m"(ret[12]), "=m"(ret[13]), "=m"(ret[14]),
			   "=m"(ret[15]));
}
#else
#define HERE "adr %0, .\n\tmov %1, sp\n\tmov %2, x29"

static void registers_of(const ucontext_t *u, uint64_t ret[MEW_WALK_REGS])
{
	memcpy(ret, u->uc_mcontext.regs, sizeof(u->uc_mcontext.regs));
	ret[MEW_CPU_SP] = u->uc_mcontext.sp;
	ret[MEW_CPU_PC] = u->uc_mcontext.pc;
}

/* What the function that this is inlined into has not saved yet is the callers'. */
static inline __attribute__((always_inline)) void saved_registers(uint64_t ret[MEW_WALK_REGS])
{
	__asm__ volatile(
		"stp x19, x20, [%0]\n\tstp x21, x22, [%0, 16]\n\tstp x23, x24, [%0, 32]\n\t"
		"stp x25, x26, [%0, 48]\n\tstp x27, x28, [%0, 64]"
		:
		: "r"(&ret[19])
		: "memory");
}
#endif

static struct mew_modules *modules;
static const struct mew_unwind_table *table;
static struct mew_walk_cache cache;
static int n_failed, n_compared;
static volatile int n_alternate;

static void read_maps(void)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	struct mew_error error = {0};

	if (fd < 0 || mew_modules_read_maps(modules, fd, &error)) {
		fprintf(stderr, "cannot read maps: %s\n", error.text);
		exit(99);
	}
	close(fd);
}

static const char *const ends[MEW_WALK_ENDS] = {"root",      "outermost", "zero",     "cut",
						"no module", "no rule",   "evaluate", "bad",
						"elsewhere", "deep"};

static void show(const char *what, const struct mew_walk_result *r, void **theirs, int n)
{
	uint32_t i;

	fprintf(stderr, "%s: %s after %u frames, broke at %#llx; libc has %d\n", what, ends[r->end],
		r->n_frames, (unsigned long long)r->broke_at, n);
	for (i = 0; i < r->n_frames || (int)i < n; i++) {
		Dl_info info = {0};
		uintptr_t ours = i < r->n_frames ? r->pcs[i] : 0;
		uintptr_t their = (int)i < n ? (uintptr_t)theirs[i] : 0;

		dladdr((void *)(ours ? ours : their), &info);
		fprintf(stderr, "  %2u %#14lx %#14lx %c %s %s\n", i, ours, their,
			r->exact[i / 64] >> i % 64 & 1 ? 'x' : ' ',
			info.dli_fname ? info.dli_fname : "?",
			info.dli_sname ? info.dli_sname : "?");
	}
}

/* The end of the mapping that holds sp. */
static uint64_t stack_end(uint64_t sp)
{
	static __thread uint64_t known_lo, known_hi;
	FILE *maps;
	unsigned long lo, hi;
	char line[512];

	if (sp >= known_lo && sp < known_hi)
		return known_hi;
	maps = fopen("/proc/self/maps", "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx", &lo, &hi) == 2 && sp >= lo && sp < hi) {
			known_lo = lo;
			known_hi = hi;
		}
	}
	if (maps)
		fclose(maps);
	return known_hi;
}

/* Compares from frame `skip` of theirs on with ours from frame 1 on; frame 0 is the caller itself,
 * where the two asked at different instructions. */
static bool same(const struct mew_walk_result *r, void **theirs, int n, int skip)
{
	int i;

	if (r->end != MEW_WALK_OUTERMOST || (int)r->n_frames != n - skip)
		return false;
	for (i = 1; i < (int)r->n_frames; i++) {
		if (r->pcs[i] != (uintptr_t)theirs[skip + i])
			return false;
	}
	return true;
}

static uint8_t copy[COPY_BYTES];

/* Walks from start, live and copied; both must agree with libc. 0: they do. */
static int compare(const char *what, const struct mew_walk_start *start, void **theirs, int n,
		   int skip)
{
	static struct mew_walk_result live, copied, cut;
	struct mew_walk_stack stack = {.lo = start->sp, .hi = stack_end(start->sp)};
	struct mew_walk_root root = {0};

	n_compared++;
	mew_walk(table, SPACE_BYTES, start, &stack, &root, &cache, &live);
	if (!same(&live, theirs, n, skip)) {
		if (!n_failed++)
			show(what, &live, theirs + skip, n - skip);
		return 1;
	}
	if (stack.hi - stack.lo > sizeof(copy))
		stack.hi = stack.lo + sizeof(copy);
	memcpy(copy, (const void *)stack.lo, stack.hi - stack.lo);
	stack.bytes = copy;
	mew_walk(table, SPACE_BYTES, start, &stack, &root, NULL, &copied);
	/* An interrupted frame on another stack is not in a copy of this one. */
	if (copied.end != live.end && copied.end != MEW_WALK_ELSEWHERE &&
	    copied.end != MEW_WALK_CUT) {
		n_failed++;
		show("copied", &copied, theirs + skip, n - skip);
		return 1;
	}
	/* A copy of half the way is cut, and right as far as it goes. */
	if (live.n_frames > 6 && copied.end == live.end) {
		root.lo = live.pcs[live.n_frames - 2];
		root.hi = root.lo + 1;
		mew_walk(table, SPACE_BYTES, start, &stack, &root, NULL, &copied);
		stack.hi = stack.lo + 64;
		mew_walk(table, SPACE_BYTES, start, &stack, &root, NULL, &cut);
		if (copied.end != MEW_WALK_ROOT || copied.n_frames > live.n_frames - 2 ||
		    (cut.end != MEW_WALK_CUT && cut.n_frames > 3) ||
		    memcmp(cut.pcs, live.pcs, cut.n_frames * sizeof(cut.pcs[0])) != 0) {
			n_failed++;
			show("rooted", &copied, theirs + skip, n - skip);
			show("cut", &cut, theirs + skip, n - skip);
			return 1;
		}
	}
	return 0;
}

/* Here and now. Inlined: the caller's frame is frame 0. */
static inline __attribute__((always_inline)) int compare_here(const char *what)
{
	uint64_t regs[MEW_WALK_REGS];
	struct mew_walk_start start = {.regs = regs, .known = MEW_CPU_SAVED_MASK};
	void *theirs[FRAMES_MAX];
	int n = backtrace(theirs, FRAMES_MAX), rc;

	saved_registers(regs);
	__asm__ volatile(HERE : "=r"(start.pc), "=r"(start.sp), "=r"(start.fp));
	rc = compare(what, &start, theirs, n, 0);
	__asm__ volatile("" ::: "memory");
	return rc;
}

__attribute__((noinline)) static int recurse(int depth, const char *what)
{
	volatile char room[200];
	int rc;

	room[depth] = 1;
	rc = depth ? recurse(depth - 1, what) : compare_here(what);
	return rc + (room[depth] != 1);
}

/* Frames whose CFA is by another register or in memory: a realigned stack of variable size. */
__attribute__((noinline)) static int realign(int depth, size_t size)
{
	volatile char aligned[64] __attribute__((aligned(64)));
	volatile char *room = __builtin_alloca(size);
	int rc;

	aligned[size % 64] = room[0] = 1;
	if ((uintptr_t)aligned % 64)
		return 1;
	rc = depth ? realign(depth - 1, size + 24) : recurse(3, "realigned");
	return rc + (aligned[size % 64] != 1);
}

#if defined(__x86_64__)
/* walk_rows.c */
typedef int (*row_fn)(int (*call)(void *), void *arg);
extern int walk_row_rbx(int (*call)(void *), void *arg);
extern int walk_row_deref(int (*call)(void *), void *arg);
extern int walk_row_counted(int (*call)(void *), void *arg);
extern int walk_row_register(int (*call)(void *), void *arg);
extern int walk_row_fp(int (*call)(void *), void *arg);

static const row_fn row_fns[] = {walk_row_rbx, walk_row_deref, walk_row_counted, walk_row_register,
				 walk_row_fp};

#define ROW_FNS (sizeof(row_fns) / sizeof(row_fns[0]))

/* arg: how many to call from here on; each of these frames is found by its frame pointer. */
__attribute__((noinline)) static int call_rows(void *arg)
{
	size_t n = (uintptr_t)arg;
	volatile char *room = __builtin_alloca(n * 24 + 8);
	int rc;

	room[0] = 1;
	rc = n ? row_fns[n - 1](call_rows, (void *)(n - 1)) : recurse(3, "rows");
	return rc + (room[0] != 1);
}

static int rows(void)
{
	size_t i;
	int rc = call_rows((void *)ROW_FNS);

	for (i = 0; i < ROW_FNS; i++)
		rc += row_fns[i](call_rows, NULL);
	return rc;
}
#else
static int rows(void)
{
	return recurse(3, "rows");
}
#endif

static int by_value(const void *a, const void *b)
{
	static bool done;

	if (!done) {
		done = true;
		compare_here("qsort");
	}
	return *(const int *)a - *(const int *)b;
}

static void on_signal(int number)
{
	(void)number;
	compare_here("signal");
}

/* On a stack of its own: the walk comes to the interrupted frame, whose stack it was not given. */
static void on_alternate(int number, siginfo_t *info, void *context)
{
	const ucontext_t *u = context;
	struct mew_walk_start start = {0};
	uint64_t regs[MEW_WALK_REGS];
	static struct mew_walk_result r;
	struct mew_walk_stack stack;
	struct mew_walk_root root = {0};

	(void)number;
	(void)info;
	registers_of(u, regs);
	__asm__ volatile(HERE : "=r"(start.pc), "=r"(start.sp), "=r"(start.fp));
	stack = (struct mew_walk_stack){.lo = start.sp, .hi = stack_end(start.sp)};
	mew_walk(table, SPACE_BYTES, &start, &stack, &root, &cache, &r);
	if (r.n_frames != 3 || r.pcs[2] != regs[MEW_CPU_PC] || !(r.exact[0] & 4) ||
	    r.end != MEW_WALK_ELSEWHERE) {
		n_failed++;
		show("alternate", &r, NULL, 0);
	}
	n_alternate++;
}

static void *in_thread(void *arg)
{
	recurse(5, "thread");
	return arg;
}

static void raise_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	stack_t alternate = {.ss_size = 1u << 20};

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	alternate.ss_sp = malloc(alternate.ss_size);
	sigaltstack(&alternate, NULL);
	action.sa_sigaction = on_alternate;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	n_failed += n_alternate != 1;
	sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
	free(alternate.ss_sp);
}

/* ---- samples ---- */

static volatile int n_samples, n_differ, n_short;

static void on_tick(int number, siginfo_t *info, void *context)
{
	const ucontext_t *u = context;
	static void *theirs[FRAMES_MAX];
	uint64_t values[MEW_WALK_REGS];
	struct mew_walk_start start = {.regs = values, .known = MEW_WALK_REGS_ALL};
	int n = backtrace(theirs, FRAMES_MAX), i;

	(void)number;
	(void)info;
	registers_of(u, values);
	start.pc = values[MEW_CPU_PC];
	start.sp = values[MEW_CPU_SP];
	start.fp = values[MEW_CPU_FP];
	for (i = 0; i < n && (uintptr_t)theirs[i] != start.pc; i++)
		;
	n_samples++;
	/* libc gives up in a few places that we can leave: only what it finished is compared. */
	if (i + 1 >= n) {
		n_short++;
		return;
	}
	n_differ += compare("sample", &start, theirs, n, i);
}

__attribute__((noinline)) static double work(unsigned seed)
{
	char text[256];
	int numbers[200];
	struct timespec t;
	double sum = 0;
	unsigned i;

	for (i = 0; i < 200; i++)
		numbers[i] = (int)(seed = seed * 1103515245u + 12345u) >> 8;
	qsort(numbers, 200, sizeof(numbers[0]), by_value);
	for (i = 0; i < 40; i++) {
		void *block = malloc(seed % 3000 + 1);

		clock_gettime(CLOCK_MONOTONIC, &t);
		snprintf(text, sizeof(text), "%d %.17g %s", numbers[i], (double)t.tv_nsec / 7, "x");
		sum += strtod(strchr(text, ' '), NULL) + pow(sum, 0.25) + (double)strlen(text);
		free(block);
	}
	return sum;
}

static int sample(int n)
{
	struct sigaction action = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct itimerval timer = {{0, 1000}, {0, 1000}};
	struct timespec start, now;
	static volatile double sink;
	unsigned seed = 1;

	by_value(&(int){1}, &(int){2});
	clock_gettime(CLOCK_MONOTONIC, &start);
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &timer, NULL);
	do {
		sink = sink + work(seed++);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (n_samples < n && now.tv_sec - start.tv_sec < 60);
	timer = (struct itimerval){{0, 0}, {0, 0}};
	setitimer(ITIMER_PROF, &timer, NULL);
	printf("samples=%d differ=%d libc_short=%d\n", n_samples, n_differ, n_short);
	/* What libc finds and we do not is counted by the caller of this program. */
	n_failed = 0;
	return 0;
}

static void from_plugin(void)
{
	compare_here("plugin");
}

static int plugin(const char *path)
{
	uint64_t generation = table->generation;
	const struct mew_mapping *mapping;
	void (*call)(void (*)(void));
	void *handle = dlopen(path, RTLD_NOW);
	uint64_t pc;

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		return 99;
	}
	*(void **)&call = dlsym(handle, "plugin_call");
	pc = (uintptr_t)call;
	read_maps();
	if (table->generation == generation ||
	    !mew_unwind_table_find(table, SPACE_BYTES, pc, NULL)) {
		fprintf(stderr, "no table for the plugin\n");
		return 1;
	}
	call(from_plugin);
	mapping = mew_modules_find(modules, pc, 0);
	if (!mapping || strcmp(mew_modules_get(modules, mapping->module)->path, path) != 0) {
		fprintf(stderr, "the plugin is not found by its pc\n");
		return 1;
	}
	generation = table->generation;
	dlclose(handle);
	read_maps();
	if (table->generation == generation ||
	    mew_unwind_table_find(table, SPACE_BYTES, pc, NULL)) {
		fprintf(stderr, "a table for what is gone\n");
		return 1;
	}
	/* Samples that were taken there are still to be named. */
	return mew_modules_find(modules, pc, 0) == NULL;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	struct mew_error error = {0};
	int numbers[] = {3, 1, 2};
	pthread_t thread;
	void *space, *warm[4];

	backtrace(warm, 4); /* loads libgcc */
	space = mmap(NULL, SPACE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	modules = space == MAP_FAILED ? NULL : mew_modules_new(space, SPACE_BYTES, &error);
	if (!modules) {
		fprintf(stderr, "%s\n", error.text);
		return 99;
	}
	table = mew_modules_table(modules);
	read_maps();
	if (!strcmp(mode, "recursion")) {
		recurse(20, "recursion");
	} else if (!strcmp(mode, "realigned")) {
		n_failed += realign(5, (size_t)argc * 40);
	} else if (!strcmp(mode, "rows")) {
		n_failed += rows();
	} else if (!strcmp(mode, "qsort")) {
		qsort(numbers, 3, sizeof(numbers[0]), by_value);
	} else if (!strcmp(mode, "signal")) {
		raise_signals();
	} else if (!strcmp(mode, "thread")) {
		if (pthread_create(&thread, NULL, in_thread, NULL))
			return 99;
		pthread_join(thread, NULL);
	} else if (!strcmp(mode, "plugin") && argc > 2) {
		n_failed += plugin(argv[2]);
	} else if (!strcmp(mode, "sample") && argc > 2) {
		n_failed += sample(atoi(argv[2]));
	} else {
		return 2;
	}
	mew_modules_free(modules);
	munmap(space, SPACE_BYTES);
	return n_failed || !n_compared;
}
