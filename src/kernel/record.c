/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "kernel/record.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "kernel/regs.h"

/* perf_event.h of Linux 6.1 and later; an older header does not know it. */
#define FORMAT_LOST (1u << 4)
/* Linux 5.12 and later: these bytes are a build-id. */
#define MISC_MMAP_BUILD_ID (1u << 14)

/* What a sample of ours may hold, in the order in which the kernel writes it. */
#define SAMPLE_KNOWN                                                                               \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |             \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |   \
	 PERF_SAMPLE_STACK_USER)

#define REST_BYTES 512u /* of a sample without stack and call chain, and more */
#define CHAIN_BYTES ((1u + 127 + 8) * 8)

/* The part of a record that is not read yet. The first read past its end sticks. */
struct body {
	const uint8_t *at, *end;
	int bad;
};

static uint64_t get_u64(struct body *b)
{
	uint64_t v = 0;

	if ((size_t)(b->end - b->at) < sizeof(v)) {
		b->bad = 1;
		return 0;
	}
	memcpy(&v, b->at, sizeof(v));
	b->at += sizeof(v);
	return v;
}

static uint32_t get_u32(struct body *b)
{
	uint32_t v = 0;

	if ((size_t)(b->end - b->at) < sizeof(v)) {
		b->bad = 1;
		return 0;
	}
	memcpy(&v, b->at, sizeof(v));
	b->at += sizeof(v);
	return v;
}

static const uint8_t *get_bytes(struct body *b, uint64_t n)
{
	const uint8_t *p = b->at;

	if ((uint64_t)(b->end - b->at) < n) {
		b->bad = 1;
		return NULL;
	}
	b->at += n;
	return p;
}

/* A text that fills the rest of the body, ended and then padded with NUL. */
static const char *get_text(struct body *b)
{
	const uint8_t *p = b->at;

	if (b->bad || !memchr(p, '\0', (size_t)(b->end - p))) {
		b->bad = 1;
		return NULL;
	}
	b->at = b->end;
	return (const char *)p;
}

/* Cuts the sample_id trailer from the end of the body and reads it. */
static void get_trailer(const struct perf_event_attr *attr, struct body *b, struct mew_record *r)
{
	const uint64_t each = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			      PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	size_t bytes = 8 * (size_t)__builtin_popcountll(attr->sample_type & each);
	struct body t = {NULL, b->end, 0};

	if (!attr->sample_id_all)
		return;
	if ((size_t)(b->end - b->at) < bytes) {
		b->bad = 1;
		return;
	}
	t.at = b->end -= bytes;
	if (attr->sample_type & PERF_SAMPLE_TID) {
		r->pid = get_u32(&t);
		r->tid = get_u32(&t);
	}
	if (attr->sample_type & PERF_SAMPLE_TIME)
		r->time_ns = get_u64(&t);
	if (attr->sample_type & PERF_SAMPLE_ID)
		get_u64(&t);
	if (attr->sample_type & PERF_SAMPLE_STREAM_ID)
		get_u64(&t);
	if (attr->sample_type & PERF_SAMPLE_CPU)
		r->cpu = get_u32(&t);
}

