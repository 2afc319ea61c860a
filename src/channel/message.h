/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h: what a target and mew-perf say to each other over the Unix socket: one SOCK_SEQPACKET
 * packet a message, little structs of fixed size, descriptors beside them (SCM_RIGHTS). Knows no
 * events and no heap.
 *
 * A benchmark (role BENCH), one case a process:
 *
 *      target                                  mew-perf
 *      HELLO                              ->
 *                                         <-   LIST
 *      CASE (one a case), LIST_END        ->                         and the target exits 0
 *   or
 *                                         <-   RUN + window memfd
 *      (set-up runs; at the loop's start, its threads waiting at a barrier:)
 *      MAPS + fd of /proc/self/maps       ->
 *      THREAD + event descriptors (one a thread, CPU runs only)      ->
 *      ROUND (kind NONE)                  ->
 *                                         <-   PLAN
 *      ROUND (what was done)              ->                         until a plan of kind STOP
 *                                         <-   PLAN ...
 *      (tear-down runs)
 *      COUNTER (any number), END          ->                         and the target exits
 *
 * or, when mew-perf took the program for another one and starts it again:
 *                                         <-   BYE                  and the target exits
 *
 * The heap hook (role HEAP) has a connection of its own:
 *
 *      HELLO + fd of /proc/self/maps      ->
 *                                         <-   HEAP + segment memfd + table memfd, or BYE: do
 *                                              not record
 *      TABLES (a pc without a table)      ->
 *                                         <-   TABLES (the generation of the tables now)
 *
 * Everything that arrives is checked like any input: size first, then strings (terminated), then
 * values.
 */
#ifndef MEW_CHANNEL_MESSAGE_H
#define MEW_CHANNEL_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#define MEW_SOCKET_ENV                                                                             \
	"MEW_PERF_SOCKET" /* path of the socket; taken out of the environment once read by libmew  \
			   */

#define MEW_MESSAGE_VERSION 1
#define MEW_MESSAGE_MAX_BYTES 8192
#define MEW_MESSAGE_MAX_FDS 4
#define MEW_KEY_BYTES                                                                              \
	256 /* a case's key with its NUL; longer names are an error of the benchmark */
#define MEW_LABEL_BYTES                                                                            \
	256 /* a label with its NUL; longer ones are cut at a character's edge and end in "..." */
#define MEW_TEXT_BYTES 512 /* a reason with its NUL */
#define MEW_ATTR_BYTES 256 /* room for a struct perf_event_attr of any kernel until now */

enum mew_message_type {
	MEW_MSG_HELLO = 1,
	MEW_MSG_LIST,
	MEW_MSG_CASE,
	MEW_MSG_LIST_END,
	MEW_MSG_RUN,
	MEW_MSG_MAPS,
	MEW_MSG_THREAD,
	MEW_MSG_ROUND,
	MEW_MSG_PLAN,
	MEW_MSG_COUNTER,
	MEW_MSG_END,
	MEW_MSG_HEAP,
	MEW_MSG_TABLES,
	MEW_MSG_BYE,
};

struct mew_message_header {
	uint32_t type; /* enum mew_message_type */
	uint32_t size; /* of the whole message, this header included; equals the packet's length */
};

enum mew_role { MEW_ROLE_BENCH = 1, MEW_ROLE_HEAP = 2 };

struct mew_msg_hello {
	struct mew_message_header header;
	uint32_t version; /* MEW_MESSAGE_VERSION; another one: mew-perf says so and gives up */
	uint32_t role;    /* enum mew_role */
	int32_t pid;      /* as the target sees itself; SO_PEERCRED is what counts */
	uint32_t n_cases; /* role BENCH */
};

/* LIST, LIST_END and BYE are a header alone. */

struct mew_msg_case {
	struct mew_message_header header;
	uint32_t index;      /* from 0, registration order */
	uint32_t n_threads;  /* of the loop, 1 or more */
	uint64_t iterations; /* asked for by the entry; 0: the runner decides */
	char key[MEW_KEY_BYTES];
	char label[MEW_LABEL_BYTES]; /* "" for a plain entry */
};

enum mew_run_kind {
	MEW_RUN_CPU = 1,
	MEW_RUN_HEAP = 2,
};

enum mew_pause_mode {
	MEW_PAUSE_CLOCK = 0,   /* note the two clock readings, nothing else */
	MEW_PAUSE_OUTPUT = 1,  /* and PERF_EVENT_IOC_PAUSE_OUTPUT */
	MEW_PAUSE_DISABLE = 2, /* and PERF_EVENT_IOC_DISABLE / ENABLE */
	MEW_PAUSE_AUTO =
		3, /* only from mew-perf: ioctl_mode below, or the clock when that is too dear */
};

/* Run one case. Comes with the memfd of the window (window.h). */
struct mew_msg_run {
	struct mew_message_header header;
	uint32_t kind;           /* enum mew_run_kind */
	uint32_t case_index;     /* as in CASE */
	char key[MEW_KEY_BYTES]; /* must be that case's key: a program that lists other cases than
				    it runs is an error */
	uint32_t pause_mode;     /* enum mew_pause_mode: what the user asked for */
	uint32_t ioctl_mode;     /* OUTPUT or DISABLE: what an ioctl pause means for this event */
	uint32_t n_events; /* of a thread: 0 in a heap run; attrs[0] samples, attrs[1] is the dummy
			    * with SWITCH, FORK and MMAP2 records, attrs[2], if there, the companion
			    * cpu-clock of a hardware event */
	uint32_t window_bytes;            /* of the memfd */
	uint8_t attrs[3][MEW_ATTR_BYTES]; /* struct perf_event_attr, attr.size tells how much;
					     opened disabled */
};

/* Comes with a descriptor of /proc/self/maps, opened by the target itself (works when it is not
 * dumpable). */
struct mew_msg_maps {
	struct mew_message_header header;
	uint64_t root_lo, root_hi; /* pc: the runner's function that calls the entry lies in
				    * [root_lo, root_hi). A stack whose next return address lies
				    * there has reached the case */
	uint64_t entry_pc;         /* the entry's run function */
};

enum mew_thread_kind { MEW_THREAD_LOOP = 1, MEW_THREAD_POOL = 2 };

/* One thread's events, opened and disabled: n_fds descriptors in the order of attrs. With n_fds 0,
 * error says why. */
struct mew_msg_thread {
	struct mew_message_header header;
	int32_t tid;
	uint32_t kind; /* enum mew_thread_kind */
	uint32_t slot; /* LOOP: index into window.threads, the thread_index; POOL:
			  MEW_WINDOW_THREADS */
	uint32_t n_fds;
	int32_t error;   /* errno of perf_event_open when n_fds is 0 */
	uint32_t failed; /* index into attrs of the one that failed */
};

enum mew_round_kind {
	MEW_ROUND_NONE = 0,
	MEW_ROUND_WARM_UP =
		1, /* heap run: its first iteration is the "first iteration"; nothing else counts */
	MEW_ROUND_PLAIN = 2,   /* cpu run: timed, not sampled */
	MEW_ROUND_SAMPLED = 3, /* cpu run: events on */
	MEW_ROUND_TRACKED = 4, /* heap run: the window */
	MEW_ROUND_STOP = 5,    /* only in PLAN: the loop is over */
};

/* The round that has just ended (kind NONE: the loop is about to start), as the whole process saw
 * it. */
struct mew_msg_round {
	struct mew_message_header header;
	uint32_t kind;       /* enum mew_round_kind */
	uint32_t left_early; /* 1: break, return, skip, fail or an exception ended the loop; no
				round follows */
	uint64_t iterations; /* passes really done, summed over the threads; one left early counts
				as done */
	uint64_t loop_ns;    /* sum over the threads of (end - begin - paused): thread-time of the
				round */
	uint64_t wall_ns;    /* longest thread's end - begin - paused */
	uint64_t paused_ns;  /* summed over the threads */
	uint64_t n_pauses;   /* outermost ones, summed */
	uint64_t pause_pair_ns;  /* what a pause pair costs in the mode in force, calibrated; 0: not
				    known yet */
	uint64_t pause_clock_ns; /* the same by the clock alone, */
	uint64_t pause_ioctl_ns; /* and in RUN's ioctl_mode; 0: not known, or it cannot be done */
	uint32_t pause_mode;     /* enum mew_pause_mode in force, never AUTO */
	uint32_t n_threads;      /* harness threads in the loop */
};

struct mew_msg_plan {
	struct mew_message_header header;
	uint32_t kind;       /* enum mew_round_kind: PLAIN, SAMPLED, WARM_UP, TRACKED or STOP */
	uint32_t pause_mode; /* for this round, never AUTO once an iteration's time is known */
	uint64_t iterations; /* of each thread, 1 or more */
	uint64_t period; /* SAMPLED: set by PERF_EVENT_IOC_PERIOD on event 0 of each thread before
			    it is enabled; 0: leave */
	uint64_t clock_period_ns; /* the same of the companion, where there is one */
	uint32_t stack_bytes; /* CPU; not 0: no round, but open the events again with stack copies
				 of that size, and send MAPS, THREADs and ROUND (NONE) once more */
	uint32_t pad;
};

enum mew_counter_unit {
	MEW_COUNTER_AS_IS = 0,
	MEW_COUNTER_PER_ITERATION = 1,
	MEW_COUNTER_PER_SECOND = 2
};

struct mew_msg_counter {
	struct mew_message_header header;
	uint32_t kind; /* enum mew_counter_unit */
	uint32_t pad;
	double value; /* summed over the threads. What the benchmark counted in all rounds is scaled
		       * to the measured ones (sampled or tracked): PER_ITERATION is still to be
		       * divided by their iterations, PER_SECOND by their wall time */
	char name[MEW_LABEL_BYTES];
};

enum mew_case_status {
	MEW_CASE_OK = 0,
	MEW_CASE_SKIPPED = 1, /* mew_skip; text is the reason */
	MEW_CASE_FAILED =
		2, /* mew_fail, no loop, two loops, resume without pause, ...; text says which */
};

struct mew_msg_end {
	struct mew_message_header header;
	uint32_t status; /* enum mew_case_status */
	uint32_t left_early;
	char label[MEW_LABEL_BYTES]; /* as mew_label() left it */
	char text[MEW_TEXT_BYTES];
};

/* What the hook counts other than by default. */
enum mew_heap_flags {
	MEW_HEAP_USABLE = 1, /* sizes are malloc_usable_size(), not those asked for */
	MEW_HEAP_SELF = 2,   /* of the loop's threads alone; of a whole program, the main thread */
	MEW_HEAP_PAUSED = 4, /* in pauses too */
	MEW_HEAP_MMAP = 8,   /* mmap() and its relatives besides */
};

/* The hook may record. Comes with the segment's memfd (segment.h), then the tables'
 * (unwind/table.h). */
struct mew_msg_heap {
	struct mew_message_header header;
	uint32_t whole; /* 1: a program without libmew: window open from now on to the end; 0:
			   libmew opens it */
	uint32_t flags; /* enum mew_heap_flags */
	uint64_t segment_bytes;
	uint64_t table_bytes; /* of the mapping; the file grows to it as tables come */
};

struct mew_msg_tables {
	struct mew_message_header header;
	uint64_t pc;         /* to mew-perf: no table covers it; 0: the process is about to end */
	uint64_t generation; /* to the hook: of the tables now. Unchanged: there is no table for
				that pc */
};

/*
 * Send one message with n_fds descriptors (0 to MEW_MESSAGE_MAX_FDS; they stay the caller's). No
 * allocation, no stdio; restarts on EINTR, no SIGPIPE. 0, or -errno (-EPIPE: the other side is
 * gone).
 */
int mew_message_send(int sock, const void *message, const int *fds, unsigned n_fds);

/*
 * Receive one message into buf (room for MEW_MESSAGE_MAX_BYTES, aligned for uint64_t). Checks the
 * header and that size is the packet's and the type's; descriptors go to ret_fds (room for
 * MEW_MESSAGE_MAX_FDS; close-on-exec, the caller's), the rest is closed. Strings inside are forced
 * to end. The type, 0 at the end of the stream, or -errno (-EPROTO: not ours; -EMFILE: the limit
 * leaves no room for its descriptors; -EAGAIN on a non-blocking socket).
 */
int mew_message_receive(int sock, void *buf, int *ret_fds, unsigned *ret_n_fds);

/* Connect to the socket at path, close-on-exec. The descriptor, or -errno. */
int mew_message_connect(const char *path);

#endif
