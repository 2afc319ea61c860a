/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "kernel/record.h"
#include "kernel/regs.h"

/* A record under construction. */
struct maker {
	_Alignas(8) uint8_t bytes[4096];
	size_t n;
};

static void put(struct maker *m, const void *bytes, size_t n)
{
	assert_true(m->n + n <= sizeof(m->bytes));
	memcpy(m->bytes + m->n, bytes, n);
	m->n += n;
}

static void put_u32(struct maker *m, uint32_t v)
{
	put(m, &v, sizeof(v));
}

static void put_u64(struct maker *m, uint64_t v)
{
	put(m, &v, sizeof(v));
}

/* A text and NULs up to the next word, as the kernel pads it. */
static void put_text(struct maker *m, const char *text)
{
	put(m, text, strlen(text) + 1);
	while (m->n % 8)
		put(m, "", 1);
}

static void begin(struct maker *m, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = {type, misc, 0};

	m->n = 0;
	put(m, &h, sizeof(h));
}

/* The first size bytes of the record in a block of exactly that size, so that a sanitizer sees any
 * read past its end. The caller's to free. */
static struct perf_event_header *cut(const struct maker *m, size_t size)
{
	struct perf_event_header *h = malloc(size);

	assert_non_null(h);
	memcpy(h, m->bytes, size);
	h->size = (uint16_t)size;
	return h;
}

static struct perf_event_header *record_end(const struct maker *m)
{
	return cut(m, m->n);
}

static const struct perf_event_attr sampling = {
	.type = PERF_TYPE_SOFTWARE,
	.sample_period = 100000,
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
		       PERF_SAMPLE_READ | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
	.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | 1u << 4,
	.sample_regs_user = MEW_REGS_MASK,
	.sample_stack_user = 64,
	.sample_id_all = 1,
};

static const struct perf_event_attr dummy = {
	.type = PERF_TYPE_SOFTWARE,
	.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	.sample_id_all = 1,
};

