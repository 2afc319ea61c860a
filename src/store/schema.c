/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "store/sql.h"

/*
 * Statement lists, each of which makes the next version of the schema from the one before. What is
 * in a released one is never changed: a later version adds another list.
 *
 * Described for users in mew-perf-recording(5). Fields have the names and units of the CSV; what a
 * case of that kind does not have, or what was not measured, is NULL.
 */
static const char first[] =
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
	"CREATE TABLE session("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" kind TEXT NOT NULL CHECK(kind IN('cpu','mem')),"
	" started INTEGER NOT NULL," /* ns since 1970, UTC */
	" program TEXT NOT NULL, build_id TEXT NOT NULL, arguments TEXT NOT NULL,"
	" tag TEXT NOT NULL, engine TEXT NOT NULL, machine TEXT NOT NULL, version TEXT NOT NULL,"
	" whole_program INTEGER NOT NULL,"
	" complete INTEGER NOT NULL DEFAULT 0);"
	"CREATE TABLE case_("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" session INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,"
	" name TEXT NOT NULL, label TEXT NOT NULL, threads INTEGER NOT NULL,"
	" result TEXT NOT NULL CHECK(result IN('ok','skipped','failed')),"
	" reason TEXT NOT NULL, doubtful INTEGER NOT NULL, hint TEXT NOT NULL,"
	" profiler TEXT, iterations INTEGER, lost INTEGER, verdict TEXT NOT NULL,"
	/* cpu */
	" wall_time REAL, sample_count INTEGER, top_function TEXT,"
	" top_function_total_self_time REAL, interval REAL, paused_time REAL, kernel_time REAL,"
	" off_cpu_time REAL, truncated INTEGER, unknown INTEGER, slowdown REAL, pause_cost REAL,"
	" time_per_iteration REAL, time_spread REAL, user_time REAL, top_share REAL,"
	" top_share_half_width REAL,"
	/* mem */
	" peak_bytes INTEGER, total_bytes INTEGER, total_allocations INTEGER,"
	" allocations_per_iteration REAL, allocated_bytes INTEGER, frees INTEGER,"
	" temporary INTEGER, leaked_bytes INTEGER, first_iteration_allocations INTEGER,"
	" foreign_frees INTEGER, top_allocator TEXT, top_allocator_share REAL);"
	"CREATE INDEX case_session ON case_(session, id);"
	"CREATE TABLE function("
	" session INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,"
	" id INTEGER NOT NULL,"
	" name TEXT NOT NULL, file TEXT NOT NULL, line INTEGER NOT NULL, module TEXT NOT NULL,"
	" role TEXT NOT NULL CHECK(role IN('plain','allocator','wrapper')),"
	" PRIMARY KEY(session, id)) WITHOUT ROWID;"
	"CREATE TABLE stack("
	" session INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,"
	" id INTEGER NOT NULL," /* from 1; 0 is the root */
	" parent INTEGER NOT NULL CHECK(parent < id),"
	" function INTEGER NOT NULL, line INTEGER NOT NULL, inlined INTEGER NOT NULL,"
	" PRIMARY KEY(session, id)) WITHOUT ROWID;"
	"CREATE TABLE cpu_stack("
	" case_ INTEGER NOT NULL REFERENCES case_(id) ON DELETE CASCADE,"
	" stack INTEGER NOT NULL, whole INTEGER NOT NULL,"
	" samples INTEGER NOT NULL, weight REAL NOT NULL,"
	" PRIMARY KEY(case_, stack, whole)) WITHOUT ROWID;"
	"CREATE TABLE heap_stack("
	" case_ INTEGER NOT NULL REFERENCES case_(id) ON DELETE CASCADE,"
	" stack INTEGER NOT NULL, whole INTEGER NOT NULL,"
	" allocations INTEGER NOT NULL, bytes INTEGER NOT NULL, frees INTEGER NOT NULL,"
	" temporary INTEGER NOT NULL, peak_bytes INTEGER NOT NULL, held_bytes INTEGER NOT NULL,"
	" PRIMARY KEY(case_, stack, whole)) WITHOUT ROWID;"
	"CREATE TABLE counter("
	" case_ INTEGER NOT NULL REFERENCES case_(id) ON DELETE CASCADE,"
	" place INTEGER NOT NULL, name TEXT NOT NULL, value REAL,"
	" unit TEXT NOT NULL CHECK(unit IN('','/iteration','/s')),"
	" PRIMARY KEY(case_, place)) WITHOUT ROWID;";

/* The curve of the live heap, sizes, peaks an iteration, mappings. */
static const char second[] =
	"ALTER TABLE case_ ADD COLUMN iteration_peak_min INTEGER;"
	"ALTER TABLE case_ ADD COLUMN iteration_peak_median INTEGER;"
	"ALTER TABLE case_ ADD COLUMN iteration_peak_max INTEGER;"
	"ALTER TABLE case_ ADD COLUMN mapped_calls INTEGER;"
	"ALTER TABLE case_ ADD COLUMN mapped_bytes INTEGER;"
	"ALTER TABLE case_ ADD COLUMN mapped_peak_bytes INTEGER;"
	"ALTER TABLE case_ ADD COLUMN mapped_held_bytes INTEGER;"
	"ALTER TABLE case_ ADD COLUMN hook_bytes INTEGER;"
	"CREATE TABLE heap_curve("
	" case_ INTEGER NOT NULL REFERENCES case_(id) ON DELETE CASCADE,"
	" first_allocation INTEGER NOT NULL,"                   /* from 0 */
	" allocations INTEGER NOT NULL CHECK(allocations > 0)," /* that the point is of */
	" live_bytes INTEGER NOT NULL,"                         /* at most */
	" PRIMARY KEY(case_, first_allocation)) WITHOUT ROWID;"
	"CREATE TABLE heap_size("
	" case_ INTEGER NOT NULL REFERENCES case_(id) ON DELETE CASCADE,"
	" max_bytes INTEGER NOT NULL,"
	" allocations INTEGER NOT NULL,"
	" PRIMARY KEY(case_, max_bytes)) WITHOUT ROWID;";

const char *const mew_store_schema[MEW_STORE_SCHEMA_VERSION] = {first, second};
