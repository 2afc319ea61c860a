/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channel/entry.h"
#include "channel/message.h"
#include "session/collect.h"
#include "session/hook.h"
#include "session/smaps.h"
#include "symbol/demangle.h"

/* Of address space in both processes; the file is sparse. 16 bytes a rule: 16 million rules. */
#define TABLE_BYTES (256u << 20)

/* What malloc may take beside what it is asked for: of a block, of an aligned one (its page, and
 * those of what is before and behind it), to begin with, and of a thread, by huge pages. */
#define BLOCK_BYTES 64
#define ALIGNED_BYTES (3u * 4096)
#define SPARE_BYTES (4u << 20)
#define THREAD_BYTES (2u << 20)

/* While its process waits for the answer. */
static void read_process(struct mew_hook *h)
{
	char path[32];
	int fd;

	/* Of this image for ever: of the next one it tells nothing. */
	snprintf(path, sizeof path, "/proc/%d/smaps", (int)h->pid);
	h->smaps_fd = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof path, "/proc/%d/exe", (int)h->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	h->is_known = !mew_executable_read(fd, &h->executable);
	close(fd);
}

int mew_hook_open(struct mew_hook *h, int sock, pid_t pid, int maps_fd, int whole, uint32_t flags,
		  struct mew_error *error)
{
	size_t segment_bytes =
		sizeof(struct mew_segment) + MEW_SEGMENT_NODES * sizeof(struct mew_segment_node);
	struct mew_msg_heap m = {.header = {MEW_MSG_HEAP, sizeof m}};
	struct mew_segment *s;
	int err;

	memset(h, 0, sizeof *h);
	h->pid = pid;
	h->sock = sock;
	h->maps_fd = maps_fd;
	h->smaps_fd = -1;
	if (maps_fd < 0)
		return mew_error_set(error, -EPROTO, "the heap hook sent no map of its memory");
	err = mew_memory_open(&h->segment, "mew-segment", segment_bytes, 0, error);
	if (!err)
		err = mew_memory_open(&h->table, "mew-tables", TABLE_BYTES, 1, error);
	if (err)
		return err;
	read_process(h);
	h->modules = mew_modules_new(h->table.at, h->table.bytes, error);
	if (!h->modules)
		return -ENOMEM;
	s = h->segment.at;
	s->magic = MEW_SEGMENT_MAGIC;
	s->cap_nodes = MEW_SEGMENT_NODES;
	s->n_nodes = 2;
	m.whole = (uint32_t)whole;
	m.flags = flags;
	m.segment_bytes = segment_bytes;
	m.table_bytes = TABLE_BYTES;
	if (whole)
		mew_hook_weigh_first(h);
	err = mew_message_send(sock, &m, (int[]){h->segment.fd, h->table.read_fd}, 2);
	return err ? mew_error_errno(error, err, "cannot answer the heap hook") : 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_fds(struct mew_hook *h)
{
	close_fd(&h->sock);
	close_fd(&h->maps_fd);
	close_fd(&h->smaps_fd);
}

void mew_hook_close(struct mew_hook *h)
{
	close_fds(h);
	mew_symbols_free(h->symbols);
	mew_modules_free(h->modules);
	mew_memory_done(&h->segment);
	mew_memory_done(&h->table);
	free(h->warning);
	memset(h, 0, sizeof *h);
	h->sock = h->maps_fd = h->smaps_fd = -1;
}

void mew_hook_look(struct mew_hook *h)
{
	struct mew_error error = {0};
	int err = h->maps_fd < 0 ? 0 : mew_modules_read_maps(h->modules, h->maps_fd, &error);

	/* It may have ended by now. */
	if (err && err != -ESRCH && !h->warning)
		h->warning = strdup(error.text);
}

void mew_hook_weigh_first(struct mew_hook *h)
{
	struct mew_smaps now = {0};

	if (h->smaps_fd >= 0 && mew_smaps_read(h->smaps_fd, &now))
		close_fd(&h->smaps_fd);
	h->base_bytes = now.given_bytes;
}

void mew_hook_weigh(struct mew_hook *h)
{
	struct mew_smaps now;

	if (h->smaps_fd >= 0 && !mew_smaps_read(h->smaps_fd, &now) &&
	    now.touched_bytes > h->most_bytes)
		h->most_bytes = now.touched_bytes;
}

static uint32_t count_nodes(const struct mew_segment *s)
{
	uint32_t n = __atomic_load_n(&s->n_nodes, __ATOMIC_ACQUIRE);

	return n < MEW_SEGMENT_NODES ? n : MEW_SEGMENT_NODES;
}

static uint64_t n_aligned(const struct mew_segment *s)
{
	uint32_t n_nodes = count_nodes(s);
	uint64_t n = 0;

	for (uint32_t i = 0; i < n_nodes; i++)
		if (mew_entry_is_aligned(s->nodes[i].entry))
			n += s->nodes[i].allocations;
	return n;
}

uint64_t mew_hook_unseen(const struct mew_hook *h)
{
	const struct mew_segment *s = h->segment.at;
	struct mew_segment_sum sum = mew_segment_sum(s);
	uint64_t known = h->base_bytes + mew_segment_own_bytes(s) + sum.bytes + sum.bytes / 4 +
			 sum.allocations * BLOCK_BYTES + n_aligned(s) * ALIGNED_BYTES +
			 SPARE_BYTES + s->n_threads * THREAD_BYTES;

	/* What malloc has given may have been touched already when it is counted: a realloc copies.
	 * So it is held against all that was counted up to the end. */
	return h->most_bytes > known + sum.bytes ? h->most_bytes - known : 0;
}

void mew_hook_ready(struct mew_hook *h)
{
	union {
		uint64_t align;
		struct mew_msg_tables tables;
		char bytes[MEW_MESSAGE_MAX_BYTES];
	} m;
	int fds[MEW_MESSAGE_MAX_FDS], type;
	unsigned n_fds = 0;

	type = mew_message_receive(h->sock, &m, fds, &n_fds);
	if (type == -EAGAIN || type == -EINTR)
		return;
	for (unsigned i = 0; i < n_fds; i++)
		close(fds[i]);
	if (type != MEW_MSG_TABLES) {
		close_fds(h);
		return;
	}
	mew_hook_look(h);
	if (!m.tables.pc)
		mew_hook_weigh(h);
	m.tables.generation = mew_modules_table(h->modules)->generation;
	if (mew_message_send(h->sock, &m.tables, NULL, 0))
		close_fds(h);
}

const struct mew_segment *mew_hook_segment(const struct mew_hook *h)
{
	return h->segment.at;
}

static struct mew_symbols *symbols_of(void *arg, uint32_t group, uint64_t *ret_time_ns)
{
	const struct mew_hook *h = arg;