static void make_sample(struct maker *m, uint64_t abi, uint64_t asked, uint64_t valid)
{
	begin(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put_u64(m, 0x401000); /* ip */
	put_u32(m, 10);       /* pid */
	put_u32(m, 11);       /* tid */
	put_u64(m, 123456789);
	put_u32(m, 3); /* cpu */
	put_u32(m, 0);
	put_u64(m, 5000000); /* count, enabled, running, lost */
	put_u64(m, 5000001);
	put_u64(m, 5000002);
	put_u64(m, 7);
	put_u64(m, abi);
	for (uint64_t i = 0; abi && i < MEW_REGS_N; i++)
		put_u64(m, 0x1000 + i); /* by the kernel's order */
	put_u64(m, asked);
	for (uint64_t i = 0; i < asked; i++)
		put(m, &(uint8_t){(uint8_t)i}, 1);
	if (asked)
		put_u64(m, valid);
}

static void sample_is_decoded_with_registers_by_dwarf_number(void **state)
{
	/* Index: DWARF number. Value: place in the kernel's order. */
	static const uint64_t place[MEW_RECORD_REGS] = {
#if defined(__x86_64__) /* AX BX CX DX SI DI BP SP IP R8-R15 */
		0,
		3,
		2,
		1,
		4,
		5,
		6,
		7,
		9,
		10,
		11,
		12,
		13,
		14,
		15,
		16,
		8,
#else /* aarch64: X0-X29 LR SP PC */
		0,
		1,
		2,
		3,
		4,
		5,
		6,
		7,
		8,
		9,
		10,
		11,
		12,
		13,
		14,
		15,
		16,
		17,
		18,
		19,
		20,
		21,
		22,
		23,
		24,
		25,
		26,
		27,
		28,
		29,
		30,
		31,
		32,
#endif
	};
	struct perf_event_header *h;
	struct mew_record r;
	struct maker m;

	(void)state;
	make_sample(&m, PERF_SAMPLE_REGS_ABI_64, 64, 40);
	h = record_end(&m);
	assert_int_equal(mew_record_decode(&sampling, h, &r), 0);
	assert_int_equal(r.type, MEW_RECORD_SAMPLE);
	assert_int_equal(r.ip, 0x401000);
	assert_int_equal(r.pid, 10);
	assert_int_equal(r.tid, 11);
	assert_int_equal(r.time_ns, 123456789);
	assert_int_equal(r.cpu, 3);
	assert_int_equal(r.count, 5000000);
	assert_int_equal(r.period, 100000);
	assert_int_equal(r.user, 1);
	assert_int_equal(r.has_regs, 1);
	for (size_t i = 0; i < MEW_RECORD_REGS; i++)
		assert_int_equal(r.regs[i], 0x1000 + place[i]);
	assert_int_equal(r.stack_bytes, 40);
	assert_int_equal(r.stack_asked, 64);
	for (uint8_t i = 0; i < 40; i++)
		assert_int_equal(r.stack[i], i);
	free(h);
}

static void sample_in_the_kernel_is_not_user(void **state)
{
	struct perf_event_header *h;
	struct mew_record r;
	struct maker m;

	(void)state;
	make_sample(&m, PERF_SAMPLE_REGS_ABI_64, 64, 64);
	h = record_end(&m);
	h->misc = PERF_RECORD_MISC_KERNEL;
	assert_int_equal(mew_record_decode(&sampling, h, &r), 0);
	assert_int_equal(r.user, 0);
	free(h);
}

static void sample_without_registers_or_stack_says_so(void **state)
{
	struct perf_event_header *h;
	struct mew_record r;
	struct maker m;

	(void)state;
	make_sample(&m, PERF_SAMPLE_REGS_ABI_NONE, 0, 0);
	h = record_end(&m);
	assert_int_equal(mew_record_decode(&sampling, h, &r), 0);
	assert_int_equal(r.has_regs, 0);
	assert_null(r.stack);
	assert_int_equal(r.stack_bytes, 0);
	free(h);
}

static void sample_of_a_32_bit_task_has_no_registers_of_ours(void **state)
{
	struct perf_event_header *h;
	struct mew_record r;
	struct maker m;

	(void)state;
	make_sample(&m, PERF_SAMPLE_REGS_ABI_32, 64, 64);
	h = record_end(&m);
	assert_int_equal(mew_record_decode(&sampling, h, &r), 0);
	assert_int_equal(r.has_regs, 0);
	assert_int_equal(r.stack_bytes, 64);
	free(h);
}

static void sample_with_more_valid_stack_than_copied_is_refused(void **state)
{
	struct perf_event_header *h;
	struct mew_record r;
	struct maker m;

	(void)state;
	make_sample(&m, PERF_SAMPLE_REGS_ABI_64, 64, 65);
	h = record_end(&m);
	assert_int_equal(mew_record_decode(&sampling, h, &r), -EPROTO);
	free(h);
	make_sample(&m, PERF_SAMPLE_REGS_ABI_64, 64, 64);
	memset(m.bytes + m.n - 64 - 16, 0xff, 8); /* the size of the copy */
	h = record_end(&m);
	assert_int_equal(mew_record_decode(&sampling, h, &r), -EPROTO);
	free(h);
}

#define IN_KERNEL 0xffffffff81000000u

/* A sample at ip that says it has n frames, of which the n_frames given follow, without registers.
 */
static struct perf_event_header *make_chain(struct maker *m, uint16_t mode, uint64_t ip, uint64_t n,
					    const uint64_t *frames, size_t n_frames)
{
	begin(m, PERF_RECORD_SAMPLE, mode);
	put_u64(m, ip);
	put_u64(m, n);
	put(m, frames, n_frames * sizeof(*frames));
	put_u64(m, PERF_SAMPLE_REGS_ABI_NONE);
	return record_end(m);
}

static const struct perf_event_attr chained = {
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER,
	.sample_regs_user = MEW_REGS_MASK,
};

static void sample_has_the_kernels_frames_and_no_others(void **state)
{
	static const uint64_t frames[] = {
		1, /* whose it is nobody has said */
		(uint64_t)PERF_CONTEXT_USER,
		0x401000,
		(uint64_t)PERF_CONTEXT_KERNEL,
		IN_KERNEL + 3,
		IN_KERNEL + 2,
		IN_KERNEL + 1,
		(uint64_t)PERF_CONTEXT_USER,
		0x401000,
		(uint64_t)PERF_CONTEXT_KERNEL,
		IN_KERNEL + 4,
	};
	struct perf_event_header *h;
	struct mew_record r;
	struct maker m;

	(void)state;
	h = make_chain(&m, PERF_RECORD_MISC_KERNEL, IN_KERNEL + 3, 11, frames, 11);
	assert_int_equal(mew_record_decode(&chained, h, &r), 0);
	assert_int_equal(r.user, 0);
	assert_int_equal(r.has_regs, 0);
	assert_int_equal(r.n_kernel_pcs, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(mew_record_kernel_pc(&r, i), IN_KERNEL + 3 - i);
	free(h);
}

static void sample_in_the_kernel_has_its_pc_when_it_has_no_frames(void **state)
{
	static const uint64_t empty[] = {(uint64_t)PERF_CONTEXT_KERNEL};
	struct perf_event_header *h;
	struct mew_record r;
	struct maker m;

	(void)state;
	for (unsigned n = 0; n < 2; n++) {
		h = make_chain(&m, PERF_RECORD_MISC_KERNEL, IN_KERNEL, n, empty, n);
		assert_int_equal(mew_record_decode(&chained, h, &r), 0);
		assert_int_equal(r.n_kernel_pcs, 1);
		assert_int_equal(mew_record_kernel_pc(&r, 0), IN_KERNEL);
		free(h);
	}
	/* Of another mode there are none. */
	h = make_chain(&m, PERF_RECORD_MISC_USER, 0x401000, 0, empty, 0);
	assert_int_equal(mew_record_decode(&chained, h, &r), 0);
	assert_int_equal(r.n_kernel_pcs, 0);
	free(h);
	h = make_chain(&m, PERF_RECORD_MISC_HYPERVISOR, IN_KERNEL, 0, empty, 0);
	assert_int_equal(mew_record_decode(&chained, h, &r), 0);
	assert_int_equal(r.n_kernel_pcs, 0);
	free(h);
}

static void sample_with_more_frames_than_bytes_is_refused(void **state)
{
	static const uint64_t frames[] = {(uint64_t)PERF_CONTEXT_KERNEL, IN_KERNEL, IN_KERNEL};
	/* one too many takes the place of the registers; the rest lies outside, or wraps */
	static const uint64_t wrong[] = {
		4,         5, MEW_RECORD_KERNEL_PCS + 1, UINT64_MAX / 8 + 1, UINT64_MAX / 8 + 4,
		UINT64_MAX};
	struct perf_event_header *h;
	struct mew_record r;
	struct maker m;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		h = make_chain(&m, PERF_RECORD_MISC_KERNEL, IN_KERNEL, wrong[i], frames, 3);
		assert_int_equal(mew_record_decode(&chained, h, &r), -EPROTO);
		free(h);
	}
	for (size_t size = sizeof(*h); size < m.n; size++) { /* ends anywhere */
		h = make_chain(&m, PERF_RECORD_MISC_KERNEL, IN_KERNEL, 3, frames, 3);
		free(h);
		h = cut(&m, size);
		assert_int_equal(mew_record_decode(&chained, h, &r), -EPROTO);
		free(h);
	}
}

static void sample_period_is_the_records_where_it_has_one(void **state)
{
	const struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
					     .sample_period = 5};
	struct perf_event_header *h;
	struct mew_record r;
	struct maker m;

	(void)state;
	begin(&m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put_u64(&m, 99);
	put_u64(&m, 1234);
	h = record_end(&m);
	assert_int_equal(mew_record_decode(&attr, h, &r), 0);
	assert_int_equal(r.time_ns, 99);
	assert_int_equal(r.period, 1234);
	free(h);
}

static void sample_of_an_attr_that_is_not_ours_is_refused(void **state)
{
	struct perf_event_attr attr = sampling;
	struct perf_event_header *h;
	struct mew_record r;
	struct maker m;

	(void)state;
	make_sample(&m, PERF_SAMPLE_REGS_ABI_64, 64, 64);
	h = record_end(&m);
	attr.sample_type |= PERF_SAMPLE_RAW;
	assert_int_equal(mew_record_decode(&attr, h, &r), -EPROTO);
	attr = sampling;
	attr.read_format |= PERF_FORMAT_GROUP;
	assert_int_equal(mew_record_decode(&attr, h, &r), -EPROTO);
	attr = sampling;
	attr.sample_regs_user = 1;
	assert_int_equal(mew_record_decode(&attr, h, &r), -EPROTO);
	free(h);
}

/* The trailer of sampling: TID, TIME, CPU. */
static void put_sampling_trailer(struct maker *m)
{
	put_u32(m, 20);
	put_u32(m, 21);
	put_u64(m, 777);
	put_u32(m, 1);
	put_u32(m, 0);
}

static void put_dummy_trailer(struct maker *m)
{
	put_u32(m, 30);
	put_u32(m, 31);
	put_u64(m, 888);
}

static void make_lost(struct maker *m)
{
	begin(m, PERF_RECORD_LOST, 0);
	put_u64(m, 4); /* id */
	put_u64(m, 55);
	put_sampling_trailer(m);
}

static void lost_records_of_both_kinds_are_counted(void **state)
{
	struct perf_event_header *h;
	struct mew_record r;
	struct maker m;

	(void)state;
	make_lost(&m);
	h = record_end(&m);
	assert_int_equal(mew_record_decode(&sampling, h, &r), 0);
	assert_int_equal(r.type, MEW_RECORD_LOST);
	assert_int_equal(r.n_lost, 55);
	assert_int_equal(r.tid, 21);
	assert_int_equal(r.time_ns, 777);
	assert_int_equal(r.cpu, 1);
	free(h);

	begin(&m, PERF_RECORD_LOST_SAMPLES, 0);
	put_u64(&m, 66);
	put_sampling_trailer(&m);
	h = record_end(&m);
	assert_int_equal(mew_record_decode(&sampling, h, &r), 0);
	assert_int_equal(r.type, MEW_RECORD_LOST);
	assert_int_equal(r.n_lost, 66);
	free(h);
}

static void make_throttle(struct maker *m, uint32_t type)
{
	begin(m, type, 0);
	put_u64(m, 777);
	put_u64(m, 4);
	put_u64(m, 4);
	put_sampling_trailer(m);
}

static void throttle_is_told_from_unthrottle(void **state)
{
	struct perf_event_header *h;
	struct mew_record r;
	struct maker m;

	(void)state;
	for (int on = 0; on < 2; on++) {
		make_throttle(&m, on ? PERF_RECORD_THROTTLE : PERF_RECORD_UNTHROTTLE);
		h = record_end(&m);
		assert_int_equal(mew_record_decode(&sampling, h, &r), 0);
		assert_int_equal(r.type, MEW_RECORD_THROTTLE);
		assert_int_equal(r.on, on);
		assert_int_equal(r.time_ns, 777);
		free(h);
	}
}

static void switch_says_its_direction_and_preemption(void **state)
{
	static const struct {
		uint16_t misc;
		int out, preempted;
	} cases[] = {
		{0, 0, 0},
		{PERF_RECORD_MISC_SWITCH_OUT, 1, 0},
		{PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 1, 1},
	};
	struct perf_event_header *h;
	struct mew_record r;
	struct maker m;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (int wide = 0; wide < 2; wide++) {
			begin(&m, wide ? PERF_RECORD_SWITCH_CPU_WIDE : PERF_RECORD_SWITCH,
			      cases[i].misc);
			if (wide)
				put_u64(&m, 12345);
			put_dummy_trailer(&m);
			h = record_end(&m);
			assert_int_equal(mew_record_decode(&dummy, h, &r), 0);
			assert_int_equal(r.type, MEW_RECORD_SWITCH);
			assert_int_equal(r.out, cases[i].out);
			assert_int_equal(r.preempted, cases[i].preempted);
			assert_int_equal(r.pid, 30);
			assert_int_equal(r.tid, 31);
			assert_int_equal(r.time_ns, 888);
			free(h);
		}
	}
}

