/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sql.h"

/* "mewp": file(1) and others tell a recording from any SQLite file by it. */
#define APPLICATION_ID 1835366256 /* 0x6d657770 */

#define TEXT_OF(x) TEXT_OF_(x)
#define TEXT_OF_(x) #x

/* Another mew-perf writes a case in a fraction of this. */
enum { BUSY_MS = 10000 };

static int read_ids(struct mew_store *st, int64_t *id, int64_t *version, int64_t *n_objects,
		    struct mew_error *error)
{
	int err = mew_sql_number(st, "PRAGMA application_id", 0, id, error);

	if (!err)
		err = mew_sql_number(st, "PRAGMA user_version", 0, version, error);
	if (!err)
		err = mew_sql_number(st, "SELECT count(*) FROM sqlite_schema", 0, n_objects, error);
	return err;
}

/* From version `from` of the schema to this one's. */
static int upgrade(struct mew_store *st, int64_t from, struct mew_error *error)
{
	char version[64];
	int err = 0;

	for (int64_t i = from; i < MEW_STORE_SCHEMA_VERSION && !err; i++)
		err = mew_sql_run(st, mew_store_schema[i], error);
	if (!err && from < MEW_STORE_SCHEMA_VERSION) {
		snprintf(version, sizeof(version), "PRAGMA user_version = %d",
			 MEW_STORE_SCHEMA_VERSION);
		err = mew_sql_run(st, version, error);
	}
	st->version = MEW_STORE_SCHEMA_VERSION;
	return err;
}

/* Whether the file is a recording; in an empty one the schema is made, if it may be. */
static int check_schema(struct mew_store *st, struct mew_error *error)
{
	int64_t id = 0, version = 0, n_objects = 0;
	int err = read_ids(st, &id, &version, &n_objects, error);

	if (err)
		return err;
	if (!id && !version && !n_objects && st->mode == MEW_STORE_WRITE) {
		err = upgrade(st, 0, error);
		if (!err)
			err = mew_sql_run(st,
					  "INSERT INTO meta VALUES('made_by','" PACKAGE_STRING "');"
					  "PRAGMA application_id = " TEXT_OF(APPLICATION_ID),
					  error);
		return err;
	}
	if (id != APPLICATION_ID)
		return mew_error_set(error, -EINVAL, "'%s' is not a recording of mew-perf",
				     st->path);
	if (version > MEW_STORE_SCHEMA_VERSION)
		return mew_error_set(error, -EPROTONOSUPPORT,
				     "recording '%s' was made by a newer mew-perf (format %lld, "
				     "this one knows %d)",
				     st->path, (long long)version, MEW_STORE_SCHEMA_VERSION);
	if (version < 1)
		return mew_sql_damaged(st, error, "it has no version");
	st->version = version;
	return st->mode == MEW_STORE_WRITE ? upgrade(st, version, error) : 0;
}

/* SQLite opens a directory as it does a file, and only says later that it cannot. */
static int check_path(struct mew_store *st, struct mew_error *error)
{
	struct stat status;
	int err;

	if (stat(st->path, &status)) {
		err = -errno;
		st->is_new = err == -ENOENT;
		return err == -ENOENT && st->mode == MEW_STORE_WRITE
			       ? 0
			       : mew_error_errno(error, err, "cannot open recording '%s'",
						 st->path);
	}
	if (S_ISDIR(status.st_mode))
		return mew_error_errno(error, -EISDIR, "cannot open recording '%s'", st->path);
	if (!S_ISREG(status.st_mode))
		return mew_error_set(error, -EINVAL, "'%s' is not a recording", st->path);
	return 0;
}

/* A killed writer leaves a journal, which even a reader must be able to play back: so both open for
 * reading and writing, and SQLite falls back to reading where that is all one may. */
static int open_file(struct mew_store *st, struct mew_error *error)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_EXRESCODE, rc;

	if (st->mode == MEW_STORE_WRITE)
		flags |= SQLITE_OPEN_CREATE;
	rc = sqlite3_open_v2(st->path, &st->db, flags, NULL);
	if (rc)
		return mew_sql_error(st, rc, error);
	if (st->mode == MEW_STORE_WRITE && sqlite3_db_readonly(st->db, "main") == 1)
		return mew_error_set(error, -EACCES, "recording '%s' is read-only", st->path);
	sqlite3_busy_timeout(st->db, BUSY_MS);
	sqlite3_db_config(st->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(st->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	return 0;
}

/* One file that people move about: no WAL beside it. The rollback journal with full sync keeps what
 * was committed through a killed process and a lost power supply alike. */
static int prepare(struct mew_store *st, struct mew_error *error)
{
	int err;

	if (st->mode == MEW_STORE_READ) {
		err = mew_sql_run(st, "PRAGMA query_only = ON; BEGIN", error);
	} else {
		err = mew_sql_run(st,
				  "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL;"
				  "BEGIN IMMEDIATE",
				  error);
	}
	if (!err)
		err = check_schema(st, error);
	if (!err)
		err = mew_sql_run(st, "COMMIT", error);
	return err;
}

struct mew_store *mew_store_open(const char *path, enum mew_store_mode mode,
				 struct mew_error *error)
{
	struct mew_store *st = calloc(1, sizeof(*st));
	int err;

	if (!st || !(st->path = strdup(path))) {
		mew_error_errno(error, -ENOMEM, "cannot open recording '%s'", path);
		mew_store_close(st);
		return NULL;
	}
	st->mode = mode;
	err = check_path(st, error);
	if (!err)
		err = open_file(st, error);
	if (!err)
		err = prepare(st, error);
	if (err) {
		mew_store_close(st);
		return NULL;
	}
	return st;
}

/* Whether nothing is in it but perhaps our session's head: another mew-perf may have found the new
 * file and begun to write. Without a schema it is empty too. */
static int is_empty(struct mew_store *st)
{
	int64_t n = 0;
	int err = mew_sql_number(st,
				 "SELECT (SELECT count(*) FROM case_) +"
				 " (SELECT count(*) FROM session WHERE id <> ?)",
				 st->session, &n, NULL);

	return err ? err != -EBUSY : !n;
}

void mew_store_close(struct mew_store *st)
{
	int is_litter;

	if (!st)
		return;
	is_litter = st->is_new && st->db && is_empty(st);
	/* An open transaction is rolled back. */
	sqlite3_close(st->db);
	if (is_litter)
		unlink(st->path);
	free(st->path);
	free(st);
}
