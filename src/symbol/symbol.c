/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "symbol/symbol.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/map.h"
#include "symbol/debugfile.h"
#include "symbol/demangle.h"
#include "symbol/dwarf.h"
#include "symbol/symtab.h"
#include "unwind/file.h"

/* What is known of a module, made when the first pc in it is looked up. */
struct module {
	const struct mew_module *pub;
	Elf *elf;                /* of the module; NULL: cannot be read */
	int debug_fd;            /* of its separate debug file, or -1 */
	Elf *debug_elf;          /* of that file, or NULL */
	struct mew_dwarf *dwarf; /* NULL: none */
	uint64_t dwarf_bias;     /* vaddr of the debug file = vaddr + this */
	struct mew_symtab symtab;
	uint64_t symtab_bias;
	struct mew_map found;     /* vaddr -> struct found * */
	struct mew_map functions; /* origin of a DIE -> struct mew_function *, 0: no name */
	const struct mew_function *none;
	uint64_t n_poor; /* look-ups that debug info would have answered better */
};

struct found {
	unsigned n;
	struct mew_symbol_frame frames[];
};

struct mew_symbols {
	const struct mew_modules *modules; /* borrowed */
	struct module **list;              /* owned; by the module's id, NULL: not looked into */
	size_t n_list, cap_list;
	struct mew_arena *arena;
	struct mew_strings strings;
	struct mew_bytes_map interned; /* what makes a function -> struct mew_function * */
	uint32_t n_functions;
	struct found *unknown; /* of what lies in no module */
};

/* ---- functions ---- */

/* What tells one function from another; all strings are interned. */
struct key {
	const char *name, *linkage, *file, *module;
	uint64_t line;
};

static const char *intern(struct mew_symbols *s, const char *text)
{
	return text ? mew_strings_intern(&s->strings, text, strlen(text)) : NULL;
}

/* The function of that key; its strings are interned here. NULL without memory. */
static const struct mew_function *add_function(struct mew_symbols *s, const char *name,
					       const char *linkage, const char *file, uint32_t line,
					       const char *module, enum mew_symbol_source source)
{
	struct key key = {
		.name = intern(s, name),
		.linkage = intern(s, linkage),
		.file = intern(s, file),
		.module = intern(s, module),
		.line = line,
	};
	struct mew_function *f;
	uint64_t *place;
	bool new;

	if (!key.name || (linkage && !key.linkage) || (file && !key.file) || !key.module)
		return NULL;
	f = mew_arena_alloc(s->arena, sizeof(*f), _Alignof(struct mew_function));
	place = f ? mew_bytes_map_add(&s->interned, &key, sizeof(key), (uintptr_t)f, &new) : NULL;
	if (!place)
		return NULL;
	if (!new)
		return (const struct mew_function *)(uintptr_t)*place;
	*f = (struct mew_function){
		.id = s->n_functions++,
		.name = key.name,
		.linkage = key.linkage,
		.file = key.file,
		.line = line,
		.module = key.module,
		.source = source,
	};
	return f;
}

/* "[libfoo.so.1]": the function is not known, its module is. */
static const struct mew_function *no_function(struct mew_symbols *s, struct module *m)
{
	const char *path = m->pub->path, *slash = strrchr(path, '/');
	struct mew_buffer name = MEW_BUFFER_INIT;

	if (m->none)
		return m->none;
	if (*path == '[')
		mew_buffer_puts(&name, path);
	else
		mew_buffer_printf(&name, "[%s]", slash ? slash + 1 : path);
	if (!name.error)
		m->none = add_function(s, name.data, NULL, NULL, 0, path, MEW_SYMBOL_NONE);
	mew_buffer_done(&name);
	return m->none;
}