static void make_mmap2(struct maker *m, uint16_t misc, uint32_t prot, const char *path)
{
	begin(m, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | misc);
	put_u32(m, 30);
	put_u32(m, 31);
	put_u64(m, 0x7f0000001000);
	put_u64(m, 0x21000);
	put_u64(m, 0x1000);
	put_u32(m, 0x103);
	put_u32(m, 7);
	put_u64(m, 0x123456789);
	put_u64(m, 5); /* the inode's generation */
	put_u32(m, prot);
	put_u32(m, MAP_PRIVATE);
	put_text(m, path);
	put_dummy_trailer(m);
}

static void mmap2_gives_its_range_and_path(void **state)
{
	/* A path that fills its words to the last byte, one that needs padding, a strange one. */
	static const char *const paths[] = {"/lib/a.", "/usr/lib/libc.so.6", "",
					    "/x\n;\"(deleted)"};
	struct perf_event_header *h;
	struct mew_record r;
	struct maker m;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		make_mmap2(&m, 0, PROT_READ | PROT_EXEC, paths[i]);
		h = record_end(&m);
		assert_int_equal(mew_record_decode(&dummy, h, &r), 0);
		assert_int_equal(r.type, MEW_RECORD_MMAP);
		assert_int_equal(r.pid, 30);
		assert_int_equal(r.start, 0x7f0000001000);
		assert_int_equal(r.bytes, 0x21000);
		assert_int_equal(r.file_off, 0x1000);
		assert_int_equal(r.executable, 1);
		assert_int_equal(r.dev, makedev(0x103, 7));
		assert_int_equal(r.ino, 0x123456789);
		assert_string_equal(r.path, paths[i]);
		assert_int_equal(r.time_ns, 888);
		free(h);
	}
	make_mmap2(&m, 1 << 14, PROT_EXEC, "/built");
	h = record_end(&m);
	assert_int_equal(mew_record_decode(&dummy, h, &r), 0);
	assert_int_equal(r.ino, 0); /* a build-id is there instead */
	assert_int_equal(r.executable, 1);
	free(h);
	make_mmap2(&m, 0, PROT_READ, "/data");
	h = record_end(&m);
	assert_int_equal(mew_record_decode(&dummy, h, &r), 0);
	assert_int_equal(r.executable, 0);
	free(h);
}

