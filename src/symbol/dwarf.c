/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "symbol/dwarf.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"

#define NESTING_MAX 256   /* DIEs inside each other */
#define LOOK_BACK_MAX 256 /* ranges that may lie inside the one that is looked for */
#define NO_SCOPE UINT32_MAX

/* A range of addresses of a unit or a function. */
struct range {
	uint64_t lo, hi;
	uint64_t reach; /* the highest hi of all ranges up to this one */
	uint64_t value; /* index of a unit, or offset of a DIE */
};

struct ranges {
	struct range *items; /* owned; sorted by lo, the wider first */
	size_t n, cap;
};

/* A namespace, class or function that others lie in. */
struct scope {
	uint64_t off; /* of its DIE */
	uint32_t parent;
};

/* The scope of a function's DIE, whether it has code or is a declaration. */
struct member {
	uint64_t off;
	uint32_t scope;
};

struct unit {
	Dwarf_Die cudie; /* has the line table */
	Dwarf_Die funcs; /* the DIE below which functions are: cudie, or that of the split file */
	bool split;      /* that file is missing */
	bool read;
	bool named; /* has namespaces or classes */
	struct ranges functions;
	struct scope *scopes; /* owned */
	size_t n_scopes, cap_scopes;
	struct member *members; /* owned; in order of off */
	size_t n_members, cap_members;
};

struct mew_dwarf {
	Dwarf *dwarf;
	struct unit **units; /* owned, each; those with code, and those that were referred to */
	size_t n_units, cap_units;
	struct mew_map by_cu; /* Dwarf_CU * of funcs -> index of the unit */
	struct ranges ranges; /* value: index of the unit */
};

/* ---- ranges ---- */

static int compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	if (x->hi != y->hi)
		return x->hi > y->hi ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static void ranges_sort(struct ranges *r)
{
	uint64_t reach = 0;
	size_t i;

	if (r->n)
		qsort(r->items, r->n, sizeof(*r->items), compare);
	for (i = 0; i < r->n; i++) {
		if (r->items[i].hi > reach)
			reach = r->items[i].hi;
		r->items[i].reach = reach;
	}
}

/* The innermost range that covers vaddr. */
static const struct range *ranges_find(const struct ranges *r, uint64_t vaddr)
{
	size_t lo = 0, hi = r->n, n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->items[mid].lo <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (n = 0; lo && n < LOOK_BACK_MAX && r->items[lo - 1].reach > vaddr; n++) {
		if (r->items[--lo].hi > vaddr)
			return &r->items[lo];
	}
	return NULL;
}

/* All ranges of a DIE. */
static int ranges_add(struct ranges *r, Dwarf_Die *die, uint64_t value)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t off = 0;

	while ((off = dwarf_ranges(die, off, &base, &lo, &hi)) > 0) {
		if (hi <= lo)
			continue;
		if (MEW_ARRAY_PUSH(r->items, r->n, r->cap))
			return -ENOMEM;
		r->items[r->n++] = (struct range){.lo = lo, .hi = hi, .value = value};
	}
	return 0;
}

/* ---- units ---- */

static struct unit *add_unit(struct mew_dwarf *d, const Dwarf_Die *cudie, const Dwarf_Die *funcs)
{
	struct unit *u;

	if (MEW_ARRAY_PUSH(d->units, d->n_units, d->cap_units))
		return NULL;
	u = calloc(1, sizeof(*u));
	if (!u)
		return NULL;
	u->cudie = *cudie;
	u->funcs = *funcs;
	if (mew_map_put(&d->by_cu, (uintptr_t)funcs->cu, d->n_units)) {
		free(u);
		return NULL;
	}
	d->units[d->n_units++] = u;
	return u;
}

static int read_units(struct mew_dwarf *d)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die cudie, subdie;
	uint8_t type;
	int rc = 0;

	while (!rc && !dwarf_get_units(d->dwarf, cu, &cu, NULL, &type, &cudie, &subdie)) {
		bool skeleton = type == DW_UT_skeleton;
		size_t before = d->ranges.n;
		struct unit *u;

		if (type != DW_UT_compile && !skeleton)
			continue;
		rc = ranges_add(&d->ranges, &cudie, d->n_units);
		if (rc || d->ranges.n == before)
			continue;
		u = add_unit(d, &cudie, skeleton && subdie.addr ? &subdie : &cudie);
		if (!u)
			return -ENOMEM;
		u->split = skeleton && !subdie.addr;
	}
	ranges_sort(&d->ranges);
	return rc;
}