/* The function of a symbol, without the suffixes of its pieces. */
static const struct mew_function *symbol_function(struct mew_symbols *s, struct module *m,
						  const struct mew_symtab_entry *e)
{
	const struct mew_function *f = NULL;
	struct mew_buffer name = MEW_BUFFER_INIT;
	const char *linkage;
	int rc;

	linkage = mew_strings_intern(&s->strings, e->linkage, mew_linkage_length(e->linkage));
	if (!linkage)
		return NULL;
	rc = mew_demangle(linkage, &name);
	if (rc != -ENOMEM)
		f = add_function(s, rc ? linkage : name.data, linkage, NULL, 0, m->pub->path,
				 MEW_SYMBOL_ELF);
	mew_buffer_done(&name);
	return f;
}

/*
 * The function that a DIE is an instance of. linkage: what the symbol table calls it, for want of
 * better, or NULL. *ret is NULL when it has no name. 0 or -ENOMEM.
 */
static int die_function(struct mew_symbols *s, struct module *m, Dwarf_Die *die,
			const char *linkage, const struct mew_function **ret)
{
	struct mew_buffer name = MEW_BUFFER_INIT;
	const struct mew_function *f = NULL;
	/* The bytes of a DIE lie in one place of memory, whichever file they are of. */
	uint64_t key = (uintptr_t)die->addr, value;
	const char *own;
	int rc;

	if (mew_map_get(&m->functions, key, &value)) {
		*ret = (const struct mew_function *)(uintptr_t)value;
		return 0;
	}
	own = mew_dwarf_linkage(die);
	if (own)
		linkage = own;
	rc = linkage ? mew_demangle(linkage, &name) : -EINVAL;
	if (rc == -EINVAL)
		rc = mew_dwarf_name(m->dwarf, die, &name);
	if (!rc && name.len) {
		f = add_function(s, name.data, linkage, mew_dwarf_file(m->dwarf, die),
				 mew_dwarf_line(die), m->pub->path, MEW_SYMBOL_DWARF);
		rc = f ? 0 : -ENOMEM;
	}
	mew_buffer_done(&name);
	if (!rc)
		rc = mew_map_put(&m->functions, key, (uintptr_t)f);
	if (!rc)
		*ret = f;
	return rc;
}

/* ---- modules ---- */

static uint64_t first_load(Elf *elf)
{
	size_t n, i;

	if (elf_getphdrnum(elf, &n))
		return 0;
	for (i = 0; i < n; i++) {
		GElf_Phdr phdr;

		if (gelf_getphdr(elf, (int)i, &phdr) && phdr.p_type == PT_LOAD)
			return phdr.p_vaddr;
	}
	return 0;
}

/* The file as it was mapped, or NULL. */
static Elf *open_module(const struct mew_module *pub)
{
	const uint8_t *build_id = NULL;
	const void *image;
	uint32_t n;
	size_t bytes;
	Elf *elf;

	elf_version(EV_CURRENT);
	if (!strcmp(pub->path, "[vdso]")) {
		image = mew_file_vdso_image(&bytes);
		return image ? elf_memory((char *)(uintptr_t)image, bytes) : NULL;
	}
	if (pub->fd < 0)
		return NULL;
	/* Not mapped: a file that shrinks meanwhile would be a SIGBUS. */
	elf = elf_begin(pub->fd, ELF_C_READ, NULL);
	if (!elf)
		return NULL;
	/* Written over in place: these are the functions of another program. */
	n = mew_file_build_id(elf, &build_id);
	if (n != pub->build_id_bytes || (n && memcmp(build_id, pub->build_id, n) != 0)) {
		elf_end(elf);
		return NULL;
	}
	return elf;
}