static void make_mmap(struct maker *m, uint16_t misc)
{
	begin(m, PERF_RECORD_MMAP, misc);
	put_u32(m, 30);
	put_u32(m, 31);
	put_u64(m, 0x400000);
	put_u64(m, 0x1000);
	put_u64(m, 0);
	put_text(m, "/bin/true");
	put_dummy_trailer(m);
}

static void mmap_is_executable_unless_it_says_data(void **state)
{
	struct perf_event_header *h;
	struct mew_record r;
	struct maker m;

	(void)state;
	make_mmap(&m, 0);
	h = record_end(&m);
	assert_int_equal(mew_record_decode(&dummy, h, &r), 0);
	assert_int_equal(r.executable, 1);
	assert_string_equal(r.path, "/bin/true");
	free(h);
	make_mmap(&m, PERF_RECORD_MISC_MMAP_DATA);
	h = record_end(&m);
	assert_int_equal(mew_record_decode(&dummy, h, &r), 0);
	assert_int_equal(r.executable, 0);
	free(h);
}

static void mmap_whose_path_never_ends_is_refused(void **state)
{
	struct perf_event_header *h;
	struct mew_record r;
	struct maker m;

	(void)state;
	make_mmap(&m, 0);
	memset(m.bytes + m.n - 16 - 16, 'x', 16); /* the path; the trailer behind it has zeros */
	h = record_end(&m);
	assert_int_equal(mew_record_decode(&dummy, h, &r), -EPROTO);
	free(h);
}

