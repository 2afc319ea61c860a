/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "unwind/modules.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "unwind/file.h"
#include "unwind/locate.h"
#include "unwind/maps.h"
#include "unwind/table.h"

#define NO_SLOT UINT32_MAX
#define ANONYMOUS_MAX (MEW_UNWIND_TABLE_MODULES / 2)

/* A module with what is nobody else's business. */
struct module {
	struct mew_module pub;
	char *path;                  /* owned; pub.path */
	const struct mew_file *file; /* NULL: it could not be opened */
	uint64_t rules_off;          /* in the space; 0: not there */
	uint64_t saves_off, ops_off; /* likewise */
};

struct mapping {
	struct mew_mapping pub;
	uint64_t dev, ino; /* as maps has it; 0: not known */
	uint32_t slot;     /* in the table, or NO_SLOT */
	bool gone;
	uint64_t seen; /* the last reading of maps that had it */
};

struct mew_modules {
	struct mew_unwind_table *table; /* the caller's */
	size_t space_bytes;
	struct module **modules; /* owned; they do not move */
	size_t n_modules, cap_modules;
	struct mapping *mappings; /* owned; the newest last */
	size_t n_mappings, cap_mappings;
	uint64_t *epochs; /* owned; when each one but the first began, in order */
	size_t n_epochs, cap_epochs;
	uint64_t n_mixed; /* that would have begun one more */
	uint64_t reading;
	bool changed;  /* the generation is to be raised */
	char proc[32]; /* "/proc/PID" of the maps read last; "" unknown */
};

struct mew_modules *mew_modules_new(void *space, size_t space_bytes, struct mew_error *error)
{
	struct mew_modules *m;

	if (space_bytes < sizeof(*m->table) ||
	    (uintptr_t)space % _Alignof(struct mew_unwind_table)) {
		mew_error_set(error, -EINVAL, "no room for unwind tables in %zu bytes",
			      space_bytes);
		return NULL;
	}
	m = calloc(1, sizeof(*m));
	if (!m) {
		mew_error_errno(error, -ENOMEM, "cannot keep a list of modules");
		return NULL;
	}
	m->table = space;
	m->space_bytes = space_bytes;
	m->table->n_modules = 0;
	m->table->generation = 1;
	m->table->epoch = 0;
	m->table->bytes = sizeof(*m->table);
	__atomic_store_n(&m->table->magic, MEW_UNWIND_TABLE_MAGIC, __ATOMIC_RELEASE);
	return m;
}

void mew_modules_free(struct mew_modules *m)
{
	size_t i;

	if (!m)
		return;
	for (i = 0; i < m->n_modules; i++) {
		free(m->modules[i]->path);
		free(m->modules[i]);
	}
	free(m->modules);
	free(m->mappings);
	free(m->epochs);
	free(m);
}

/* ---- modules ---- */

static struct module *new_module(struct mew_modules *m, const char *path)
{
	struct module *module;

	if (m->n_modules >= UINT32_MAX - 1 ||
	    MEW_ARRAY_PUSH(m->modules, m->n_modules, m->cap_modules))
		return NULL;
	module = calloc(1, sizeof(*module));
	if (!module)
		return NULL;
	module->path = strdup(path);
	if (!module->path) {
		free(module);
		return NULL;
	}
	module->path[mew_locate_path_bytes(path)] = '\0';
	module->pub.path = module->path;
	module->pub.fd = -1;
	module->pub.id = (uint32_t)m->n_modules;
	m->modules[m->n_modules++] = module;
	return module;
}

static void set_file(struct module *module, const struct mew_file *f)
{
	struct mew_module *pub = &module->pub;

	module->file = pub->file = f;
	memcpy(pub->build_id, f->build_id, sizeof(pub->build_id));
	pub->build_id_bytes = f->build_id_bytes;
	pub->n_rules = f->cfi.n_rules;
	pub->has_cfi = f->cfi.n_rules > 0;
	pub->table_ns = f->table_ns;
	pub->error = -f->error;
}

