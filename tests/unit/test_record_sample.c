/* SPDX-License-Identifier: Apache-2.0 */
/* Sample records; the others are in test_record.c. */
#include "config.h"

#include "record_maker.h"

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
	h = decoded(&m, &sampling, &r);
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
	h = decoded(&m, &sampling, &r);
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
	h = decoded(&m, &sampling, &r);
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
	h = decoded(&m, &attr, &r);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
