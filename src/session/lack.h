/* SPDX-License-Identifier: Apache-2.0 */
/* lack.h: what is said of files whose functions are not known as well as they might be. */
#ifndef MEW_SESSION_LACK_H
#define MEW_SESSION_LACK_H

#include "session/session.h"

/* A warning and a hint for each file that was looked into since the last call. */
void mew_lacks_note(const struct mew_run_options *o);

#endif
