/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "symbol/binary.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/map.h"
#include "symbol/debugfile.h"
#include "symbol/demangle.h"
#include "symbol/dwarf.h"
#include "symbol/symtab.h"
#include "symbol/unpack.h"
#include "unwind/file.h"

/* An ELF file. */
struct source {
	int fd; /* owned, or -1 */
	Elf *file;
	struct mew_unpacked_sections unpacked; /* borrowed by file */
	uint64_t bias;                         /* vaddr in it = vaddr of the binary + this */
};

struct mew_binary {
	const struct mew_file *file; /* as it was when it was opened; NULL: none */
	char *path;                  /* owned: where the process saw it */
	struct mew_function_pool *pool;
	struct source own, debug; /* the file, and its separate debug file */
	struct mew_unpacked mini; /* its .gnu_debugdata */
	struct mew_dwarf *dwarf;  /* NULL: none */
	uint64_t dwarf_bias;
	struct mew_symtab symtab;
	struct mew_map found;     /* vaddr -> struct mew_found * */
	struct mew_map functions; /* address of a DIE -> struct mew_function *, 0: no name */
	const struct mew_function *none;
	bool split_clones;
	enum mew_symbol_lack lack; /* of the whole file */
	enum mew_symbol_lack said; /* of the last look-up that lacked something */
	uint64_t n_poor;           /* such look-ups */
};

/* ---- sources ---- */

static void close_source(struct source *s)
{
	elf_end(s->file);
	mew_unpacked_sections_done(&s->unpacked);
	if (s->fd >= 0)
		close(s->fd);
}

/* Takes fd. 0 or -ENOMEM; sections that cannot be unpacked are as if they were not there. */
static int open_source(struct source *s, int fd, enum mew_symbol_lack *lack)
{
	int rc;

	s->fd = fd;
	/* Not mapped: a file that shrinks meanwhile would be a SIGBUS. */
	s->file = elf_begin(fd, ELF_C_READ, NULL);
	if (!s->file)
		return 0;
	rc = mew_unpack_sections(s->file, &s->unpacked);
	if (rc == -EPROTO)
		*lack = MEW_LACK_UNREADABLE;
	return rc == -ENOMEM ? rc : 0;
}

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

static bool has_symtab(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(elf, scn))) {
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_SYMTAB &&
		    shdr.sh_size > shdr.sh_entsize)
			return true;
	}
	return false;
}

/* The DWARF and the symbols of the separate debug file, if there is one. 0 or -ENOMEM. */
static int read_debug_file(struct mew_binary *b, Elf *own)
{
	int fd = mew_debugfile_open(own, b->path), rc;
	Elf *elf;

	if (fd < 0)
		return fd == -ENOMEM ? fd : 0;
	rc = open_source(&b->debug, fd, &b->lack);
	elf = b->debug.file;
	if (rc || !elf)
		return rc;
	b->debug.bias = first_load(elf) - first_load(own);
	if (!b->dwarf) {
		rc = mew_dwarf_new(elf, &b->dwarf);
		b->dwarf_bias = b->debug.bias;
	}
	return rc ? rc : mew_symtab_add(elf, b->debug.bias, &b->symtab);
}

static int read_sources(struct mew_binary *b)
{
	Elf *own = b->own.file;
	bool whole = has_symtab(own);
	int rc;

	rc = mew_dwarf_new(own, &b->dwarf);
	if (!rc)
		rc = mew_symtab_add(own, 0, &b->symtab);
	/* A stripped file still has .dynsym; its debug file has all functions. */
	if (!rc && !(b->dwarf && whole))
		rc = read_debug_file(b, own);
	if (!rc && !whole && !b->debug.file) {
		rc = mew_unpack_mini(own, &b->mini);
		if (!rc)
			rc = mew_symtab_add(b->mini.elf, 0, &b->symtab);
		else if (rc != -ENOMEM)
			rc = 0;
	}
	if (!b->dwarf && !b->lack)
		b->lack = MEW_LACK_DEBUG;
	else if (!rc && b->dwarf && mew_dwarf_lacks_alt(b->dwarf))
		b->lack = MEW_LACK_PART;
	return rc;
}

/* What is said of a module without such a file. */
static enum mew_symbol_lack lack_of(const struct mew_module *module)
{
	return module->fd < 0 && module->error != ESTALE ? MEW_LACK_FILE : MEW_LACK_REPLACED;
}

/*
 * The file that the module was when it was mapped; NULL: it has become another one, by being
 * written over. The same build-id is the same code.
 */
static const struct mew_file *file_of(const struct mew_module *module)
{
	const struct mew_file *now = module->fd >= 0 ? mew_file_at(module->fd) : NULL;

	if (!now || now == module->file)
		return now;
	return now->build_id_bytes && now->build_id_bytes == module->build_id_bytes &&
			       !memcmp(now->build_id, module->build_id, now->build_id_bytes)
		       ? now
		       : NULL;
}

static bool is_vdso(const char *path)
{
	return !strcmp(path, "[vdso]");
}

