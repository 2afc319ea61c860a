/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/pmu.h"
#include "kernel/spec.h"

/* The sysfs of an imagined machine: paths and texts in turn. */
static const char *const big_machine[] = {
	"cpu/type",
	"4",
	"cpu/format/event",
	"config:0-7",
	"cpu/format/umask",
	"config:8-15",
	"cpu/format/inv",
	"config:23",
	"cpu/format/split",
	"config1:0-3,32-35",
	"cpu/format/whole",
	"config2:0-63",
	"cpu/format/odd",
	"config9:0-3",
	"cpu/format/broken",
	"config:7-",
	"cpu/events/cache-misses",
	"event=0x2e,umask=0x41",
	"cpu/events/loop",
	"loop",
	"armv8_pmuv3_0/type",
	"8",
	"armv8_pmuv3_0/format/event",
	"config:0-15",
	NULL,
};

static const char *const hybrid_machine[] = {
	"cpu_core/type", "4", "cpu_atom/type", "10", NULL,
};

static int fake_read(void *arg, const char *path, char *buf, size_t cap)
{
	for (const char *const *at = arg; *at; at += 2) {
		if (!strcmp(at[0], path)) {
			assert_true(strlen(at[1]) < cap);
			strcpy(buf, at[1]);
			return (int)strlen(at[1]);
		}
	}
	return -ENOENT;
}

static void *machine(const char *const *m)
{
	return (void *)(uintptr_t)m;
}

static struct mew_spec parse(const char *name)
{
	struct mew_error error = {0};
	struct mew_spec spec;
	int rc = mew_spec_parse(name, fake_read, machine(big_machine), &spec, &error);

	if (rc)
		fail_msg("'%s': %s", name, error.text);
	return spec;
}

static void refuse(const char *name, int code, const char *text)
{
	struct mew_error error = {0};
	struct mew_spec spec;

	assert_int_equal(mew_spec_parse(name, fake_read, machine(big_machine), &spec, &error),
			 code);
	assert_int_equal(error.code, code);
	if (!strstr(error.text, text))
		fail_msg("'%s' does not say '%s': %s", name, text, error.text);
}

