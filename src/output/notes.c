/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "output/cell.h"
#include "output/output.h"
#include "output/text.h"

/* A module with a smaller part of the figures is not worth a line. */
#define MODULE_SHARE 0.05

struct notes {
	const struct mew_session *session;
	const struct mew_output_options *options;
	mew_output_note_fn fn;
	void *arg;
	struct mew_buffer line;
};

static void say(struct notes *n)
{
	if (!n->line.error)
		n->fn(n->arg, n->line.data);
	mew_buffer_reset(&n->line);
}

/* Does the key, as a pattern, match another case as well? */
static bool is_ambiguous(const struct mew_session *s, const char *key)
{
	size_t i;

	for (i = 0; i < s->n_cases; i++)
		if (strcmp(s->cases[i].key, key) && strstr(s->cases[i].key, key))
			return true;
	return false;
}

/* A pattern for the key, as a shell reads it: bare when that is enough. */
static void put_filter(struct notes *n, const char *key)
{
	bool exact = is_ambiguous(n->session, key) || *key == '-';
	bool quote = exact;
	const char *at;

	for (at = key; *at; at++)
		quote |= !isalnum((unsigned char)*at) && !strchr("_-./:=,@%", *at);
	mew_buffer_puts(&n->line, quote ? "'" : "");
	if (exact)
		mew_buffer_putc(&n->line, '^');
	for (at = key; *at; at++) {
		if (strchr("\\^$[](){}*+?|", *at))
			mew_buffer_putc(&n->line, '\\');
		if (*at == '\'')
			mew_buffer_puts(&n->line, "'\\'");
		/* What a line cannot show may be any character. */
		mew_buffer_putc(&n->line, iscntrl((unsigned char)*at) ? '.' : *at);
	}
	mew_buffer_puts(&n->line, exact ? "$" : "");
	mew_buffer_puts(&n->line, quote ? "'" : "");
}

static void put_hint(struct notes *n, const struct mew_pcase *c)
{
	const struct mew_output_options *o = n->options;

	if (!*c->hint || !o->hint_command || !o->hint_program)
		return;
	mew_buffer_printf(&n->line, "hint: %s", o->hint_command);
	if (!n->session->whole_program) {
		mew_buffer_puts(&n->line, " -k ");
		put_filter(n, c->key);
	}
	mew_buffer_printf(&n->line, " %s %s", c->hint, o->hint_program);
	say(n);
}

static void case_notes(struct notes *n, const struct mew_pcase *c)
{
	if (c->result == MEW_RESULT_FAILED) {
		mew_buffer_printf(&n->line, "warning: %s: failed: %s", c->key, c->reason);
		say(n);
	} else if (c->result == MEW_RESULT_SKIPPED) {
		mew_buffer_printf(&n->line, "%s: skipped: %s", c->key, c->reason);
		say(n);
	} else if (c->result == MEW_RESULT_OK && c->doubtful) {
		mew_buffer_printf(&n->line, "warning: %s: %s", c->key, c->verdict);
		say(n);
		put_hint(n, c);
	}
}

/* Figures of the functions of one module that have no debug info, and whether others have it. */
struct module {
	const char *path;
	bool described;
	double without, nameless; /* nameless: of which only the file is known */
};

static double size_of(const struct mew_session *s, const struct mew_pvalue *v)
{
	return s->kind == MEW_SESSION_CPU ? v->weight_s : (double)v->bytes;
}

/* By leaf, or (heap) by the frame that called: the innermost one that is not the allocator's. */
static const struct mew_pfunction *leaf_of(const struct mew_session *s, uint32_t at)
{
	while (at && s->functions[s->stacks[at].function].role == MEW_ROLE_ALLOCATOR &&
	       s->kind == MEW_SESSION_HEAP)
		at = s->stacks[at].parent;
	return at ? &s->functions[s->stacks[at].function] : NULL;
}

static size_t find_module(struct module *modules, size_t n, const char *path)
{
	size_t i;

	for (i = 0; i < n && strcmp(modules[i].path, path); i++)
		;
	return i;
}

/* Where its debug info may be had. */
static void module_hint(struct notes *n, const char *build_id, const char *package)
{
	const char *servers = *build_id ? n->options->hint_debuginfod : NULL;

	if (*package)
		mew_buffer_printf(&n->line, "hint: the -dbgsym or -dbg package of %s", package);
	else
		mew_buffer_puts(&n->line, "hint: build it with -g");
	if (servers)
		mew_buffer_printf(&n->line, ", or %s", servers);
	say(n);
}