static void make_task(struct maker *m, uint32_t type)
{
	begin(m, type, 0);
	put_u32(m, 40); /* pid */
	put_u32(m, 30); /* ppid */
	put_u32(m, 41); /* tid */
	put_u32(m, 31); /* ptid */
	put_u64(m, 888);
	put_dummy_trailer(m);
}

static void fork_and_exit_name_the_task_and_its_parent(void **state)
{
	struct perf_event_header *h;
	struct mew_record r;
	struct maker m;

	(void)state;
	for (int is_exit = 0; is_exit < 2; is_exit++) {
		make_task(&m, is_exit ? PERF_RECORD_EXIT : PERF_RECORD_FORK);
		h = record_end(&m);
		assert_int_equal(mew_record_decode(&dummy, h, &r), 0);
		assert_int_equal(r.type, is_exit ? MEW_RECORD_EXIT : MEW_RECORD_FORK);
		assert_int_equal(r.pid, 40);
		assert_int_equal(r.tid, 41);
		assert_int_equal(r.ppid, 30);
		assert_int_equal(r.ptid, 31);
		assert_int_equal(r.time_ns, 888);
		free(h);
	}
}

static void make_comm(struct maker *m, uint16_t misc)
{
	begin(m, PERF_RECORD_COMM, misc);
	put_u32(m, 30);
	put_u32(m, 31);
	put_text(m, "sort");
	put_dummy_trailer(m);
}