int mew_dwarf_new(Elf *elf, struct mew_dwarf **ret)
{
	struct mew_dwarf *d;
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	int rc;

	*ret = NULL;
	if (!dwarf)
		return 0;
	d = calloc(1, sizeof(*d));
	if (!d) {
		dwarf_end(dwarf);
		return -ENOMEM;
	}
	d->dwarf = dwarf;
	rc = read_units(d);
	if (rc || !d->ranges.n) {
		mew_dwarf_free(d);
		return rc;
	}
	*ret = d;
	return 0;
}

void mew_dwarf_free(struct mew_dwarf *d)
{
	size_t i;

	if (!d)
		return;
	for (i = 0; i < d->n_units; i++) {
		free(d->units[i]->functions.items);
		free(d->units[i]->scopes);
		free(d->units[i]->members);
		free(d->units[i]);
	}
	free(d->units);
	free(d->ranges.items);
	mew_map_done(&d->by_cu);
	dwarf_end(d->dwarf);
	free(d);
}

/* ---- the functions of a unit ---- */

/* One DIE of the walk over a unit. */
struct level {
	Dwarf_Die die;
	uint32_t scope; /* of its children */
};

/* What the DIE is to the unit. *ret_inside: whether there may be functions below it. */
static int visit(struct unit *u, struct level *at, uint32_t scope, bool *ret_inside)
{
	int tag = dwarf_tag(&at->die);
	uint64_t off = dwarf_dieoffset(&at->die);

	at->scope = scope;
	*ret_inside = true;
	switch (tag) {
	case DW_TAG_subprogram:
		if (MEW_ARRAY_PUSH(u->members, u->n_members, u->cap_members))
			return -ENOMEM;
		u->members[u->n_members++] = (struct member){off, scope};
		if (ranges_add(&u->functions, &at->die, off))
			return -ENOMEM;
		break;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
		u->named = true;
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return 0;
	default:
		*ret_inside = false;
		return 0;
	}
	if (u->n_scopes >= NO_SCOPE || MEW_ARRAY_PUSH(u->scopes, u->n_scopes, u->cap_scopes))
		return -ENOMEM;
	at->scope = (uint32_t)u->n_scopes;
	u->scopes[u->n_scopes++] = (struct scope){off, scope};
	return 0;
}

static int read_unit(struct unit *u)
{
	struct level *stack;
	unsigned depth = 0;
	bool inside;
	int rc = 0;

	if (u->read)
		return 0;
	stack = calloc(NESTING_MAX, sizeof(*stack));
	if (!stack)
		return -ENOMEM;
	if (u->split || dwarf_child(&u->funcs, &stack[0].die) != 0)
		goto out;
	for (;;) {
		struct level *at = &stack[depth];

		rc = visit(u, at, depth ? stack[depth - 1].scope : NO_SCOPE, &inside);
		if (rc)
			break;
		if (inside && depth + 1 < NESTING_MAX &&
		    dwarf_child(&at->die, &stack[depth + 1].die) == 0) {
			depth++;
			continue;
		}
		while (dwarf_siblingof(&stack[depth].die, &stack[depth].die) != 0) {
			if (!depth)
				goto out;
			depth--;
		}
	}
out:
	free(stack);
	if (rc) {
		/* The next look-up starts again. */
		u->functions.n = u->n_scopes = u->n_members = 0;
		return rc;
	}
	ranges_sort(&u->functions);
	u->read = true;
	return 0;
}

/* Whether names of the unit's language live in namespaces. */
static bool has_scopes(Dwarf_Die *funcs)
{
	switch (dwarf_srclang(funcs)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case DW_LANG_Rust:
	case DW_LANG_D:
	case -1: /* a part of many units, which dwz made */
		return true;
	default:
		return false;
	}
}

/* ---- the chain at an address ---- */

static uint32_t call_line(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word line;

	if (!dwarf_attr(die, DW_AT_call_line, &attr) || dwarf_formudata(&attr, &line) ||
	    line > UINT32_MAX)
		return 0;
	return (uint32_t)line;
}