static void module_note(struct notes *n, const struct module *m, double all)
{
	bool own = !n->session->whole_program &&
		   !strcmp(mew_base_name(m->path), mew_base_name(n->session->program));
	bool nameless = m->nameless / all >= MODULE_SHARE, verbose = n->options->verbose;
	struct mew_buffer build_id = MEW_BUFFER_INIT, package = MEW_BUFFER_INIT;
	struct mew_cell cell;

	if (m->described || !(m->without / all >= MODULE_SHARE) || !*m->path ||
	    !(own || nameless || verbose) ||
	    (n->options->module && !n->options->module(m->path, &build_id, &package)))
		goto out;
	mew_buffer_printf(&n->line, "%s'%s' has no debug info: %s of %s", own ? "warning: " : "",
			  verbose ? m->path : mew_base_name(m->path),
			  mew_cell_percent(&cell, m->without / all),
			  n->session->kind == MEW_SESSION_CPU ? "the time" : "the bytes");
	if (verbose && build_id.len)
		mew_buffer_printf(&n->line, ", build-id %s", build_id.data);
	say(n);
	module_hint(n, build_id.len && !own ? build_id.data : "", package.len ? package.data : "");
out:
	mew_buffer_done(&build_id);
	mew_buffer_done(&package);
}

static void module_notes(struct notes *n)
{
	const struct mew_session *s = n->session;
	struct module *modules = calloc(s->n_functions + 1, sizeof(*modules));
	size_t n_modules = 0, i, k, m;
	double all = 0;

	if (!modules)
		return;
	for (i = 0; i < s->n_cases; i++) {
		for (k = 0; k < s->cases[i].n_values; k++) {
			const struct mew_pvalue *v = &s->cases[i].values[k];
			const struct mew_pfunction *f = leaf_of(s, v->stack);

			if (!f)
				continue;
			m = find_module(modules, n_modules, f->module);
			if (m == n_modules)
				modules[n_modules++].path = f->module;
			all += size_of(s, v);
			modules[m].without += *f->file ? 0 : size_of(s, v);
			modules[m].nameless += *f->name == '[' ? size_of(s, v) : 0;
		}
	}
	/* A function that only calls others counts as well: a library may be linked into it. */
	for (i = 0; i < s->n_functions; i++) {
		m = find_module(modules, n_modules, s->functions[i].module);
		if (m < n_modules && *s->functions[i].file)
			modules[m].described = true;
	}
	/* One whose lines are known has some, wherever the rest of it is. */
	for (i = 0; i < s->n_stacks; i++) {
		if (!s->stacks[i].line)
			continue;
		m = find_module(modules, n_modules, s->functions[s->stacks[i].function].module);
		if (m < n_modules)
			modules[m].described = true;
	}
	for (m = 0; m < n_modules; m++)
		module_note(n, &modules[m], all);
	free(modules);
}

static void shortened_note(struct notes *n, size_t n_cut)
{
	if (!n_cut)
		return;
	mew_buffer_printf(&n->line, "hint: %zu name%s shortened; -w shows %s whole", n_cut,
			  n_cut == 1 ? " is" : "s are", n_cut == 1 ? "it" : "them");
	say(n);
}

void mew_output_notes(const struct mew_session *s, const struct mew_output_options *o,
		      mew_output_note_fn fn, void *arg)
{
	struct notes n = {s, o, fn, arg, MEW_BUFFER_INIT};
	struct mew_buffer scratch = MEW_BUFFER_INIT;
	size_t n_cut = 0, i;

	for (i = 0; i < s->n_cases; i++)
		case_notes(&n, &s->cases[i]);
	module_notes(&n);
	if (o->width && !mew_text_cases(s, o, &scratch, &n_cut))
		shortened_note(&n, n_cut);
	mew_buffer_done(&scratch);
	mew_buffer_done(&n.line);
}

void mew_output_report_notes(const struct mew_report *r, const struct mew_output_options *o,
			     mew_output_note_fn fn, void *arg)
{
	struct notes n = {NULL, o, fn, arg, MEW_BUFFER_INIT};
	struct mew_buffer scratch = MEW_BUFFER_INIT;
	size_t n_cut = 0;

	if (o->width && !mew_text_report(r, o, &scratch, &n_cut))
		shortened_note(&n, n_cut);
	mew_buffer_done(&scratch);
	mew_buffer_done(&n.line);
}