static int read_module(struct module *m)
{
	int rc;

	m->elf = open_module(m->pub);
	if (!m->elf)
		return 0;
	rc = mew_dwarf_new(m->elf, &m->dwarf);
	if (!rc)
		rc = mew_symtab_read(m->elf, &m->symtab);
	if (rc || (m->dwarf && m->symtab.n))
		return rc;
	/* A stripped file still has .dynsym; its debug file has all functions. */
	m->debug_fd = mew_debugfile_open(m->elf, m->pub->path);
	if (m->debug_fd == -ENOMEM)
		return -ENOMEM;
	m->debug_elf = m->debug_fd >= 0 ? elf_begin(m->debug_fd, ELF_C_READ, NULL) : NULL;
	if (!m->debug_elf)
		return 0;
	if (!m->dwarf) {
		rc = mew_dwarf_new(m->debug_elf, &m->dwarf);
		m->dwarf_bias = first_load(m->debug_elf) - first_load(m->elf);
	}
	if (!rc) {
		struct mew_symtab more = {0};

		rc = mew_symtab_read(m->debug_elf, &more);
		if (more.n > m->symtab.n) {
			mew_symtab_done(&m->symtab);
			m->symtab = more;
			m->symtab_bias = first_load(m->debug_elf) - first_load(m->elf);
		} else {
			mew_symtab_done(&more);
		}
	}
	return rc;
}

static void free_module(struct module *m)
{
	if (!m)
		return;
	mew_map_done(&m->found);
	mew_map_done(&m->functions);
	mew_dwarf_free(m->dwarf);
	mew_symtab_done(&m->symtab);
	elf_end(m->debug_elf);
	if (m->debug_fd >= 0)
		close(m->debug_fd);
	elf_end(m->elf);
	free(m);
}

/* NULL without memory. */
static struct module *get_module(struct mew_symbols *s, uint32_t id)
{
	struct module *m;

	if (id < s->n_list && s->list[id])
		return s->list[id];
	if (mew_array_grow(&s->list, &s->cap_list, (size_t)id + 1, sizeof(struct module *)))
		return NULL;
	while (s->n_list <= id)
		s->list[s->n_list++] = NULL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->pub = mew_modules_get(s->modules, id);
	m->debug_fd = -1;
	mew_map_init(&m->found);
	mew_map_init(&m->functions);
	if (!m->pub || read_module(m)) {
		free_module(m);
		return NULL;
	}
	s->list[id] = m;
	return m;
}

/* ---- look-ups ---- */

static struct found *new_found(struct mew_symbols *s, unsigned n)
{
	struct found *f = mew_arena_alloc(s->arena, sizeof(*f) + n * sizeof(f->frames[0]),
					  _Alignof(struct found));

	if (f)
		f->n = n;
	return f;
}

/* The symbol at vaddr if it is a mangled name, without the suffixes of pieces. Or NULL. */
static const char *mangled_at(struct mew_symbols *s, struct module *m, uint64_t vaddr)
{
	const struct mew_symtab_entry *e = mew_symtab_find(&m->symtab, vaddr + m->symtab_bias);

	if (!e || (strncmp(e->linkage, "_Z", 2) != 0 && strncmp(e->linkage, "_R", 2) != 0))
		return NULL;
	return mew_strings_intern(&s->strings, e->linkage, mew_linkage_length(e->linkage));
}

/* By DWARF; n 0: it does not know. NULL without memory. */
static struct found *look_up_dwarf(struct mew_symbols *s, struct module *m, uint64_t vaddr,
				   const struct mew_dwarf_chain *chain)
{
	struct found *f = new_found(s, chain->n);
	uint32_t line = chain->line;
	unsigned i, n = 0;

	for (i = 0; f && i < chain->n; i++) {
		const struct mew_function *function;
		Dwarf_Die die = chain->levels[i].die;
		const char *linkage = NULL;

		if (chain->bare && i + 1 == chain->n)
			linkage = mangled_at(s, m, vaddr);
		if (die_function(s, m, &die, linkage, &function))
			return NULL;
		/* An inlined function without a name: its code is its caller's. */
		if (function)
			f->frames[n++] = (struct mew_symbol_frame){function, line, 1};
		else if (i + 1 == chain->n)
			n = 0;
		line = chain->levels[i].call_line;
	}
	if (f) {
		f->n = n;
		if (n)
			f->frames[n - 1].inlined = 0;
	}
	return f;
}

