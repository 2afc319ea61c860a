/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "kernel/explain.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernel/event.h"
#include "kernel/pmu.h"
#include "kernel/sysctl.h"

/* Docker, Podman and Kubernetes filter the call by seccomp. */
#define CONTAINER                                                                                  \
	"in a container: start it with --cap-add PERFMON, or a seccomp profile that allows it"

void mew_explain_gather(struct mew_explain_facts *ret)
{
	static const char *const pmus[] = {"cpu", "cpu_core", "armv8_pmuv3", "armv8_pmuv3_0"};
	struct rlimit files;

	ret->paranoid = mew_sysctl_read("kernel/perf_event_paranoid", INT64_MIN);
	ret->n_files = getrlimit(RLIMIT_NOFILE, &files) ? -1 : (int64_t)files.rlim_cur;
	ret->has_pmu = 0;
	for (size_t i = 0; i < sizeof(pmus) / sizeof(*pmus); i++) {
		char path[128];

		strcpy(path, MEW_PMU_DIR "/");
		strcat(path, pmus[i]);
		ret->has_pmu |= !access(path, F_OK);
	}
}

/* Whether the event shown as name looks at the kernel's side: its modifiers have no 'u', or a 'k'
 * too. */
static int wants_kernel(const char *name)
{
	const char *m = strrchr(name, '/');

	if (!m)
		m = strrchr(name, ':');
	if (!m)
		return 1;
	if (strspn(m + 1, "ukhpPHGIDe") != strlen(m + 1))
		return 1; /* no modifiers: the name of a tracepoint */
	return strchr(m, 'k') || !strchr(m, 'u');
}

static int explain_denied(int code, const char *name, const struct mew_explain_facts *f,
			  struct mew_error *error)
{
	int kernel = wants_kernel(name), need = kernel ? 1 : 2;

	if (f->paranoid == INT64_MIN)
		return mew_error_set(error, code,
				     "perf_event_open is not permitted, and "
				     "kernel.perf_event_paranoid cannot be read (" CONTAINER ")");
	if (f->paranoid <= need)
		return mew_error_set(error, code,
				     "perf_event_open is not permitted, though "
				     "kernel.perf_event_paranoid is %lld (" CONTAINER ")",
				     (long long)f->paranoid);
	if (kernel)
		return mew_error_set(error, code,
				     "event '%s' needs the kernel's side, which is not permitted "
				     "(kernel.perf_event_paranoid is %lld; allow it by: "
				     "sudo sysctl kernel.perf_event_paranoid=1)",
				     name, (long long)f->paranoid);
	return mew_error_set(
		error, code,
		"perf_event_open is not permitted (kernel.perf_event_paranoid is %lld; "
		"allow it by: sudo sysctl kernel.perf_event_paranoid=2)",
		(long long)f->paranoid);
}

int mew_explain(int err, const char *name, const struct mew_explain_facts *facts,
		struct mew_error *error)
{
	int code = err < 0 ? err : -err;

	if (!name)
		name = "cpu-clock:u";
	switch (-code) {
	case EACCES:
	case EPERM:
		return explain_denied(code, name, facts, error);
	case ENOSYS:
		return mew_error_set(error, code,
				     "perf_event_open is not there: the kernel was built without "
				     "it, or it is filtered out (" CONTAINER ")");
	case ENOENT:
		return mew_error_set(
			error, code, "event '%s' cannot be sampled on this machine (%s)", name,
			facts->has_pmu ? "its counters do not know it" : "no hardware counters");
	case ENODEV:
	case EOPNOTSUPP:
		return mew_error_set(error, code,
				     "event '%s' cannot be sampled on this machine "
				     "(it can only be counted, or not at all)",
				     name);
	case EBUSY:
		return mew_error_set(error, code,
				     "event '%s' cannot be sampled: another program holds the "
				     "counters",
				     name);
	case EMFILE:
		return mew_error_set(error, code,
				     "cannot open event '%s': too many open files (the limit is "
				     "%lld; raise it by: ulimit -n N)",
				     name, (long long)facts->n_files);
	case EINVAL:
		return mew_error_set(error, code,
				     "event '%s' cannot be sampled in a thread (the kernel refuses "
				     "its settings)",
				     name);
	default:
		return mew_error_errno(error, code, "cannot open event '%s'", name);
	}
}

void mew_event_explain(int err, const char *name, struct mew_error *error)
{
	struct mew_explain_facts facts;

	mew_explain_gather(&facts);
	mew_explain(err, name, &facts, error);
}