	*ret_time_ns = mew_modules_epoch_end(h->modules, group);
	return h->symbols;
}

/* The epoch whose stacks hang from the node. */
static uint32_t epoch_at(const struct mew_segment_node *n)
{
	return n->flags & MEW_NODE_EPOCH ? (uint32_t)n->pc : 0;
}

/* Under which root the stack is shown that ends at the node. */
static enum mew_collect_mark mark_of(const struct mew_segment_node *n)
{
	if (n->flags & MEW_NODE_BROKEN)
		return MEW_COLLECT_BROKEN;
	return n->flags & MEW_NODE_COROUTINE ? MEW_COLLECT_COROUTINE : MEW_COLLECT_WHOLE;
}

/* The pcs from node up to the root as a stack of the collection, outermost first. known: those of
 * the nodes that have had their turn, of stacks with the same mark. */
static uint32_t collect_chain(struct mew_collect *c, const struct mew_segment *s, uint32_t node,
			      enum mew_collect_mark mark, uint32_t *known)
{
	uint32_t chain[MEW_WALK_FRAMES + 1], at = 0, epoch = 0;
	size_t n = 0;

	/* a child comes after its parent: anything else is damage, and might go round */
	for (uint32_t i = node, parent; i > 1 && !(at = known[i]); i = parent) {
		/* once: a process that is left over may still write */
		parent = __atomic_load_n(&s->nodes[i].parent, __ATOMIC_RELAXED);
		if (n == MEW_WALK_FRAMES + 1 || parent >= i)
			return UINT32_MAX - 1;
		epoch = epoch_at(&s->nodes[i]);
		if (!epoch)
			chain[n++] = i;
	}
	if (at)
		epoch = c->nodes[at].group;
	while (n-- > 0 && at != UINT32_MAX) {
		at = mew_collect_child(c, at, epoch, s->nodes[chain[n]].pc, 0,
				       at ? MEW_COLLECT_WHOLE : mark);
		known[chain[n]] = at;
	}
	return at;
}

static int has_figures(const struct mew_segment *s, const struct mew_segment_node *n)
{
	return n->allocations || n->frees || n->live_bytes || mew_segment_at_peak(s, n);
}

/* The entry point as people write it: operator new(unsigned long). */
static uint32_t entry_function(struct mew_session *session, const char *name)
{
	struct mew_buffer text = MEW_BUFFER_INIT;
	uint32_t function;

	function = mew_session_function(session, mew_demangle(name, &text) ? name : text.data, "",
					0, "");
	mew_buffer_done(&text);
	return function;
}

/* The stack of functions for one node, with the entry point on top. */
static int take_node(const struct mew_segment *s, uint32_t i, struct mew_session *session,
		     uint32_t stack, struct mew_pcase *c, unsigned with)
{
	const struct mew_segment_node *n = &s->nodes[i];
	const char *entry = i == 1 ? "[lost stack]" : mew_entry_name(n->entry);
	uint32_t function = entry_function(session, entry);
	struct mew_pvalue *v;

	if (function == UINT32_MAX)
		return -ENOMEM;
	stack = mew_session_stack(session, stack, function, 0, 0);
	v = stack == UINT32_MAX
		    ? NULL
		    : mew_case_value(session, c, stack, i != 1 && !(n->flags & MEW_NODE_BROKEN));
	if (!v)
		return -ENOMEM;
	v->allocations += n->allocations;
	v->bytes += n->bytes;
	v->frees += n->frees;
	v->temporary += n->temporary;
	if (with & MEW_HOOK_PEAK)
		v->peak_bytes += mew_segment_at_peak(s, n);
	if (with & MEW_HOOK_HELD)
		v->held_bytes += n->live_bytes;
	return 0;
}

/* The stack of node i, whose indices were checked, as so many walks as it has allocations. */
static int add_breaks(const struct mew_hook *h, uint32_t i, struct mew_breaks *breaks)
{
	const struct mew_segment *s = h->segment.at;
	const struct mew_segment_node *n = &s->nodes[i];
	unsigned why = n->flags >> MEW_NODE_WHY;
	uint32_t outer = i, epoch = 0, parent;

	breaks->n_stacks += n->allocations;
	if (n->flags & MEW_NODE_COROUTINE)
		breaks->n_coroutines += n->allocations;
	if (n->flags & MEW_NODE_BY_FP)
		breaks->n_stacks_by_fp += n->allocations;
	if (!(n->flags & MEW_NODE_BROKEN) || !n->allocations)
		return 0;
	while ((parent = __atomic_load_n(&s->nodes[outer].parent, __ATOMIC_RELAXED)) > 1 &&
	       parent < outer && !(epoch = epoch_at(&s->nodes[parent])))
		outer = parent;
	return mew_breaks_at(breaks, h->modules, s->nodes[outer].pc - 1,
			     mew_modules_epoch_end(h->modules, epoch),
			     why < MEW_WALK_ENDS ? (enum mew_walk_end)why : MEW_WALK_BAD,
			     n->allocations);
}

int mew_hook_values(struct mew_hook *h, struct mew_session *session, struct mew_pcase *c,
		    unsigned with, struct mew_breaks *breaks, struct mew_error *error)
{
	const struct mew_segment *s = h->segment.at;
	uint32_t n = count_nodes(s), *node_of = NULL, *known[MEW_COLLECT_MARKS] = {NULL},
		 *map = NULL;
	struct mew_collect collect;
	int err;

	err = mew_collect_init(&collect);
	node_of = calloc(n, sizeof *node_of);
	for (int i = 0; i < MEW_COLLECT_MARKS; i++) {
		known[i] = calloc(n, sizeof *known[i]);
		err = err || !known[i];
	}
	if (!err && !h->symbols)
		h->symbols = mew_symbols_new(h->modules, error);
	if (err || !node_of || !h->symbols) {
		err = -ENOMEM;
		goto out;
	}
	mew_symbols_set_process(h->symbols, h->pid, session->started_unix_ns);
	for (uint32_t i = 0; i < n; i++) {
		enum mew_collect_mark mark = mark_of(&s->nodes[i]);

		if (!has_figures(s, &s->nodes[i]))
			continue;
		node_of[i] = collect_chain(&collect, s, i, mark, known[mark]);
		if (node_of[i] >= UINT32_MAX - 1) {
			err = node_of[i] == UINT32_MAX ? -ENOMEM : -EPROTO;
			goto out;
		}
	}
	map = calloc(collect.n_nodes, sizeof *map);
	if (!map)
		err = -ENOMEM;
	for (uint32_t i = 0; i < n && !err; i++) {
		uint32_t stack;

		if (!has_figures(s, &s->nodes[i]))
			continue;
		stack = mew_collect_convert(&collect, session, node_of[i], map, symbols_of, h);
		err = stack == UINT32_MAX ? -ENOMEM : take_node(s, i, session, stack, c, with);
		if (!err)
			err = add_breaks(h, i, breaks);
	}
out:
	if (err)
		mew_error_set(error, err,
			      err == -ENOMEM ? "out of memory"
					     : "the heap hook's memory is damaged");
	free(node_of);
	for (int i = 0; i < MEW_COLLECT_MARKS; i++)
		free(known[i]);
	free(map);
	mew_collect_done(&collect);
	return err;
}
