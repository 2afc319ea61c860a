/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_oracle [-v] N STACK_BYTES PROGRAM [ARG...]: records the registers and the stack of N samples
 * of a program, then walks each by our tables and by libdwfl, on the same bytes, and compares frame
 * by frame: pcs, whether a pc is a return address, and how the walk ends. Each is walked again with
 * a copy of the stack that is cut somewhere.
 *
 * Where the two part, the reason is looked for and counted by its class; what has none is shown and
 * makes the exit status 1; 77: events are not permitted.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "dwfl_walk.h"
#include "kernel/event.h"
#include "kernel/record.h"
#include "kernel/whole.h"
#include "session/sample.h"
#include "unwind/cpu.h"
#include "unwind/modules.h"
#include "unwind/walk.h"

#define SPACE_BYTES ((size_t)256 << 20)
#define INTERVAL_S 0.0002
#define SHOWN_MAX 5

enum difference {
	EQUAL,
	ENTRY,    /* ours ends where a file begins to run, without CFI: nobody calls that */
	GUESSED,  /* no CFI there: libdwfl goes on by the frame pointer, ours ends or says that it
		     did likewise */
	RED_ZONE, /* a register saved below sp, where the function has left its frame already:
		     libdwfl takes it for lost; ours knows that the register still holds it, and
		     goes on to a good end */
	UNEXPLAINED,
	N_DIFFERENCES,
};

static const char *const difference_names[N_DIFFERENCES] = {"equal", "entry", "guessed", "red_zone",
							    "unexplained"};

struct oracle {
	pid_t pid;
	size_t wanted;
	struct mew_record *samples; /* owned, and so are their stacks */
	size_t n_samples, cap_samples;
	struct mew_modules *modules;
	struct dwfl_walk *dwfl;
	struct mew_walk_cache cache;
	uint64_t n_differences[N_DIFFERENCES], n_frames, n_walks, n_cut, n_outermost, n_shown;
};

static void die(const char *what, const char *why)
{
	fprintf(stderr, "walk_oracle: %s: %s\n", what, why);
	exit(99);
}

/* ---- recording ---- */

static int keep_sample(struct oracle *o, const struct mew_record *r)
{
	uint8_t *copy;

	if (!r->has_regs || o->n_samples == o->wanted)
		return 0;
	/* Its own block, as long as the copy: checkers see a read past it. */
	copy = malloc(r->stack_bytes ? r->stack_bytes : 1);
	if (!copy || MEW_ARRAY_PUSH(o->samples, o->n_samples, o->cap_samples))
		return -ENOMEM;
	if (r->stack_bytes)
		memcpy(copy, r->stack, r->stack_bytes);
	o->samples[o->n_samples] = *r;
	o->samples[o->n_samples++].stack = copy;
	return 0;
}

static int keep_map(struct oracle *o, const struct mew_record *r)
{
	int rc;

	if (!r->executable || (r->path[0] != '/' && strcmp(r->path, "[vdso]") != 0) ||
	    !strncmp(r->path, "//anon", 6))
		return 0;
	rc = mew_modules_add(o->modules,
			     &(struct mew_mapped){r->start, r->start + r->bytes, r->file_off,
						  r->dev, r->ino, r->time_ns, r->path},
			     NULL);
	return rc ? rc
		  : dwfl_walk_add(o->dwfl, r->path, r->start, r->start + r->bytes, r->file_off);
}

static int on_record(void *arg, const struct mew_record *r)
{
	struct oracle *o = arg;

	if (r->pid != (uint32_t)o->pid)
		return 0;
	if (r->type == MEW_RECORD_SAMPLE)
		return keep_sample(o, r);
	return r->type == MEW_RECORD_MMAP ? keep_map(o, r) : 0;
}

/* Waits for a byte before it becomes the program. */
static pid_t start(char **argv, int *ret_go)
{
	int go[2], null;
	pid_t pid;
	char byte;

	if (pipe2(go, O_CLOEXEC))
		die("pipe", strerror(errno));
	pid = fork();
	if (pid < 0)
		die("fork", strerror(errno));
	if (pid == 0) {
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
		dup2(null, 0);
		dup2(null, 1);
		if (read(go[0], &byte, 1) == 1)
			execv(argv[0], argv);
		_exit(127);
	}
	close(go[0]);
	*ret_go = go[1];
	return pid;
}