/* Adds a level inside of the others; the innermost is at the end for now. */
static void push_level(struct mew_dwarf_chain *c, Dwarf_Die *die)
{
	if (c->n == MEW_DWARF_DEPTH)
		return;
	c->levels[c->n].die = *die;
	c->levels[c->n].call_line = c->n ? call_line(die) : 0;
	c->n++;
}

/* Follows the blocks and inlined functions that cover vaddr, from the function `die` inwards. */
static void descend(Dwarf_Die *die, uint64_t vaddr, struct mew_dwarf_chain *c)
{
	Dwarf_Die at, child = *die;
	unsigned depth = 0;

	push_level(c, die);
	while (depth++ < NESTING_MAX && dwarf_child(&child, &at) == 0) {
		bool found = false;

		do {
			int tag = dwarf_tag(&at);

			if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block &&
			    tag != DW_TAG_try_block && tag != DW_TAG_catch_block)
				continue;
			if (dwarf_haspc(&at, vaddr) != 1)
				continue;
			found = true;
			if (tag == DW_TAG_inlined_subroutine)
				push_level(c, &at);
			break;
		} while (dwarf_siblingof(&at, &at) == 0);
		if (!found)
			return;
		child = at;
	}
}

static void reverse(struct mew_dwarf_chain *c)
{
	unsigned i;

	for (i = 0; i < c->n / 2; i++) {
		struct mew_dwarf_level t = c->levels[i];

		c->levels[i] = c->levels[c->n - 1 - i];
		c->levels[c->n - 1 - i] = t;
	}
}

int mew_dwarf_at(struct mew_dwarf *d, uint64_t vaddr, struct mew_dwarf_chain *ret)
{
	const struct range *range = ranges_find(&d->ranges, vaddr);
	struct unit *u;
	Dwarf_Die die;
	Dwarf_Line *line;
	int number;

	ret->n = 0;
	ret->line = 0;
	ret->split = false;
	ret->bare = false;
	if (!range)
		return 0;
	u = d->units[range->value];
	ret->split = u->split;
	line = dwarf_getsrc_die(&u->cudie, vaddr);
	if (line && !dwarf_lineno(line, &number) && number > 0)
		ret->line = (uint32_t)number;
	if (read_unit(u))
		return -ENOMEM;
	ret->bare = !u->named && has_scopes(&u->funcs);
	range = ranges_find(&u->functions, vaddr);
	if (range && dwarf_offdie(dwarf_cu_getdwarf(u->funcs.cu), range->value, &die)) {
		descend(&die, vaddr, ret);
		reverse(ret);
	}
	return 0;
}

/* ---- names ---- */

const char *mew_dwarf_linkage(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		return dwarf_formstring(&attr);
	return NULL;
}

/* The DIE that was written where the function is declared: not the one of its code. */
static Dwarf_Die origin_of(const Dwarf_Die *die)
{
	static const unsigned links[] = {DW_AT_abstract_origin, DW_AT_specification};
	Dwarf_Die at = *die, next;
	Dwarf_Attribute attr;
	unsigned n, i;

	for (n = 0; n < 16; n++) {
		for (i = 0; i < 2; i++) {
			if (dwarf_attr(&at, links[i], &attr) && dwarf_formref_die(&attr, &next))
				break;
		}
		if (i == 2)
			break;
		at = next;
	}
	return at;
}

static int compare_member(const void *key, const void *item)
{
	uint64_t off = *(const uint64_t *)key;
	const struct member *m = item;

	return off < m->off ? -1 : off > m->off;
}

/* Whether die is the body of a lambda, as gcc has it: it says of neither name nor place much. */
static bool is_lambda(Dwarf_Die *origin)
{
	Dwarf_Attribute attr;
	const char *name = dwarf_diename(origin);

	return name && !strcmp(name, "operator()") && dwarf_hasattr(origin, DW_AT_artificial) &&
	       !dwarf_attr(origin, DW_AT_decl_line, &attr);
}

static int add_scope_name(struct unit *u, uint32_t scope, bool of_lambda, struct mew_buffer *out)
{
	const char *name;
	Dwarf_Die die;

	if (!dwarf_offdie(dwarf_cu_getdwarf(u->funcs.cu), u->scopes[scope].off, &die))
		return 0;
	name = dwarf_diename(&die);
	if (!name)
		name = dwarf_tag(&die) == DW_TAG_namespace ? "(anonymous namespace)"
		       : of_lambda                         ? "{lambda}"
							   : "(anonymous)";
	mew_buffer_puts(out, name);
	return mew_buffer_puts(out, "::");
}