static void spec_of_a_plain_name_is_user_alone_and_says_so(void **state)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config;
		const char *shown;
	} cases[] = {
		{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cycles:u"},
		{"cpu-cycles:u", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cpu-cycles:u"},
		{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "instructions:u"},
		{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, "cache-misses:u"},
		{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branches:u"},
		{"branch-misses:pp", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES,
		 "branch-misses:upp"},
		{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "cpu-clock:u"},
		{"task-clock:u", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "task-clock:u"},
		{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "faults:u"},
		{"r1a8", PERF_TYPE_RAW, 0x1a8, "r1a8:u"},
		{"rFFFFffffFFFFffff:u", PERF_TYPE_RAW, UINT64_MAX, "rFFFFffffFFFFffff:u"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct mew_spec spec = parse(cases[i].name);

		assert_int_equal(spec.what.type, cases[i].type);
		assert_int_equal(spec.what.config, cases[i].config);
		assert_string_equal(spec.shown, cases[i].shown);
		assert_int_equal(spec.what.exclude_user, 0);
		assert_int_equal(spec.what.exclude_kernel, 1);
		assert_int_equal(spec.what.exclude_hv, 1);
	}
}

static void spec_of_a_cache_event_holds_cache_operation_and_result(void **state)
{
	static const struct {
		const char *name;
		uint64_t config;
	} cases[] = {
		{"L1-dcache-loads", 0x000000},
		{"L1-dcache-load-misses", 0x010000},
		{"L1-dcache-stores", 0x000100},
		{"L1-dcache-store-misses", 0x010100},
		{"L1-dcache-prefetches", 0x000200},
		{"L1-icache-load-misses", 0x010001},
		{"LLC-loads", 0x000002},
		{"LLC-load-misses", 0x010002},
		{"LLC-prefetch-misses", 0x010202},
		{"dTLB-load-misses", 0x010003},
		{"iTLB-loads", 0x000004},
		{"branch-load-misses", 0x010005},
		{"branch-loads", 0x000005},
		{"node-stores", 0x000106},
		{"L1-dcache", 0x000000},
		{"dTLB-misses", 0x010003},
		{"l1d-read-miss", 0x010000},
		{"LLC-speculative-read", 0x000202},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct mew_spec spec = parse(cases[i].name);

		assert_int_equal(spec.what.type, PERF_TYPE_HW_CACHE);
		assert_int_equal(spec.what.config, cases[i].config);
	}
	refuse("L1-dcache-", -ENOENT, "no event is called 'L1-dcache-'");
	refuse("L1-dcache-loads-", -ENOENT, "no event is called");
	refuse("L1-dcacheloads", -ENOENT, "no event is called");
	refuse("L1-dcache-loads-loads", -ENOENT, "no event is called");
	refuse("L1-dcache-misses-loads", -ENOENT, "no event is called");
}

static void spec_modifiers_choose_the_sides(void **state)
{
	static const struct {
		const char *name;
		unsigned user, kernel, hv, precise; /* counted */
		const char *shown;
	} cases[] = {
		{"cycles:k", 0, 1, 0, 0, "cycles:k"},     {"cycles:uk", 1, 1, 0, 0, "cycles:uk"},
		{"cycles:ukh", 1, 1, 1, 0, "cycles:ukh"}, {"cycles:h", 0, 0, 1, 0, "cycles:h"},
		{"cycles:", 1, 0, 0, 0, "cycles:u"},      {"cycles:ppp", 1, 0, 0, 3, "cycles:uppp"},
		{"cycles:kp", 0, 1, 0, 1, "cycles:kp"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct mew_spec spec = parse(cases[i].name);

		assert_int_equal(!spec.what.exclude_user, cases[i].user);
		assert_int_equal(!spec.what.exclude_kernel, cases[i].kernel);
		assert_int_equal(!spec.what.exclude_hv, cases[i].hv);
		assert_int_equal(spec.what.precise_ip, cases[i].precise);
		assert_string_equal(spec.shown, cases[i].shown);
	}
	assert_int_equal(parse("cycles:G").what.exclude_host, 1);
	assert_int_equal(parse("cycles:H").what.exclude_guest, 1);
	assert_int_equal(parse("cycles:GH").what.exclude_guest, 0);
	assert_int_equal(parse("cycles:D").what.pinned, 1);
	assert_int_equal(parse("cycles:e").what.exclusive, 1);
	assert_int_equal(parse("cycles:I").what.exclude_idle, 1);
	assert_int_equal(parse("cycles:P").precise_max, 1);
	refuse("cycles:x", -EINVAL, "event modifier 'x'");
	refuse("cycles:pppp", -EINVAL, "event modifier 'p'");
	refuse("cycles:u:u", -EINVAL, "event modifier ':'");
}

static void spec_of_a_kernel_event_takes_the_kernels_side(void **state)
{
	static const char *const names[] = {"context-switches", "cs", "cpu-migrations",
					    "cgroup-switches"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct mew_spec spec = parse(names[i]);

		assert_int_equal(spec.what.exclude_kernel, 0);
		assert_int_equal(spec.what.exclude_user, 0);
		assert_string_equal(spec.shown, names[i]);
	}
	assert_string_equal(parse("context-switches:k").shown, "context-switches:k");
	refuse("context-switches:u", -EINVAL, "happens in the kernel alone");
}

static void spec_of_a_pmu_puts_each_term_into_its_bits(void **state)
{
	struct mew_spec spec = parse("cpu/event=0x3c,umask=0x1f/");

	(void)state;
	assert_int_equal(spec.what.type, 4);
	assert_int_equal(spec.what.config, 0x1f3c);
	assert_string_equal(spec.shown, "cpu/event=0x3c,umask=0x1f/u");
	assert_int_equal(spec.what.exclude_kernel, 1);

	assert_int_equal(parse("cpu/event=60,inv/k").what.config, 60 | 1 << 23);
	assert_int_equal(parse("cpu/split=0xab/").what.config1, 0xaull << 32 | 0xb);
	assert_int_equal(parse("cpu/whole=0xffffffffffffffff/").what.config2, UINT64_MAX);
	assert_int_equal(parse("cpu/config=7,config1=8,config2=9/").what.config, 7);
	assert_int_equal(parse("cpu/config=7,config1=8,config2=9/").what.config1, 8);
	assert_int_equal(parse("cpu/config=7,config1=8,config2=9/").what.config2, 9);
	assert_int_equal(parse("cpu/event=1,period=5000/").what.sample_period, 5000);
	assert_int_equal(parse("armv8_pmuv3_0/event=0x11/").what.type, 8);
	/* A later term wins, bit by bit. */
	assert_int_equal(parse("cpu/config=0xffff,event=0/").what.config, 0xff00);

	assert_string_equal(parse("cpu/event=1/:kp").shown, "cpu/event=1/kp");
	assert_string_equal(parse("cpu/event=1/p").shown, "cpu/event=1/up");
}

static void spec_of_a_pmus_named_event_takes_its_terms(void **state)
{
	(void)state;
	assert_int_equal(parse("cpu/cache-misses/").what.config, 0x412e);
	assert_int_equal(parse("cpu/cache-misses,inv/").what.config, 0x412e | 1 << 23);
}

static void spec_of_a_pmu_with_a_fault_is_refused(void **state)
{
	(void)state;
	refuse("cpu/", -EINVAL, "lacks its second '/'");
	refuse("nopmu/event=1/", -EINVAL, "no PMU 'nopmu'");
	refuse("cpu/event=0x100/", -EINVAL, "too many bits");
	refuse("cpu/event=zz/", -EINVAL, "'zz' is no number");
	refuse("cpu/event=-1/", -EINVAL, "'-1' is no number");
	refuse("cpu/event=/", -EINVAL, "'' is no number");
	refuse("cpu/event=99999999999999999999/", -EINVAL, "is no number");
	refuse("cpu/nope=1/", -EINVAL, "no term 'nope'");
	refuse("cpu/nope/", -EINVAL, "no event or term 'nope'");
	refuse("cpu//", -EINVAL, "no event or term ''");
	refuse("cpu/event=1,/", -EINVAL, "no event or term ''");
	refuse("cpu/odd=1/", -EINVAL, "format 'config9:0-3'");
	refuse("cpu/broken=1/", -EINVAL, "format 'config:7-'");
	refuse("cpu/loop/", -EINVAL, "no event or term 'loop'");
	refuse("../cpu/event=1/", -EINVAL, "no name of a PMU");
	refuse("/event=1/", -EINVAL, "no name of a PMU");
	refuse("cpu/../type/", -EINVAL, "no event or term '../type'");
	refuse("cpu/event=1/x", -EINVAL, "event modifier 'x'");
}

static void spec_of_another_librarys_name_is_left_to_it(void **state)
{
	(void)state;
	refuse("INST_RETIRED:ANY", -ENOENT, "no event is called 'INST_RETIRED:ANY'");
	refuse("sched:sched_switch", -ENOENT, "no event is called");
	refuse("", -ENOENT, "no event is called ''");
	refuse(":u", -ENOENT, "no event is called");
	refuse("r", -ENOENT, "no event is called");
	refuse("r12345678901234567", -ENOENT, "no event is called");
	refuse("rxyz", -ENOENT, "no event is called");
}

static void spec_of_a_name_that_is_too_long_is_refused(void **state)
{
	char name[400];

	(void)state;
	for (size_t len = 100; len < sizeof(name) - 1; len++) {
		struct mew_error error;
		struct mew_spec spec;

		memset(name, ',', len);
		memcpy(name, "cpu/event=1", 11);
		name[len] = '\0';
		assert_int_equal(
			mew_spec_parse(name, fake_read, machine(big_machine), &spec, &error),
			-EINVAL);
		for (size_t i = 11; i < len - 1; i++)
			name[i] = '0';
		name[10] = '0';
		name[len - 1] = '/';
		if (!mew_spec_parse(name, fake_read, machine(big_machine), &spec, &error))
			assert_int_equal(strlen(spec.shown), len + 1);
		else
			assert_true(len >= MEW_SPEC_NAME_BYTES - 4);
	}
}

static void spec_on_a_hybrid_cpu_names_the_kind_of_core(void **state)
{
	struct mew_spec spec = parse("cycles:pp");

	(void)state;
	assert_int_equal(mew_spec_hybrid(&spec, fake_read, machine(big_machine)), 0);
	assert_string_equal(spec.shown, "cycles:upp");
	assert_int_equal(mew_spec_hybrid(&spec, fake_read, machine(hybrid_machine)), 1);
	assert_string_equal(spec.shown, "cpu_core/cycles/upp");
	assert_int_equal(spec.what.config, 4ull << 32 | PERF_COUNT_HW_CPU_CYCLES);

	spec = parse("L1-dcache-load-misses");
	assert_int_equal(mew_spec_hybrid(&spec, fake_read, machine(hybrid_machine)), 1);
	assert_int_equal(spec.what.config, 4ull << 32 | 0x010000);
	spec = parse("cpu-clock");
	assert_int_equal(mew_spec_hybrid(&spec, fake_read, machine(hybrid_machine)), 0);
	spec = parse("r1");
	assert_int_equal(mew_spec_hybrid(&spec, fake_read, machine(hybrid_machine)), 0);
}

static void check_name(void *arg, const char *name)
{
	unsigned *n = arg;
	struct mew_spec spec;

	assert_int_equal(mew_spec_parse(name, NULL, NULL, &spec, NULL), 0);
	++*n;
}

static void spec_names_that_are_listed_can_be_parsed(void **state)
{
	unsigned n = 0;

	(void)state;
	mew_spec_each(check_name, &n);
	assert_int_equal(n, 10 + 10 + 7 * 6); /* hardware, software, caches */
}

struct seen {
	unsigned n, ranges[8][2];
};

static int note_range(void *arg, unsigned from, unsigned to)
{
	struct seen *s = arg;

	assert_true(s->n < 8);
	s->ranges[s->n][0] = from;
	s->ranges[s->n++][1] = to;
	return from == 13 ? -ERANGE : 0;
}

static void ranges_are_read_as_the_kernel_writes_them(void **state)
{
	static const char *const bad[] = {"",
					  ",",
					  "1,",
					  "-1",
					  "3-1",
					  "1-",
					  "a",
					  "1 2",
					  "1-2-3",
					  "0x1",
					  "99999999999999999999"};
	struct seen s = {0};

	(void)state;
	assert_int_equal(mew_ranges_parse("0-3,8,10-11", note_range, &s), 0);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.ranges[0][0], 0);
	assert_int_equal(s.ranges[0][1], 3);
	assert_int_equal(s.ranges[1][0], 8);
	assert_int_equal(s.ranges[1][1], 8);
	assert_int_equal(s.ranges[2][0], 10);
	assert_int_equal(s.ranges[2][1], 11);
	assert_int_equal(mew_ranges_parse("13,14", note_range, &s), -ERANGE);
	assert_int_equal(s.n, 4);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		s.n = 0;
		assert_int_equal(mew_ranges_parse(bad[i], note_range, &s), -EINVAL);
	}
}

/* Whatever is typed: it is taken or refused, within the buffers. */
static void spec_of_random_text_is_taken_or_refused(void **state)
{
	static const char letters[] = "cpu/event=0x3,1:ukL1-dcache_loadsr\xff%";
	uint64_t random = 88172645463325252u;

	(void)state;
	for (unsigned round = 0; round < 50000; round++) {
		struct mew_error error;
		struct mew_spec spec;
		char name[64] = "";
		size_t len, begin = 0;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		len = random % 40;
		if (random >> 40 & 1)
			begin = (size_t)snprintf(name, sizeof(name), "cpu/event=1,");
		for (size_t i = begin; i < begin + len; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			name[i] = letters[random % (sizeof(letters) - 1)];
		}
		if (!mew_spec_parse(name, fake_read, machine(big_machine), &spec, &error))
			assert_true(strlen(spec.shown) < sizeof(spec.shown));
		else
			assert_true(strlen(error.text) > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spec_of_a_plain_name_is_user_alone_and_says_so),
		cmocka_unit_test(spec_of_a_cache_event_holds_cache_operation_and_result),
		cmocka_unit_test(spec_modifiers_choose_the_sides),
		cmocka_unit_test(spec_of_a_kernel_event_takes_the_kernels_side),
		cmocka_unit_test(spec_of_a_pmu_puts_each_term_into_its_bits),
		cmocka_unit_test(spec_of_a_pmus_named_event_takes_its_terms),
		cmocka_unit_test(spec_of_a_pmu_with_a_fault_is_refused),
		cmocka_unit_test(spec_of_another_librarys_name_is_left_to_it),
		cmocka_unit_test(spec_of_a_name_that_is_too_long_is_refused),
		cmocka_unit_test(spec_on_a_hybrid_cpu_names_the_kind_of_core),
		cmocka_unit_test(spec_names_that_are_listed_can_be_parsed),
		cmocka_unit_test(ranges_are_read_as_the_kernel_writes_them),
		cmocka_unit_test(spec_of_random_text_is_taken_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
