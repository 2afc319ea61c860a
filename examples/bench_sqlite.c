/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite in memory: a transaction of inserts, a look-up by key, a sum over groups. */
#include <mew/mew.h>
#include <sqlite3.h>
#include <stdlib.h>

enum { N_ROWS = 10000, N_INSERTS = 100, N_GROUPS = 10 };

/* An empty table in a database in memory. NULL: the case has failed. */
static sqlite3 *open_table(struct mew_state *state)
{
	sqlite3 *db = NULL;

	if (sqlite3_open(":memory:", &db) == SQLITE_OK &&
	    sqlite3_exec(db, "CREATE TABLE item (id INTEGER PRIMARY KEY, part INT, name TEXT)",
			 NULL, NULL, NULL) == SQLITE_OK)
		return db;
	mew_fail(state, "%s", sqlite3_errmsg(db));
	sqlite3_close(db);
	return NULL;
}

static sqlite3_stmt *prepare(struct mew_state *state, sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		mew_fail(state, "%s", sqlite3_errmsg(db));
	return stmt;
}

/* Rows first .. first + n - 1 in one transaction. */
static int insert_rows(sqlite3 *db, sqlite3_stmt *insert, int first, int n)
{
	int err = sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);

	for (int i = first; i < first + n && err == SQLITE_OK; i++) {
		sqlite3_bind_int(insert, 1, i);
		sqlite3_bind_int(insert, 2, i % N_GROUPS);
		sqlite3_bind_text(insert, 3, "a name of some length", -1, SQLITE_STATIC);
		sqlite3_step(insert);
		err = sqlite3_reset(insert);
	}
	return err == SQLITE_OK ? sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) : err;
}

static const char insert_sql[] = "INSERT INTO item VALUES (?, ?, ?)";

MEW_BENCHMARK(insert_transaction, state)
{
	sqlite3 *db = open_table(state);
	sqlite3_stmt *insert = prepare(state, db, insert_sql);

	MEW_LOOP(state) {
		if (insert_rows(db, insert, 0, N_INSERTS) != SQLITE_OK)
			mew_fail(state, "%s", sqlite3_errmsg(db));
		MEW_PAUSE(state) {
			sqlite3_exec(db, "DELETE FROM item", NULL, NULL, NULL);
		}
	}
	mew_items_per_iteration(state, N_INSERTS);
	sqlite3_finalize(insert);
	sqlite3_close(db);
}

/* A table of N_ROWS rows. NULL: the case has failed. */
static sqlite3 *open_filled(struct mew_state *state)
{
	sqlite3 *db = open_table(state);
	sqlite3_stmt *insert = prepare(state, db, insert_sql);

	if (insert && insert_rows(db, insert, 0, N_ROWS) != SQLITE_OK)
		mew_fail(state, "%s", sqlite3_errmsg(db));
	sqlite3_finalize(insert);
	return db;
}

MEW_BENCHMARK(select_by_key, state)
{
	sqlite3 *db = open_filled(state);
	sqlite3_stmt *select = prepare(state, db, "SELECT name FROM item WHERE id = ?");
	int id = 0;

	MEW_LOOP(state) {
		id = (id + 7919) % N_ROWS;
		sqlite3_bind_int(select, 1, id);
		if (sqlite3_step(select) != SQLITE_ROW)
			mew_fail(state, "no row %d", id);
		MEW_KEEP(sqlite3_column_text(select, 0));
		sqlite3_reset(select);
	}
	sqlite3_finalize(select);
	sqlite3_close(db);
}

MEW_BENCHMARK(sum_by_group, state)
{
	sqlite3 *db = open_filled(state);
	sqlite3_stmt *sum = prepare(state, db, "SELECT part, sum(id) FROM item GROUP BY part");

	MEW_LOOP(state) {
		int n = 0;

		while (sqlite3_step(sum) == SQLITE_ROW)
			n++;
		if (n != N_GROUPS)
			mew_fail(state, "%d groups, not %d", n, N_GROUPS);
		sqlite3_reset(sum);
	}
	mew_items_per_iteration(state, N_ROWS);
	sqlite3_finalize(sum);
	sqlite3_close(db);
}

MEW_MAIN();