/* The unit that die lies in, which may be another one than its code's: LTO, dwz. */
static struct unit *unit_of(struct mew_dwarf *d, Dwarf_CU *cu)
{
	Dwarf_Die cudie;
	uint64_t index;

	if (mew_map_get(&d->by_cu, (uintptr_t)cu, &index))
		return d->units[index];
	if (dwarf_cu_info(cu, NULL, NULL, &cudie, NULL, NULL, NULL, NULL))
		return NULL;
	return add_unit(d, &cudie, &cudie);
}

/* *ret_unit, *ret_scope: what the function's origin lies in; NO_SCOPE: in nothing. 0 or -ENOMEM. */
static int find_scope(struct mew_dwarf *d, Dwarf_Die *origin, struct unit **ret_unit,
		      uint32_t *ret_scope)
{
	uint64_t off = dwarf_dieoffset(origin);
	const struct member *member = NULL;
	struct unit *u = unit_of(d, origin->cu);

	*ret_scope = NO_SCOPE;
	*ret_unit = u;
	if (!u || !has_scopes(&u->funcs))
		return 0;
	if (read_unit(u))
		return -ENOMEM;
	if (u->n_members)
		member = bsearch(&off, u->members, u->n_members, sizeof(*u->members),
				 compare_member);
	if (member)
		*ret_scope = member->scope;
	return 0;
}

/* The DIE that says where die is declared: that of the closure for a lambda. */
static Dwarf_Die declared(struct mew_dwarf *d, const Dwarf_Die *die)
{
	Dwarf_Die origin = origin_of(die), closure;
	uint32_t scope;
	struct unit *u;

	if (is_lambda(&origin) && !find_scope(d, &origin, &u, &scope) && scope != NO_SCOPE &&
	    dwarf_offdie(dwarf_cu_getdwarf(u->funcs.cu), u->scopes[scope].off, &closure))
		return closure;
	return *die;
}

/*
 * Not by dwarf_decl_file(): that of elfutils 0.188 ends the program when a split unit has no file
 * table of its own, and takes file 0 for none, which DWARF 5 makes the unit's source.
 */
const char *mew_dwarf_file(struct mew_dwarf *d, Dwarf_Die *die)
{
	Dwarf_Die at = declared(d, die);
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Half version;
	Dwarf_Word index;
	struct unit *u;
	size_t n;

	if (!dwarf_attr_integrate(&at, DW_AT_decl_file, &attr) || dwarf_formudata(&attr, &index))
		return NULL;
	if (!index &&
	    (dwarf_cu_info(attr.cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) || version < 5))
		return NULL;
	u = unit_of(d, attr.cu);
	if (!u ||
	    (dwarf_getsrcfiles(&u->funcs, &files, &n) && dwarf_getsrcfiles(&u->cudie, &files, &n)))
		return NULL;
	return index < n ? dwarf_filesrc(files, (size_t)index, NULL, NULL) : NULL;
}

uint32_t mew_dwarf_line(struct mew_dwarf *d, Dwarf_Die *die)
{
	Dwarf_Die at = declared(d, die);
	int line;

	return !dwarf_decl_line(&at, &line) && line > 0 ? (uint32_t)line : 0;
}

int mew_dwarf_name(struct mew_dwarf *d, Dwarf_Die *die, struct mew_buffer *out)
{
	uint32_t scopes[NESTING_MAX], n = 0, scope;
	Dwarf_Die origin = origin_of(die);
	const char *name = dwarf_diename(die);
	bool lambda = is_lambda(&origin);
	struct unit *u;

	if (!name || !*name)
		return 0;
	if (find_scope(d, &origin, &u, &scope))
		return -ENOMEM;
	for (; scope != NO_SCOPE && n < NESTING_MAX; scope = u->scopes[scope].parent)
		scopes[n++] = scope;
	while (n--)
		add_scope_name(u, scopes[n], lambda && !n, out);
	return mew_buffer_puts(out, name);
}

int mew_dwarf_lacks_alt(const struct mew_dwarf *d)
{
	const char *name;
	const void *id;

	return dwelf_dwarf_gnu_debugaltlink(d->dwarf, &name, &id) > 0 && !dwarf_getalt(d->dwarf);
}
