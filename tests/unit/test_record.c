/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "record_maker.h"

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
	h = decoded(&m, &sampling, &r);
	assert_int_equal(r.type, MEW_RECORD_LOST);
	assert_int_equal(r.n_lost, 55);
	assert_int_equal(r.tid, 21);
	assert_int_equal(r.time_ns, 777);
	assert_int_equal(r.cpu, 1);
	free(h);

	begin(&m, PERF_RECORD_LOST_SAMPLES, 0);
	put_u64(&m, 66);
	put_sampling_trailer(&m);
	h = decoded(&m, &sampling, &r);
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
	h = decoded(&m, &dummy, &r);
	assert_int_equal(r.ino, 0); /* a build-id is there instead */
	assert_int_equal(r.executable, 1);
	free(h);
	make_mmap2(&m, 0, PROT_READ, "/data");
	h = decoded(&m, &dummy, &r);
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
	h = decoded(&m, &dummy, &r);
	assert_int_equal(r.executable, 1);
	assert_string_equal(r.path, "/bin/true");
	free(h);
	make_mmap(&m, PERF_RECORD_MISC_MMAP_DATA);
	h = decoded(&m, &dummy, &r);
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
	h = decoded(&m, &dummy, &r);
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
	unsigned n_taken = 0, n_chains = 0;

	(void)state;
	for (unsigned round = 0; round < 200000; round++) {
		const struct perf_event_attr *attrs[] = {&sampling, &dummy, &chained};
		const struct perf_event_attr *attr = attrs[round % 3];
		struct perf_event_header *h;
		const char *bytes;
		struct mew_record r;
		struct maker m;
		size_t size;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		begin(&m, random % 3 ? (uint32_t)(random % 18) : PERF_RECORD_SAMPLE,
		      (uint16_t)(random >> 16));
		size = 8 + (random >> 32) % 600;
		while (m.n < size) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			/* Small numbers are likely sizes. */
			put_u64(&m, random & 2    ? random
				    : random & 12 ? random % 80
						  : (uint64_t)PERF_CONTEXT_KERNEL);
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
			if (r.kernel_pcs) {
				const char *pcs = (const char *)r.kernel_pcs;

				n_chains++;
				assert_true(pcs >= bytes + 8);
				assert_true(pcs + 8 * (size_t)r.n_kernel_pcs <= bytes + size);
			}
		}
		free(h);
	}
	assert_true(n_taken > 1000 && n_chains > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
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