static void get_count(const struct perf_event_attr *attr, struct body *b, struct mew_record *r)
{
	if (attr->read_format & PERF_FORMAT_GROUP) {
		b->bad = 1;
		return;
	}
	r->count = get_u64(b);
	if (attr->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		get_u64(b);
	if (attr->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		get_u64(b);
	if (attr->read_format & PERF_FORMAT_ID)
		get_u64(b);
	if (attr->read_format & FORMAT_LOST)
		get_u64(b);
}

/*
 * Pcs, innermost first, and numbers that no pc can be: whose the pcs after it are. What is not the
 * kernel's is left out: registers and stack tell more of it. Of a sample that was taken in the
 * kernel its pc, at ip, is known in any case.
 */
static void get_callchain(struct body *b, const uint8_t *ip, int in_kernel, struct mew_record *r)
{
	uint64_t n = get_u64(b), pc;
	const uint8_t *p = n <= MEW_RECORD_KERNEL_PCS ? get_bytes(b, n * sizeof(pc)) : NULL;
	int kernels = 0;

	if (!p) {
		b->bad = 1;
		return;
	}
	for (; n > 0; n--, p += sizeof(pc)) {
		memcpy(&pc, p, sizeof(pc));
		if (pc >= (uint64_t)PERF_CONTEXT_MAX) {
			kernels = pc == (uint64_t)PERF_CONTEXT_KERNEL && !r->n_kernel_pcs;
		} else if (kernels) {
			r->kernel_pcs = r->n_kernel_pcs++ ? r->kernel_pcs : p;
		}
	}
	if (!r->n_kernel_pcs && in_kernel && ip) {
		r->kernel_pcs = ip;
		r->n_kernel_pcs = 1;
	}
}

static void get_regs(const struct perf_event_attr *attr, struct body *b, struct mew_record *r)
{
	uint64_t abi = get_u64(b);

	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	if (attr->sample_regs_user != MEW_REGS_MASK) {
		b->bad = 1;
		return;
	}
	for (unsigned i = 0; i < MEW_REGS_N; i++)
		r->regs[mew_regs_dwarf[i]] = get_u64(b);
	/* Registers of a 32-bit task mean something else. */
	r->has_regs = abi == PERF_SAMPLE_REGS_ABI_64;
}

static void get_stack(struct body *b, struct mew_record *r)
{
	uint64_t asked = get_u64(b), valid;
	const uint8_t *p;

	if (!asked)
		return;
	p = get_bytes(b, asked);
	valid = get_u64(b);
	if (b->bad || valid > asked) {
		b->bad = 1;
		return;
	}
	r->stack = p;
	r->stack_bytes = (uint32_t)valid;
	/* What the record has room for: the kernel asks for less than the attr when the record
	 * would pass 64 KiB or the stack's address its end. */
	r->stack_asked = (uint32_t)asked;
}

static void get_sample(const struct perf_event_attr *attr, unsigned cpumode, struct body *b,
		       struct mew_record *r)
{
	uint64_t type = attr->sample_type;
	const uint8_t *ip = NULL;

	if (type & ~(uint64_t)SAMPLE_KNOWN) {
		b->bad = 1;
		return;
	}
	r->user = cpumode == PERF_RECORD_MISC_USER;
	r->period = attr->sample_period;
	if (type & PERF_SAMPLE_IDENTIFIER)
		get_u64(b);
	if (type & PERF_SAMPLE_IP) {
		ip = b->at;
		r->ip = get_u64(b);
	}
	if (type & PERF_SAMPLE_TID) {
		r->pid = get_u32(b);
		r->tid = get_u32(b);
	}
	if (type & PERF_SAMPLE_TIME)
		r->time_ns = get_u64(b);
	if (type & PERF_SAMPLE_ADDR)
		get_u64(b);
	if (type & PERF_SAMPLE_ID)
		get_u64(b);
	if (type & PERF_SAMPLE_STREAM_ID)
		get_u64(b);
	if (type & PERF_SAMPLE_CPU) {
		r->cpu = get_u32(b);
		get_u32(b);
	}
	if (type & PERF_SAMPLE_PERIOD)
		r->period = get_u64(b);
	if (type & PERF_SAMPLE_READ)
		get_count(attr, b, r);
	if (type & PERF_SAMPLE_CALLCHAIN)
		get_callchain(b, ip, cpumode == PERF_RECORD_MISC_KERNEL, r);
	if (type & PERF_SAMPLE_REGS_USER)
		get_regs(attr, b, r);
	if (type & PERF_SAMPLE_STACK_USER)
		get_stack(b, r);
}

/* FORK and EXIT are alike. */
static void get_task(struct body *b, struct mew_record *r)
{
	r->pid = get_u32(b);
	r->ppid = get_u32(b);
	r->tid = get_u32(b);
	r->ptid = get_u32(b);
	r->time_ns = get_u64(b);
}

static void get_inode(const struct perf_event_header *h, struct body *b, struct mew_record *r)
{
	uint32_t major = get_u32(b), minor = get_u32(b);
	uint64_t ino = get_u64(b);

	get_u64(b); /* the inode's generation */
	if (h->misc & MISC_MMAP_BUILD_ID)
		return;
	r->dev = makedev(major, minor);
	r->ino = ino;
}

static void get_mmap(const struct perf_event_header *h, struct body *b, struct mew_record *r)
{
	r->pid = get_u32(b);
	r->tid = get_u32(b);
	r->start = get_u64(b);
	r->bytes = get_u64(b);
	r->file_off = get_u64(b);
	if (h->type == PERF_RECORD_MMAP2) {
		get_inode(h, b, r);
		r->executable = (get_u32(b) & PROT_EXEC) != 0;
		get_u32(b);
	} else {
		r->executable = !(h->misc & PERF_RECORD_MISC_MMAP_DATA);
	}
	r->path = get_text(b);
}

static void get_body(const struct perf_event_header *h, struct body *b, struct mew_record *r)
{
	switch (h->type) {
	case PERF_RECORD_LOST:
		r->type = MEW_RECORD_LOST;
		get_u64(b); /* id */
		r->n_lost = get_u64(b);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		r->type = MEW_RECORD_LOST;
		r->n_lost = get_u64(b);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		r->type = MEW_RECORD_THROTTLE;
		r->time_ns = get_u64(b);
		get_u64(b); /* id */
		get_u64(b); /* stream id */
		r->on = h->type == PERF_RECORD_THROTTLE;
		break;
	case PERF_RECORD_SWITCH_CPU_WIDE:
		get_u64(b); /* the other task */
			    /* fall through */
	case PERF_RECORD_SWITCH:
		r->type = MEW_RECORD_SWITCH;
		r->out = (h->misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
		r->preempted = r->out && (h->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		r->type = MEW_RECORD_MMAP;
		get_mmap(h, b, r);
		break;
	case PERF_RECORD_FORK:
		r->type = MEW_RECORD_FORK;
		get_task(b, r);
		break;
	case PERF_RECORD_EXIT:
		r->type = MEW_RECORD_EXIT;
		get_task(b, r);
		break;
	case PERF_RECORD_COMM:
		r->type = MEW_RECORD_COMM;
		r->pid = get_u32(b);
		r->tid = get_u32(b);
		r->is_exec = (h->misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
		r->path = get_text(b);
		break;
	default:
		r->type = MEW_RECORD_OTHER;
	}
}

uint32_t mew_record_rest_bytes(const struct perf_event_attr *attr)
{
	return REST_BYTES + (attr->sample_type & PERF_SAMPLE_CALLCHAIN ? CHAIN_BYTES : 0);
}

uint64_t mew_record_kernel_pc(const struct mew_record *r, uint32_t i)
{
	uint64_t pc;

	memcpy(&pc, r->kernel_pcs + i * sizeof(pc), sizeof(pc));
	return pc;
}

int mew_record_decode(const struct perf_event_attr *attr, const struct perf_event_header *header,
		      struct mew_record *ret)
{
	struct mew_record r = {.type = MEW_RECORD_OTHER};
	const uint8_t *start = (const uint8_t *)header;
	struct body b;

	if (header->size < sizeof(*header))
		return -EPROTO;
	b = (struct body){start + sizeof(*header), start + header->size, 0};
	if (header->type == PERF_RECORD_SAMPLE) {
		r.type = MEW_RECORD_SAMPLE;
		get_sample(attr, header->misc & PERF_RECORD_MISC_CPUMODE_MASK, &b, &r);
	} else {
		get_trailer(attr, &b, &r);
		get_body(header, &b, &r);
	}
	if (b.bad)
		return -EPROTO;
	*ret = r;
	return 0;
}
