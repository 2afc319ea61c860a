/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int mew_governor_read(void *arg, unsigned cpu, char *text)
{
	char path[80];
	ssize_t n;
	int fd, err;

	(void)arg;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor", cpu);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, MEW_GOVERNOR_BYTES - 1);
	err = n < 0 ? -errno : 0;
	close(fd);
	if (err)
		return err;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return 0;
}

bool mew_host_scales(mew_governor_fn read, void *arg, unsigned n_cpus, char *ret)
{
	char text[MEW_GOVERNOR_BYTES];
	unsigned cpu;

	for (cpu = 0; cpu < n_cpus; cpu++) {
		if (read(arg, cpu, text) != 0 || strcmp(text, "performance") == 0)
			continue;
		memcpy(ret, text, sizeof(text));
		return true;
	}
	return false;
}
