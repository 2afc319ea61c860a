/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h: where a pc of a process lies, as what is left of it when the process is gone: a file and
 * an address in it. So the stacks of many short processes are those of few files. What lies in no
 * file that can be read stays a pc of its process.
 */
#ifndef MEW_SESSION_PLACE_H
#define MEW_SESSION_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "symbol/symbol.h"
#include "unwind/modules.h"

#define MEW_PLACES_CACHE_BITS 11

struct mew_place {
	struct mew_module module;    /* a copy; its path is owned */
	const char *name;            /* NULL: it is the module; else static, there is no file */
	uint32_t pid;                /* whose pcs; 0: they are addresses in the file */
	struct mew_symbols *symbols; /* owned; made on demand */
};

/* Zeroed to start. */
struct mew_places {
	struct mew_place **places; /* owned; they do not move */
	size_t n, cap;
	int64_t since_unix_ns; /* no process of them is older */
	struct mew_place_known {
		uint64_t pc, version, bias;
		uint32_t place;
	} cache[1u << MEW_PLACES_CACHE_BITS];
};

void mew_places_done(struct mew_places *l);

/* What a process had mapped. */
struct mew_place_of {
	const struct mew_modules *modules;
	uint32_t pid;
	uint64_t version; /* no other modules have it, nor these when they have changed; 0: do not
			     remember */
};

/* Index of the place of pc, at time_ns, and its address there; is_return: where pc - 1 lies.
 * UINT32_MAX without memory. */
uint32_t mew_places_find(struct mew_places *l, const struct mew_place_of *of, uint64_t pc,
			 int is_return, uint64_t time_ns, uint64_t *ret_at);

/* For mew_collect_values: arg is the list, the group the index. */
struct mew_symbols *mew_places_symbols(void *arg, uint32_t group, uint64_t *ret_time_ns);

#endif