static int read_file(struct mew_binary *b, const struct mew_module *module)
{
	const void *image;
	size_t bytes;
	int fd, rc;

	elf_version(EV_CURRENT);
	if (is_vdso(b->path)) {
		image = mew_file_vdso_image(&bytes);
		b->own.file = image ? elf_memory((char *)(uintptr_t)image, bytes) : NULL;
		rc = b->own.file ? read_sources(b) : 0;
		b->lack = MEW_LACK_NONE; /* nobody has its debug info */
		return rc;
	}
	b->file = file_of(module);
	if (!b->file) {
		b->lack = lack_of(module);
		return 0;
	}
	fd = fcntl(module->fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0) {
		b->lack = MEW_LACK_FILE;
		return 0;
	}
	rc = open_source(&b->own, fd, &b->lack);
	if (!rc && b->own.file && elf_kind(b->own.file) == ELF_K_ELF)
		return read_sources(b);
	if (!rc && !b->lack)
		b->lack = MEW_LACK_UNREADABLE;
	return rc;
}

struct mew_binary *mew_binary_open(const struct mew_module *module, struct mew_function_pool *pool,
				   int split_clones)
{
	struct mew_binary *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->own.fd = b->debug.fd = -1;
	b->pool = pool;
	b->split_clones = split_clones != 0;
	mew_map_init(&b->found);
	mew_map_init(&b->functions);
	b->path = strdup(module->path);
	if (b->path && !read_file(b, module))
		return b;
	mew_binary_free(b);
	return NULL;
}

void mew_binary_free(struct mew_binary *b)
{
	if (!b)
		return;
	mew_map_done(&b->found);
	mew_map_done(&b->functions);
	mew_dwarf_free(b->dwarf);
	mew_symtab_done(&b->symtab);
	mew_unpacked_done(&b->mini);
	close_source(&b->debug);
	close_source(&b->own);
	free(b->path);
	free(b);
}

int mew_binary_is(const struct mew_binary *b, const struct mew_module *module)
{
	const struct mew_file *file;

	if (strcmp(b->path, module->path) != 0)
		return 0;
	if (is_vdso(b->path))
		return 1;
	file = file_of(module);
	return b->file == file && (file || b->lack == lack_of(module));
}

int mew_binary_is_blank(const struct mew_binary *b)
{
	return !b->own.file || elf_kind(b->own.file) != ELF_K_ELF;
}

/* ---- functions ---- */

/* The function of a symbol, without the suffixes of its pieces. */
static const struct mew_function *symbol_function(struct mew_binary *b,
						  const struct mew_symtab_entry *e)
{
	struct mew_function f = {.module = b->path, .source = MEW_SYMBOL_ELF};
	const struct mew_function *known = NULL;
	struct mew_buffer name = MEW_BUFFER_INIT;
	int rc;

	f.linkage =
		mew_strings_intern(&b->pool->strings, e->linkage, mew_linkage_length(e->linkage));
	if (!f.linkage)
		return NULL;
	rc = mew_demangle(f.linkage, &name);
	f.name = rc ? f.linkage : name.data;
	if (rc != -ENOMEM)
		known = mew_function_intern(b->pool, &f);
	mew_buffer_done(&name);
	return known;
}

/* The function of a DIE; *ret NULL: it has no name. linkage: the symbol at its code, if its own is
 * not to be had. 0 or -ENOMEM. */
static int die_function(struct mew_binary *b, Dwarf_Die *die, const char *linkage,
			const struct mew_function **ret)
{
	struct mew_buffer name = MEW_BUFFER_INIT;
	const struct mew_function *f = NULL;
	/* The bytes of a DIE lie in one place of memory, whichever file they are of. */
	uint64_t key = (uintptr_t)die->addr, value;
	const char *own;
	int rc;

	if (mew_map_get(&b->functions, key, &value)) {
		*ret = (const struct mew_function *)(uintptr_t)value;
		return 0;
	}
	own = mew_dwarf_linkage(die);
	if (own)
		linkage = own;
	rc = linkage ? mew_demangle(linkage, &name) : -EINVAL;
	if (rc == -EINVAL)
		rc = mew_dwarf_name(b->dwarf, die, &name);
	if (!rc && name.len) {
		f = mew_function_intern(
			b->pool, &(struct mew_function){.name = name.data,
							.linkage = linkage,
							.file = mew_dwarf_file(b->dwarf, die),
							.line = mew_dwarf_line(b->dwarf, die),
							.module = b->path,
							.source = MEW_SYMBOL_DWARF});
		rc = f ? 0 : -ENOMEM;
	}
	mew_buffer_done(&name);
	if (!rc)
		rc = mew_map_put(&b->functions, key, (uintptr_t)f);
	if (!rc)
		*ret = f;
	return rc;
}

/* The function f, or the piece or copy of it that the symbol e names: "f [clone .cold]", as
 * c++filt(1) has it. NULL without memory. */