static void record(struct oracle *o, uint32_t stack_bytes, char **argv)
{
	struct mew_error error = {0};
	struct mew_event event;
	struct mew_whole kernel;
	struct pollfd fds[64];
	int go, hung_up = 0, status;
	size_t n, i;

	if (mew_event_resolve("cpu-clock:u", INTERVAL_S, 0, stack_bytes, &event, &error))
		die("event", error.text);
	o->pid = start(argv, &go);
	if (mew_whole_open(&kernel, &event, o->pid, &error)) {
		kill(o->pid, SIGKILL);
		die("event", error.text);
	}
	if (write(go, "x", 1) != 1)
		die("pipe", strerror(errno));
	n = kernel.n_rings < 64 ? kernel.n_rings : 64;
	while (!hung_up && o->n_samples < o->wanted) {
		for (i = 0; i < n; i++)
			fds[i] = (struct pollfd){.fd = mew_whole_fd(&kernel, i), .events = POLLIN};
		poll(fds, n, 20);
		for (i = 0; i < n; i++)
			hung_up |= fds[i].revents & POLLHUP;
		if (mew_whole_drain(&kernel, 0, on_record, o))
			die("records", "cannot keep them");
	}
	kill(o->pid, SIGKILL);
	waitpid(o->pid, &status, 0);
	if (mew_whole_drain(&kernel, 1, on_record, o))
		die("records", "cannot keep them");
	if (kernel.n_bad)
		die("records", "cannot be decoded");
	if (o->n_samples < o->wanted && WIFEXITED(status) && WEXITSTATUS(status))
		die(argv[0], "failed");
	mew_whole_close(&kernel);
	close(go);
}

/* ---- comparing ---- */

static const char *our_end(const struct mew_walk_result *r)
{
	static const char *const names[MEW_WALK_ENDS] = {
		"root",    "outermost", "zero", "cut",       "no module",
		"no rule", "evaluate",  "bad",  "elsewhere", "deep",
	};

	return names[r->end];
}

static const char *their_end(const struct dwfl_walk_result *r)
{
	static const char *const names[] = {"outermost", "cut", "no CFI", "stuck"};

	return names[r->end];
}

static bool is_exact(const struct mew_walk_result *r, uint32_t i)
{
	return r->exact[i / 64] >> i % 64 & 1;
}

/* libdwfl calls the caller of a handler, which only returns, an activation like the frame that the
 * signal interrupted. */
static bool same_frame(const struct mew_walk_result *ours, const struct dwfl_walk_result *theirs,
		       uint32_t i)
{
	bool trampoline = i + 1 < theirs->n_frames && theirs->activation[i + 1];

	return ours->pcs[i] == theirs->pcs[i] &&
	       (is_exact(ours, i) == theirs->activation[i] || trampoline);
}

static bool same_end(const struct mew_walk_result *ours, const struct dwfl_walk_result *theirs)
{
	switch (ours->end) {
	case MEW_WALK_OUTERMOST:
	case MEW_WALK_ZERO:
		return theirs->end == DWFL_WALK_OUTERMOST;
	case MEW_WALK_CUT:
		return theirs->end == DWFL_WALK_CUT;
	default:
		return theirs->end == DWFL_WALK_NO_CFI || theirs->end == DWFL_WALK_STUCK;
	}
}

static enum difference compare(struct oracle *o, const struct mew_walk_result *ours,
			       const struct dwfl_walk_result *theirs)
{
	uint32_t n = ours->n_frames, k = 0;
	bool has_row;
	uint64_t at;

	while (k < n && k < theirs->n_frames && same_frame(ours, theirs, k))
		k++;
	o->n_frames += k;
	if (k == n && n == theirs->n_frames && same_end(ours, theirs))
		return EQUAL;
	if (!k)
		return UNEXPLAINED;
	at = ours->pcs[k - 1] - !is_exact(ours, k - 1);
	has_row = dwfl_walk_has_row(o->dwfl, at);
	if (k == n && !has_row) {
		if (ours->end == MEW_WALK_OUTERMOST && dwfl_walk_from_entry(o->dwfl, at) < 256)
			return ENTRY;
		if (ours->end == MEW_WALK_NO_RULE || ours->end == MEW_WALK_NO_MODULE)
			return GUESSED;
	}
	/* We try the frame pointer, too, and say so; checks of our own may choose another way. */
	if (!has_row && ours->n_by_fp)
		return GUESSED;
	if (k == theirs->n_frames && theirs->below_sp && theirs->end == DWFL_WALK_STUCK &&
	    (ours->end == MEW_WALK_OUTERMOST || ours->end == MEW_WALK_CUT))
		return RED_ZONE;
	return UNEXPLAINED;
}

