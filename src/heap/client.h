/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h: the hook's side of the socket: says hello, gets the segment and the unwind tables, asks
 * for tables that are missing. Allocates nothing but mappings; restores nothing of errno.
 */
#ifndef MEW_HEAP_CLIENT_H
#define MEW_HEAP_CLIENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "channel/message.h"
#include "channel/segment.h"
#include "heap/lock.h"
#include "unwind/table.h"

#define MEW_CLIENT_ASKED 256 /* places remembered that have no table */

/* A place that was asked for, and what was known then: the same question gets the same answer. */
struct mew_client_asked {
	uint64_t place;
	uint64_t generation;
	uint64_t object;
};

struct mew_client {
	int fd; /* -1: gone. The program may close it or reuse its number, so its file is known: */
	pid_t pid; /* of the process that has connected */
	dev_t dev;
	ino_t ino;
	struct mew_segment *segment;
	uint64_t segment_bytes;
	const struct mew_unwind_table *table;
	uint64_t table_bytes; /* of the mapping; the file may be shorter */
	int is_whole;
	uint32_t flags;              /* enum mew_heap_flags */
	struct mew_lock lock;        /* of what follows, and of the conversation */
	unsigned long long n_loaded; /* when this was shown last */
	struct mew_client_asked asked[MEW_CLIENT_ASKED];
	uint64_t buf[MEW_MESSAGE_MAX_BYTES / sizeof(uint64_t)];
};

/* Connects to the socket at path. 0: segment and tables are mapped. -EPERM: mew-perf wants nothing
 * recorded; or another -errno. */
int mew_client_connect(struct mew_client *client, const char *path);

/* Bytes of the tables that may be read now. */
static inline size_t mew_client_table_bytes(const struct mew_client *client)
{
	uint64_t bytes = __atomic_load_n(&client->table->bytes, __ATOMIC_ACQUIRE);

	return bytes < client->table_bytes ? bytes : client->table_bytes;
}

/* Asks for the table of pc, unless that was done and nothing has changed since. 1: the tables are
 * other ones now. Blocks for an answer; not from a signal handler that interrupted it. */
int mew_client_ask(struct mew_client *client, uint64_t pc);

/* The same, asked for in any case: the program may have loaded modules. */
int mew_client_refresh(struct mew_client *client, uint64_t pc);

/* A module is about to go: mew-perf is to look while it is there, if anything was loaded since it
 * did so last. */
void mew_client_show(struct mew_client *client);

#endif