static const struct mew_function *piece_of(struct mew_binary *b, const struct mew_function *f,
					   const struct mew_symtab_entry *e)
{
	size_t len = b->split_clones && e ? mew_linkage_length(e->linkage) : 0, more;
	struct mew_buffer name = MEW_BUFFER_INIT;
	struct mew_function piece = *f;

	more = len ? strcspn(e->linkage + len, "@") : 0;
	if (!more)
		return f;
	f = NULL;
	mew_buffer_printf(&name, "%s [clone %.*s]", piece.name, (int)more, e->linkage + len);
	piece.name = name.data;
	piece.linkage = mew_strings_intern(&b->pool->strings, e->linkage, len + more);
	if (!name.error && piece.linkage)
		f = mew_function_intern(b->pool, &piece);
	mew_buffer_done(&name);
	return f;
}

/* ---- look-ups ---- */

struct mew_found *mew_found_new(struct mew_function_pool *pool, unsigned n)
{
	struct mew_found *f = mew_arena_alloc(pool->arena, sizeof(*f) + n * sizeof(f->frames[0]),
					      _Alignof(struct mew_found));

	if (f) {
		memset(f, 0, sizeof(*f) + n * sizeof(f->frames[0]));
		f->n = n;
	}
	return f;
}

/* The linkage name of e if it is mangled, without the suffixes of pieces. Or NULL. */
static const char *mangled(struct mew_binary *b, const struct mew_symtab_entry *e)
{
	if (!e || (strncmp(e->linkage, "_Z", 2) != 0 && strncmp(e->linkage, "_R", 2) != 0))
		return NULL;
	return mew_strings_intern(&b->pool->strings, e->linkage, mew_linkage_length(e->linkage));
}

/* By DWARF; n 0: it does not know. NULL without memory. */
static struct mew_found *look_up_dwarf(struct mew_binary *b, const struct mew_dwarf_chain *chain,
				       const struct mew_symtab_entry *e)
{
	struct mew_found *f = mew_found_new(b->pool, chain->n);
	uint32_t line = chain->line;
	unsigned i, n = 0;

	for (i = 0; f && i < chain->n; i++) {
		const struct mew_function *function;
		Dwarf_Die die = chain->levels[i].die;
		const char *linkage = NULL;

		if (chain->bare && i + 1 == chain->n)
			linkage = mangled(b, e);
		if (die_function(b, &die, linkage, &function))
			return NULL;
		if (function && i + 1 == chain->n) {
			function = piece_of(b, function, e);
			if (!function)
				return NULL;
		}
		/* An inlined function without a name: its code is its caller's. */
		if (function)
			f->frames[n++] = (struct mew_symbol_frame){function, line, 1};
		else
			f->lack = b->lack;
		if (!function && i + 1 == chain->n)
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

static struct mew_found *look_up(struct mew_binary *b, uint64_t vaddr)
{
	const struct mew_symtab_entry *e = mew_symtab_find(&b->symtab, vaddr);
	const struct mew_function *function;
	struct mew_dwarf_chain chain = {.n = 0};
	struct mew_found *f;

	if (b->dwarf && mew_dwarf_at(b->dwarf, vaddr + b->dwarf_bias, &chain))
		return NULL;
	if (chain.n) {
		f = look_up_dwarf(b, &chain, e);
		if (!f || f->n)
			return f;
	}
	if (!e && !b->none)
		b->none = mew_function_nameless(b->pool, mew_function_base(b->path), b->path);
	function = e ? symbol_function(b, e) : b->none;
	if (function && e)
		function = piece_of(b, function, e);
	f = function ? mew_found_new(b->pool, 1) : NULL;
	if (f) {
		f->frames[0] = (struct mew_symbol_frame){function, chain.line, 0};
		f->lack = chain.split ? MEW_LACK_SPLIT : b->lack;
	}
	return f;
}

const struct mew_found *mew_binary_at(struct mew_binary *b, uint64_t vaddr)
{
	struct mew_found *f;
	uint64_t value;

	if (mew_map_get(&b->found, vaddr, &value)) {
		f = (struct mew_found *)(uintptr_t)value;
	} else {
		f = look_up(b, vaddr);
		if (!f || mew_map_put(&b->found, vaddr, (uintptr_t)f))
			return NULL;
	}
	if (f->lack) {
		b->said = f->lack;
		b->n_poor++;
	}
	return f;
}

uint64_t mew_binary_take_lack(struct mew_binary *b, enum mew_symbol_lack *ret_lack,
			      const char **ret_path)
{
	uint64_t n = b->n_poor;

	*ret_lack = b->said;
	*ret_path = b->path;
	b->n_poor = 0;
	return n;
}

int mew_binary_lacks_debug(const struct mew_binary *b, const char *path,
			   struct mew_buffer *ret_build_id)
{
	uint32_t i;

	if (b->lack != MEW_LACK_DEBUG || strcmp(b->path, path) != 0)
		return 0;
	for (i = 0; b->file && i < b->file->build_id_bytes; i++)
		mew_buffer_printf(ret_build_id, "%02x", b->file->build_id[i]);
	return 1;
}