static void show(struct oracle *o, size_t at, const struct mew_walk_result *ours,
		 const struct dwfl_walk_result *theirs)
{
	const struct mew_record *r = &o->samples[at];
	uint32_t i;

	printf("# sample %zu: sp %#" PRIx64 ", %u bytes of stack; ours ends: %s, libdwfl's: %s\n",
	       at, r->regs[MEW_CPU_SP], r->stack_bytes, our_end(ours), their_end(theirs));
	for (i = 0; i < ours->n_frames || i < theirs->n_frames; i++) {
		uint64_t a = i < ours->n_frames ? ours->pcs[i] : 0;
		uint64_t b = i < theirs->n_frames ? theirs->pcs[i] : 0;

		printf("#   %2u %#16" PRIx64 "%c %#16" PRIx64 "%c %s%s\n", i, a,
		       a && is_exact(ours, i) ? 'x' : ' ', b,
		       b && theirs->activation[i] ? 'x' : ' ', a == b ? "" : "DIFFERS ",
		       dwfl_walk_name(o->dwfl, a ? a : b));
	}
}

static void walk_both(struct oracle *o, size_t at, bool verbose)
{
	static const struct mew_walk_root outermost;
	static struct mew_walk_result ours;
	static struct dwfl_walk_result theirs;
	const struct mew_record *r = &o->samples[at];
	struct mew_walk_start start;
	struct mew_walk_stack stack;
	struct dwfl_walk_stack same;
	enum difference difference;

	o->n_walks++;
	if (mew_sample_start(r, &start, &stack))
		die("a sample", "no registers");
	mew_walk(mew_modules_table(o->modules), SPACE_BYTES, &start, &stack, &outermost, &o->cache,
		 &ours);
	same = (struct dwfl_walk_stack){r->regs, stack.lo, stack.hi, stack.bytes};
	if (dwfl_walk_run(o->dwfl, &same, &theirs))
		die("libdwfl", "does not walk");
	difference = compare(o, &ours, &theirs);
	o->n_differences[difference]++;
	o->n_outermost += ours.end == MEW_WALK_OUTERMOST;
	o->n_cut += ours.end == MEW_WALK_CUT;
	if (difference == UNEXPLAINED
		    ? o->n_shown++ < SHOWN_MAX
		    : difference != EQUAL && verbose && o->n_differences[difference] <= SHOWN_MAX) {
		printf("# %s\n", difference_names[difference]);
		show(o, at, &ours, &theirs);
	}
}

/* The copy of sample `at` shorter, in a block of its own. */
static void cut(struct oracle *o, size_t at)
{
	struct mew_record *r = &o->samples[at];
	uint32_t bytes = (uint32_t)(at * 2654435761u) % (r->stack_bytes + 1) & ~7u;
	uint8_t *shorter = malloc(bytes ? bytes : 1);

	if (!shorter)
		die("a sample", "out of memory");
	if (bytes)
		memcpy(shorter, r->stack, bytes);
	free((void *)(uintptr_t)r->stack);
	r->stack = shorter;
	r->stack_bytes = bytes;
}

static void init(struct oracle *o, void *space)
{
	struct mew_error error = {0};

	if (mew_event_permitted(&error)) {
		printf("%s\n", error.text);
		exit(77);
	}
	if (space == MAP_FAILED)
		die("tables", strerror(errno));
	o->modules = mew_modules_new(space, SPACE_BYTES, &error);
	o->dwfl = dwfl_walk_new();
	if (!o->modules || !o->dwfl)
		die("tables", error.text);
}

static void done(struct oracle *o)
{
	size_t i;

	for (i = 0; i < o->n_samples; i++)
		free((void *)(uintptr_t)o->samples[i].stack);
	free(o->samples);
	dwfl_walk_free(o->dwfl);
	mew_modules_free(o->modules);
}

int main(int argc, char **argv)
{
	static struct oracle o;
	bool verbose = argc > 1 && !strcmp(argv[1], "-v");
	void *space = mmap(NULL, SPACE_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t i;

	argv += verbose;
	if (argc - verbose < 4)
		return 2;
	init(&o, space);
	o.wanted = strtoul(argv[1], NULL, 10);
	record(&o, (uint32_t)strtoul(argv[2], NULL, 10), argv + 3);
	for (i = 0; i < o.n_samples; i++)
		walk_both(&o, i, verbose);
	for (i = 0; i < o.n_samples; i++) {
		cut(&o, i);
		walk_both(&o, i, verbose);
	}

	printf("samples=%zu walks=%" PRIu64 " frames=%" PRIu64 " outermost=%" PRIu64
	       " cut=%" PRIu64,
	       o.n_samples, o.n_walks, o.n_frames, o.n_outermost, o.n_cut);
	for (i = 0; i < N_DIFFERENCES; i++)
		printf(" %s=%" PRIu64, difference_names[i], o.n_differences[i]);
	printf("\n");
	done(&o);
	munmap(space, SPACE_BYTES);
	return o.n_differences[UNEXPLAINED] != 0;
}