/* The rules of module in the space: copied once. 0 or -ENOSPC. */
static int place_rules(struct mew_modules *m, struct module *module)
{
	const struct mew_cfi *cfi = module->file ? &module->file->cfi : NULL;
	struct mew_unwind_table *t = m->table;
	size_t rules, saves, ops;
	char *at = (char *)t + t->bytes;

	if (!cfi || !cfi->n_rules || module->rules_off)
		return 0;
	rules = cfi->n_rules * sizeof(*cfi->rules);
	saves = cfi->n_saves * sizeof(*cfi->saves);
	ops = cfi->n_ops * sizeof(*cfi->ops);
	if (rules + saves + ops > m->space_bytes - t->bytes)
		return -ENOSPC;
	memcpy(at, cfi->rules, rules);
	if (saves)
		memcpy(at + rules, cfi->saves, saves);
	if (ops)
		memcpy(at + rules + saves, cfi->ops, ops);
	module->rules_off = t->bytes;
	module->saves_off = t->bytes + rules;
	module->ops_off = t->bytes + rules + saves;
	t->bytes += rules + saves + ops;
	module->pub.table_bytes = rules + saves + ops;
	return 0;
}

static struct module *find_vdso(struct mew_modules *m)
{
	const struct mew_file *f = mew_file_vdso();
	struct module *module;
	size_t i;

	for (i = 0; i < m->n_modules; i++) {
		if (!strcmp(m->modules[i]->path, "[vdso]"))
			return m->modules[i];
	}
	module = new_module(m, "[vdso]");
	if (module && f)
		set_file(module, f);
	else if (module)
		module->pub.error = ENOENT;
	return module;
}

/* The module of w's file, opened if it is new. NULL without memory. */
static struct module *find_module(struct mew_modules *m, const struct mew_mapped *w)
{
	const struct mew_file *f = NULL;
	struct module *module = NULL;
	size_t i;
	int fd;

	fd = mew_locate_open(m->proc, w);
	if (fd >= 0) {
		f = mew_file_at(fd);
		if (!f) {
			close(fd);
			return NULL;
		}
		fd = mew_file_keep(f, fd);
	}
	for (i = 0; !module && i < m->n_modules; i++) {
		struct module *known = m->modules[i];

		if (f ? known->file == f : !known->file && !strcmp(known->path, w->path))
			module = known;
	}
	if (module)
		return module;
	module = new_module(m, w->path);
	if (!module)
		return NULL;
	if (f) {
		module->pub.fd = fd;
		set_file(module, f);
	} else {
		module->pub.error = -fd;
	}
	return module;
}

/* ---- mappings ---- */

static bool inside(const struct mapping *inner, uint64_t start_pc, uint64_t end_pc)
{
	return inner->pub.start_pc >= start_pc && inner->pub.end_pc <= end_pc;
}

static void end_mapping(struct mew_modules *m, struct mapping *mapping)
{
	if (mapping->gone)
		return;
	mapping->gone = true;
	if (mapping->slot != NO_SLOT)
		__atomic_store_n(&m->table->modules[mapping->slot].end_pc, 0, __ATOMIC_RELEASE);
	m->changed = true;
}

/* The newest mapping that is there at pc. */
static struct mapping *newest_at(const struct mew_modules *m, uint64_t pc)
{
	size_t i = m->n_mappings;

	while (i--) {
		struct mapping *mapping = &m->mappings[i];

		if (!mapping->gone && pc >= mapping->pub.start_pc && pc < mapping->pub.end_pc)
			return mapping;
	}
	return NULL;
}

static bool overlaps(const struct mew_modules *m, uint64_t start_pc, uint64_t end_pc)
{
	size_t i;

	for (i = 0; i < m->n_mappings; i++) {
		if (m->mappings[i].pub.start_pc < end_pc && m->mappings[i].pub.end_pc > start_pc)
			return true;
	}
	return false;
}

/* Whether an entry after the one at `at` covers a part of the mapping: it would be found first. */
static bool is_hidden(const struct mew_unwind_table *t, uint32_t at, const struct mew_mapping *m)
{
	uint32_t i;

	for (i = at + 1; i < t->n_modules; i++) {
		if (t->modules[i].start_pc < m->end_pc && t->modules[i].end_pc > m->start_pc)
			return true;
	}
	return false;
}