static void comm_tells_exec_from_a_new_name(void **state)
{
	struct perf_event_header *h;
	struct mew_record r;
	struct maker m;

	(void)state;
	for (int is_exec = 0; is_exec < 2; is_exec++) {
		make_comm(&m, is_exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
		h = record_end(&m);
		assert_int_equal(mew_record_decode(&dummy, h, &r), 0);
		assert_int_equal(r.type, MEW_RECORD_COMM);
		assert_int_equal(r.is_exec, is_exec);
		assert_string_equal(r.path, "sort");
		free(h);
	}
}

static void record_of_an_unknown_type_keeps_its_trailer(void **state)
{
	struct perf_event_header *h;
	struct mew_record r;
	struct maker m;

	(void)state;
	begin(&m, 200, 0);
	put_u64(&m, 1);
	put_dummy_trailer(&m);
	h = record_end(&m);
	assert_int_equal(mew_record_decode(&dummy, h, &r), 0);
	assert_int_equal(r.type, MEW_RECORD_OTHER);
	assert_int_equal(r.tid, 31);
	free(h);
}

/* Each record cut at every length is refused or stays within what is left; ret is untouched when it
 * is refused. The full record, and a longer one of a later kernel where the field is not a text, is
 * taken. */
static void expect_cuts_refused(const struct perf_event_attr *attr, const struct maker *m,
				size_t least)
{
	struct mew_record r, before;

	memset(&before, 0x5a, sizeof(before));
	for (size_t size = sizeof(struct perf_event_header); size <= m->n; size++) {
		struct perf_event_header *h = cut(m, size);
		int rc;

		memcpy(&r, &before, sizeof(r));
		rc = mew_record_decode(attr, h, &r);
		if (size < least)
			assert_int_equal(rc, -EPROTO);
		if (rc)
			assert_memory_equal(&r, &before, sizeof(r));
		if (size == m->n)
			assert_int_equal(rc, 0);
		free(h);
	}
}

static void records_cut_at_any_length_are_refused(void **state)
{
	struct maker m;

	(void)state;
	make_sample(&m, PERF_SAMPLE_REGS_ABI_64, 64, 64);
	expect_cuts_refused(&sampling, &m, m.n);
	make_lost(&m);
	expect_cuts_refused(&sampling, &m, m.n);
	make_throttle(&m, PERF_RECORD_THROTTLE);
	expect_cuts_refused(&sampling, &m, m.n);
	make_task(&m, PERF_RECORD_FORK);
	expect_cuts_refused(&dummy, &m, m.n);
	begin(&m, PERF_RECORD_SWITCH, 0);
	put_dummy_trailer(&m);
	expect_cuts_refused(&dummy, &m, m.n);
	/* A cut text may end earlier by chance: at the trailer's zeros. */
	make_mmap2(&m, 0, PROT_EXEC, "/usr/lib/libc.so.6");
	expect_cuts_refused(&dummy, &m, m.n - 24);
	make_mmap(&m, 0);
	expect_cuts_refused(&dummy, &m, m.n - 24);
	make_comm(&m, 0);
	expect_cuts_refused(&dummy, &m, m.n - 24);
}

static void record_smaller_than_its_header_is_refused(void **state)
{
	struct perf_event_header h = {PERF_RECORD_SAMPLE, 0, 0};
	struct mew_record r;

	(void)state;
	for (h.size = 0; h.size < sizeof(h); h.size++)
		assert_int_equal(mew_record_decode(&sampling, &h, &r), -EPROTO);
}

/* Whatever the bytes: what is accepted lies within the record. */
static void records_of_random_bytes_never_reach_outside(void **state)
{
	uint64_t random = 2463534242u;
	unsigned n_taken = 0;

	(void)state;
	for (unsigned round = 0; round < 200000; round++) {
		const struct perf_event_attr *attr = round & 1 ? &sampling : &dummy;
		struct perf_event_header *h;
		const char *bytes;
		struct mew_record r;
		struct maker m;
		size_t size;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		begin(&m, (uint32_t)(random % 18), (uint16_t)(random >> 16));
		size = 8 + (random >> 32) % 300;
		while (m.n < size) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			/* Small numbers are likely sizes. */
			put_u64(&m, random & 2 ? random : random % 80);
		}
		h = cut(&m, size);
		bytes = (const char *)h;
		if (!mew_record_decode(attr, h, &r)) {
			n_taken++;
			if (r.path) {
				assert_true(r.path >= bytes + 8);
				assert_true(r.path + strlen(r.path) < bytes + size);
			}
			if (r.stack) {
				assert_true((const char *)r.stack >= bytes + 8);
				assert_true((const char *)r.stack + r.stack_bytes <= bytes + size);
				assert_true(r.stack_bytes <= r.stack_asked);
			}
		}
		free(h);
	}
	assert_true(n_taken > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sample_is_decoded_with_registers_by_dwarf_number),
		cmocka_unit_test(sample_in_the_kernel_is_not_user),
		cmocka_unit_test(sample_without_registers_or_stack_says_so),
		cmocka_unit_test(sample_of_a_32_bit_task_has_no_registers_of_ours),
		cmocka_unit_test(sample_with_more_valid_stack_than_copied_is_refused),
		cmocka_unit_test(sample_has_the_kernels_frames_and_no_others),
		cmocka_unit_test(sample_in_the_kernel_has_its_pc_when_it_has_no_frames),
		cmocka_unit_test(sample_with_more_frames_than_bytes_is_refused),
		cmocka_unit_test(sample_period_is_the_records_where_it_has_one),
		cmocka_unit_test(sample_of_an_attr_that_is_not_ours_is_refused),
		cmocka_unit_test(lost_records_of_both_kinds_are_counted),
		cmocka_unit_test(throttle_is_told_from_unthrottle),
		cmocka_unit_test(switch_says_its_direction_and_preemption),
		cmocka_unit_test(mmap2_gives_its_range_and_path),
		cmocka_unit_test(mmap_is_executable_unless_it_says_data),
		cmocka_unit_test(mmap_whose_path_never_ends_is_refused),
		cmocka_unit_test(fork_and_exit_name_the_task_and_its_parent),
		cmocka_unit_test(comm_tells_exec_from_a_new_name),
		cmocka_unit_test(record_of_an_unknown_type_keeps_its_trailer),
		cmocka_unit_test(records_cut_at_any_length_are_refused),
		cmocka_unit_test(record_smaller_than_its_header_is_refused),
		cmocka_unit_test(records_of_random_bytes_never_reach_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
