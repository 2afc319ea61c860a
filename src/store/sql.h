/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql.h: what the files of this part share: the open recording, statements, and SQLite's failures
 * as errors that a person reads.
 */
#ifndef MEW_STORE_SQL_H
#define MEW_STORE_SQL_H

#include <sqlite3.h>

#include "store/store.h"

struct mew_store {
	sqlite3 *db;
	char *path;
	enum mew_store_mode mode;
	int64_t version; /* of the file's schema; a writer brings it up to date */
	int is_new;      /* the file was not there, and no case of ours is in it yet */
	int64_t session; /* begun last; 0: none */
};

/* Element i makes version i + 1 of version i; 0 is an empty file. */
#define MEW_STORE_SCHEMA_VERSION 2
extern const char *const mew_store_schema[MEW_STORE_SCHEMA_VERSION];

/* The failure that db has just had, as error; always negative. */
int mew_sql_error(struct mew_store *st, int rc, struct mew_error *error);

/* The recording's content contradicts itself. -EBADMSG. */
int mew_sql_damaged(struct mew_store *st, struct mew_error *error, const char *what);

/* Statements without results. 0 or negative errno. */
int mew_sql_run(struct mew_store *st, const char *sql, struct mew_error *error);

/* *ret is the caller's, by sqlite3_finalize. 0 or negative errno. */
int mew_sql_prepare(struct mew_store *st, const char *sql, sqlite3_stmt **ret,
		    struct mew_error *error);

/* Step to the next row: 1, 0 at the end, or negative errno. */
int mew_sql_step(struct mew_store *st, sqlite3_stmt *stmt, struct mew_error *error);

/* Run a bound statement that gives no rows, and make it ready for the next values. */
int mew_sql_execute(struct mew_store *st, sqlite3_stmt *stmt, struct mew_error *error);

/* The first column of the only row of sql with one parameter. 0 or negative errno. */
int mew_sql_number(struct mew_store *st, const char *sql, int64_t parameter, int64_t *ret,
		   struct mew_error *error);

/* Binding never fails but without memory, which the step then tells. */
void mew_sql_bind_text(sqlite3_stmt *stmt, int at, const char *text);
void mew_sql_bind_u64(sqlite3_stmt *stmt, int at, uint64_t value);
void mew_sql_bind_double(sqlite3_stmt *stmt, int at, double value); /* NAN is NULL */

/* Columns; NULL is "", 0 or NAN. */
const char *mew_sql_text(sqlite3_stmt *stmt, int at); /* until the next step */
uint64_t mew_sql_u64(sqlite3_stmt *stmt, int at);
double mew_sql_double(sqlite3_stmt *stmt, int at);

#endif