/* A library that comes and goes comes back to the same place: its entry is still there. */
static bool revive(struct mew_unwind_table *t, struct mapping *mapping, uint64_t base)
{
	uint32_t i;

	for (i = 0; i < t->n_modules; i++) {
		struct mew_unwind_table_module *entry = &t->modules[i];

		if (entry->end_pc || entry->start_pc != mapping->pub.start_pc ||
		    entry->id != mapping->pub.module || entry->base != base)
			continue;
		if (is_hidden(t, i, &mapping->pub))
			return false;
		__atomic_store_n(&entry->end_pc, mapping->pub.end_pc, __ATOMIC_RELEASE);
		mapping->slot = i;
		return true;
	}
	return false;
}

/* A new entry of the table, complete before readers can see it. module NULL: code of no file. */
static int publish(struct mew_modules *m, struct module *module, struct mapping *mapping)
{
	struct mew_unwind_table *t = m->table;
	struct mew_unwind_table_module *entry;
	uint64_t base = mapping->pub.load_bias;
	int rc = 0;

	if (module && module->file)
		base += module->file->cfi.base_vaddr;
	if (revive(t, mapping, base))
		return 0;
	if (t->n_modules >= MEW_UNWIND_TABLE_MODULES)
		return -ENOSPC;
	if (module)
		rc = place_rules(m, module);
	entry = &t->modules[t->n_modules];
	*entry = (struct mew_unwind_table_module){
		.start_pc = mapping->pub.start_pc,
		.end_pc = mapping->pub.end_pc,
		.base = base,
		.id = mapping->pub.module,
	};
	if (module && module->rules_off) {
		entry->rules_off = module->rules_off;
		entry->saves_off = module->saves_off;
		entry->ops_off = module->ops_off;
		entry->n_rules = (uint32_t)module->file->cfi.n_rules;
		entry->n_saves = (uint32_t)module->file->cfi.n_saves;
		entry->n_ops = (uint32_t)module->file->cfi.n_ops;
	}
	mapping->slot = t->n_modules;
	__atomic_store_n(&t->n_modules, t->n_modules + 1, __ATOMIC_RELEASE);
	return rc;
}

/* What the kernel calls memory that no file is behind. */
static bool is_file(const char *path)
{
	return path[0] == '/' && strncmp(path, "//anon", 6) != 0;
}

/* The mapping is about to be added: whether it takes the place of other code. 0 or -ENOMEM. */
static int begin_epoch(struct mew_modules *m, const struct mapping *new)
{
	bool replaces = false;
	size_t i;

	for (i = 0; i < m->n_mappings && !replaces; i++) {
		const struct mew_mapping *old = &m->mappings[i].pub;

		replaces = old->start_pc < new->pub.end_pc && old->end_pc > new->pub.start_pc &&
			   (old->module != new->pub.module ||
			    (old->module != UINT32_MAX && old->load_bias != new->pub.load_bias));
	}
	if (!replaces || (m->n_epochs && new->pub.from_ns <= m->epochs[m->n_epochs - 1]))
		return 0;
	if (m->n_epochs == MEW_MODULES_EPOCHS) {
		m->n_mixed++;
		return 0;
	}
	if (MEW_ARRAY_PUSH(m->epochs, m->n_epochs, m->cap_epochs))
		return -ENOMEM;
	m->epochs[m->n_epochs++] = new->pub.from_ns;
	__atomic_store_n(&m->table->epoch, (uint32_t)m->n_epochs, __ATOMIC_RELAXED);
	return 0;
}

