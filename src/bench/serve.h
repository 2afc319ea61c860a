/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.h: a benchmark under mew-perf: the target's side of the conversation that channel/message.h
 * describes. Opens the events of a CPU run, and the gate of a heap run.
 */
#ifndef MEW_BENCH_SERVE_H
#define MEW_BENCH_SERVE_H

#include "bench/registry.h"

/*
 * Say HELLO at the socket, then list the cases or run the one that mew-perf names. 0: the process
 * is to exit with status 0; else -errno, with the text for the user. Inside a case, where nobody
 * could return, a connection that breaks ends the process with status 125 and one line.
 */
int mew_serve(const char *path, const struct mew_cases *cases, struct mew_error *error);

#endif
