/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "store/sql.h"

/* The system's own words where SQLite has only "unable to open" or "disk I/O error". */
static int system_errno(sqlite3 *db, int otherwise)
{
	int code = sqlite3_system_errno(db);

	return code ? -code : otherwise;
}

int mew_sql_error(struct mew_store *st, int rc, struct mew_error *error)
{
	const char *path = st->path;

	switch (rc & 0xff) {
	case SQLITE_NOMEM:
		return mew_error_errno(error, -ENOMEM, "recording '%s'", path);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return mew_error_set(error, -EBUSY, "recording '%s' is locked by another program",
				     path);
	case SQLITE_FULL:
		return mew_error_errno(error, -ENOSPC, "cannot write recording '%s'", path);
	case SQLITE_READONLY:
		return mew_error_set(error, -EACCES, "recording '%s' is read-only", path);
	case SQLITE_PERM:
		return mew_error_errno(error, -EACCES, "cannot open recording '%s'", path);
	case SQLITE_CANTOPEN:
		return mew_error_errno(error, system_errno(st->db, -EIO),
				       "cannot open recording '%s'", path);
	case SQLITE_IOERR:
		return mew_error_errno(error, system_errno(st->db, -EIO),
				       "cannot read or write recording '%s'", path);
	case SQLITE_NOTADB:
		return mew_error_set(error, -EINVAL, "'%s' is not a recording", path);
	case SQLITE_CORRUPT:
		return mew_sql_damaged(st, error, sqlite3_errmsg(st->db));
	default:
		return mew_error_set(error, -EBADMSG, "recording '%s': %s", path,
				     sqlite3_errmsg(st->db));
	}
}

int mew_sql_damaged(struct mew_store *st, struct mew_error *error, const char *what)
{
	return mew_error_set(error, -EBADMSG, "recording '%s' is damaged: %s", st->path, what);
}

int mew_sql_run(struct mew_store *st, const char *sql, struct mew_error *error)
{
	int rc = sqlite3_exec(st->db, sql, NULL, NULL, NULL);

	return rc ? mew_sql_error(st, rc, error) : 0;
}

int mew_sql_prepare(struct mew_store *st, const char *sql, sqlite3_stmt **ret,
		    struct mew_error *error)
{
	int rc = sqlite3_prepare_v2(st->db, sql, -1, ret, NULL);

	return rc ? mew_sql_error(st, rc, error) : 0;
}

int mew_sql_step(struct mew_store *st, sqlite3_stmt *stmt, struct mew_error *error)
{
	int rc = sqlite3_step(stmt);

	return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : mew_sql_error(st, rc, error);
}

int mew_sql_execute(struct mew_store *st, sqlite3_stmt *stmt, struct mew_error *error)
{
	int err = mew_sql_step(st, stmt, error);

	sqlite3_reset(stmt);
	return err < 0 ? err : 0;
}

int mew_sql_number(struct mew_store *st, const char *sql, int64_t parameter, int64_t *ret,
		   struct mew_error *error)
{
	sqlite3_stmt *stmt = NULL;
	int err = mew_sql_prepare(st, sql, &stmt, error);

	if (!err) {
		if (sqlite3_bind_parameter_count(stmt))
			sqlite3_bind_int64(stmt, 1, parameter);
		err = mew_sql_step(st, stmt, error);
	}
	if (err > 0)
		*ret = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return err < 0 ? err : 0;
}

void mew_sql_bind_text(sqlite3_stmt *stmt, int at, const char *text)
{
	sqlite3_bind_text(stmt, at, text, -1, SQLITE_STATIC);
}

void mew_sql_bind_u64(sqlite3_stmt *stmt, int at, uint64_t value)
{
	sqlite3_bind_int64(stmt, at, value < INT64_MAX ? (int64_t)value : INT64_MAX);
}

void mew_sql_bind_double(sqlite3_stmt *stmt, int at, double value)
{
	sqlite3_bind_double(stmt, at, value);
}

const char *mew_sql_text(sqlite3_stmt *stmt, int at)
{
	const unsigned char *text = sqlite3_column_text(stmt, at);

	return text ? (const char *)text : "";
}

uint64_t mew_sql_u64(sqlite3_stmt *stmt, int at)
{
	int64_t value = sqlite3_column_int64(stmt, at);

	return value > 0 ? (uint64_t)value : 0;
}

double mew_sql_double(sqlite3_stmt *stmt, int at)
{
	return sqlite3_column_type(stmt, at) == SQLITE_NULL ? (double)NAN
							    : sqlite3_column_double(stmt, at);
}