/* Adds w unless it is known. 0, or negative errno; after -ENOSPC it is there without rules. */
static int add_mapping(struct mew_modules *m, const struct mew_mapped *w)
{
	struct mapping new = {
		.pub = {.start_pc = w->start_pc,
			.end_pc = w->end_pc,
			.file_off = w->file_off,
			.module = UINT32_MAX,
			.load_bias = w->start_pc - w->file_off,
			.from_ns = w->from_ns},
		.dev = w->dev,
		.ino = w->ino,
		.slot = NO_SLOT,
		.seen = m->reading,
	};
	struct mapping *old = newest_at(m, w->start_pc);
	struct module *module = NULL;
	size_t i, n_old = m->n_mappings;
	int rc = 0;

	/* The same line of maps as last time: nothing to open. */
	if (old && w->ino && old->ino == w->ino && old->dev == w->dev &&
	    old->pub.start_pc == w->start_pc && old->pub.end_pc == w->end_pc &&
	    old->pub.file_off == w->file_off) {
		old->seen = m->reading;
		return 0;
	}
	if (is_file(w->path) || !strcmp(w->path, "[vdso]")) {
		module = is_file(w->path) ? find_module(m, w) : find_vdso(m);
		if (!module)
			return -ENOMEM;
		new.pub.module = module->pub.id;
		if (module->file)
			new.pub.load_bias = mew_file_bias(module->file, w->start_pc, w->file_off);
	}
	/* A part of what is known, as mprotect(2) makes it. */
	if (old && old->pub.module == new.pub.module && w->end_pc <= old->pub.end_pc &&
	    (!module || old->pub.load_bias == new.pub.load_bias)) {
		old->seen = m->reading;
		return 0;
	}
	if (MEW_ARRAY_PUSH(m->mappings, m->n_mappings, m->cap_mappings) || begin_epoch(m, &new))
		return -ENOMEM;
	/* Generated code may come and go for ever: it must leave room for files. */
	if (module || m->table->n_modules < ANONYMOUS_MAX)
		rc = publish(m, module, &new);
	m->mappings[m->n_mappings++] = new;
	m->changed = true;
	/* What is partly covered stays: the newest one is found first. */
	for (i = 0; i < n_old; i++) {
		if (inside(&m->mappings[i], w->start_pc, w->end_pc))
			end_mapping(m, &m->mappings[i]);
	}
	return rc;
}

static void raise_generation(struct mew_modules *m)
{
	if (m->changed)
		__atomic_store_n(&m->table->generation, m->table->generation + 1, __ATOMIC_RELEASE);
	m->changed = false;
}

static int say(const struct mew_modules *m, int rc, struct mew_error *error)
{
	if (rc == -ENOSPC)
		return mew_error_set(error, rc, "no room for more unwind tables in %zu bytes",
				     m->space_bytes);
	return rc ? mew_error_errno(error, rc, "cannot keep a list of modules") : 0;
}

void mew_modules_set_process(struct mew_modules *m, uint32_t pid)
{
	snprintf(m->proc, sizeof(m->proc), "/proc/%u", pid);
}

int mew_modules_add(struct mew_modules *m, const struct mew_mapped *mapped, struct mew_error *error)
{
	int rc;

	if (mapped->end_pc <= mapped->start_pc)
		return mew_error_set(error, -EINVAL, "an empty mapping");
	rc = add_mapping(m, mapped);
	raise_generation(m);
	return say(m, rc, error);
}

static int copy_module(struct mew_modules *m, const struct module *from)
{
	struct module *module = new_module(m, from->path);

	if (!module)
		return -ENOMEM;
	if (from->file)
		set_file(module, from->file);
	module->pub.error = from->pub.error;
	module->pub.fd = from->pub.fd;
	return 0;
}

int mew_modules_copy(struct mew_modules *m, const struct mew_modules *from, struct mew_error *error)
{
	int rc = 0, worst = 0;
	size_t i;

	for (i = 0; i < from->n_modules && !rc; i++)
		rc = copy_module(m, from->modules[i]);
	for (i = 0; i < from->n_mappings && !rc; i++) {
		struct mapping new = from->mappings[i];

		if (new.gone)
			continue;
		new.slot = NO_SLOT;
		if (new.pub.module != UINT32_MAX || m->table->n_modules < ANONYMOUS_MAX)
			rc = publish(
				m, new.pub.module == UINT32_MAX ? NULL : m->modules[new.pub.module],
				&new);
		worst = rc ? rc : worst;
		rc = MEW_ARRAY_PUSH(m->mappings, m->n_mappings, m->cap_mappings);
		if (!rc)
			m->mappings[m->n_mappings++] = new;
	}
	m->changed = true;
	raise_generation(m);
	return say(m, rc ? rc : worst, error);
}