static struct found *look_up(struct mew_symbols *s, struct module *m, uint64_t vaddr)
{
	const struct mew_symtab_entry *e;
	const struct mew_function *function;
	struct mew_dwarf_chain chain;
	struct found *f;

	chain.n = 0;
	chain.line = 0;
	chain.split = !m->dwarf;
	if (m->dwarf && mew_dwarf_at(m->dwarf, vaddr + m->dwarf_bias, &chain))
		return NULL;
	if (chain.n) {
		f = look_up_dwarf(s, m, vaddr, &chain);
		if (!f || f->n)
			return f;
	}
	m->n_poor += chain.split;
	e = mew_symtab_find(&m->symtab, vaddr + m->symtab_bias);
	function = e ? symbol_function(s, m, e) : no_function(s, m);
	f = function ? new_found(s, 1) : NULL;
	if (f)
		f->frames[0] = (struct mew_symbol_frame){function, chain.line, 0};
	return f;
}

const struct mew_symbol_frame *mew_symbols_at(struct mew_symbols *s, uint64_t pc, int is_return,
					      uint64_t time_ns, unsigned *ret_n)
{
	const struct mew_mapping *mapping;
	struct module *m;
	struct found *f = s->unknown;
	uint64_t value, vaddr;

	pc -= is_return != 0;
	mapping = mew_modules_find(s->modules, pc, time_ns);
	if (mapping && mapping->module != UINT32_MAX) {
		m = get_module(s, mapping->module);
		if (!m)
			return NULL;
		vaddr = pc - mapping->load_bias;
		if (mew_map_get(&m->found, vaddr, &value)) {
			f = (struct found *)(uintptr_t)value;
		} else {
			f = look_up(s, m, vaddr);
			if (!f || mew_map_put(&m->found, vaddr, (uintptr_t)f))
				return NULL;
		}
	}
	*ret_n = f->n;
	return f->frames;
}

struct mew_symbols *mew_symbols_new(const struct mew_modules *modules, struct mew_error *error)
{
	struct mew_symbols *s = calloc(1, sizeof(*s));
	const struct mew_function *unknown;

	if (s)
		s->arena = mew_arena_new();
	if (s && s->arena) {
		s->modules = modules;
		mew_strings_init(&s->strings, s->arena);
		mew_bytes_map_init(&s->interned);
		unknown = add_function(s, "[unknown]", NULL, NULL, 0, "", MEW_SYMBOL_NONE);
		s->unknown = unknown ? new_found(s, 1) : NULL;
		if (s->unknown) {
			s->unknown->frames[0] = (struct mew_symbol_frame){unknown, 0, 0};
			return s;
		}
	}
	mew_symbols_free(s);
	mew_error_errno(error, -ENOMEM, "cannot look up symbols");
	return NULL;
}

void mew_symbols_free(struct mew_symbols *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->n_list; i++)
		free_module(s->list[i]);
	free(s->list);
	mew_bytes_map_done(&s->interned);
	if (s->arena)
		mew_strings_done(&s->strings);
	mew_arena_free(s->arena);
	free(s);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void mew_function_describe(const struct mew_function *f, struct mew_buffer *out)
{
	mew_buffer_puts(out, f->name);
	if (f->file && f->line)
		mew_buffer_printf(out, " (%s:%u)", base_name(f->file), f->line);
	else if (f->file)
		mew_buffer_printf(out, " (%s)", base_name(f->file));
	else if (f->source != MEW_SYMBOL_NONE && *f->module)
		mew_buffer_printf(out, " (%s)", base_name(f->module));
}

void mew_symbols_poor(const struct mew_symbols *s, mew_symbols_poor_fn fn, void *arg)
{
	size_t i;

	for (i = 0; i < s->n_list; i++) {
		if (s->list[i] && s->list[i]->n_poor)
			fn(arg, s->list[i]->pub, s->list[i]->n_poor);
	}
}