/* ---- /proc/PID/maps ---- */

/* Whose maps these are. */
static void find_proc(struct mew_modules *m, int maps_fd)
{
	char link[64], target[64];
	ssize_t n;
	int pid, end = 0;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", maps_fd);
	n = readlink(link, target, sizeof(target) - 1);
	m->proc[0] = '\0';
	if (n <= 0)
		return;
	target[n] = '\0';
	if (sscanf(target, "/proc/%d/maps%n", &pid, &end) == 1 && end == n)
		snprintf(m->proc, sizeof(m->proc), "/proc/%d", pid);
}

int mew_modules_read_maps(struct mew_modules *m, int maps_fd, struct mew_error *error)
{
	struct mew_buffer text = MEW_BUFFER_INIT;
	uint64_t time_ns = mew_monotonic_ns();
	char *line, *next;
	size_t i;
	int rc, worst = 0;

	rc = mew_buffer_read(&text, maps_fd, MEW_BUFFER_PROC_MAX);
	if (rc) {
		mew_buffer_done(&text);
		return mew_error_errno(error, rc, "cannot read a process's maps");
	}
	find_proc(m, maps_fd);
	m->reading++;
	for (line = text.data; *line; line = next) {
		struct mew_maps_line l;
		struct mew_mapped w;

		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		if (mew_maps_parse(line, &l) || !l.executable)
			continue;
		w = (struct mew_mapped){l.start_pc, l.end_pc, l.file_off, l.dev, l.ino, 0, l.path};
		/* What was somewhere else before came since, at a time that nobody has seen. */
		if (overlaps(m, l.start_pc, l.end_pc))
			w.from_ns = time_ns;
		rc = add_mapping(m, &w);
		if (rc && rc != -ENOSPC)
			break;
		worst = rc ? rc : worst;
		rc = 0;
	}
	for (i = 0; !rc && i < m->n_mappings; i++) {
		if (m->mappings[i].seen != m->reading)
			end_mapping(m, &m->mappings[i]);
	}
	raise_generation(m);
	mew_buffer_done(&text);
	return say(m, rc ? rc : worst, error);
}

/* ---- look-ups ---- */

const struct mew_unwind_table *mew_modules_table(const struct mew_modules *m)
{
	return m->table;
}

const struct mew_mapping *mew_modules_find(const struct mew_modules *m, uint64_t pc,
					   uint64_t time_ns)
{
	const struct mew_mapping *best = NULL;
	size_t i;

	for (i = 0; i < m->n_mappings; i++) {
		const struct mew_mapping *mapping = &m->mappings[i].pub;

		if (pc < mapping->start_pc || pc >= mapping->end_pc ||
		    (time_ns && mapping->from_ns > time_ns))
			continue;
		if (!best || mapping->from_ns >= best->from_ns)
			best = mapping;
	}
	return best;
}

uint32_t mew_modules_epoch(const struct mew_modules *m, uint64_t time_ns)
{
	size_t n = m->n_epochs;

	while (n && m->epochs[n - 1] > time_ns)
		n--;
	return (uint32_t)n;
}

uint64_t mew_modules_n_mixed(const struct mew_modules *m)
{
	return m->n_mixed;
}

uint64_t mew_modules_epoch_end(const struct mew_modules *m, uint32_t epoch)
{
	return epoch < m->n_epochs ? m->epochs[epoch] - 1 : 0;
}

const struct mew_module *mew_modules_get(const struct mew_modules *m, uint32_t id)
{
	return id < m->n_modules ? &m->modules[id]->pub : NULL;
}

uint32_t mew_modules_count(const struct mew_modules *m)
{
	return (uint32_t)m->n_modules;
}
