/* SPDX-License-Identifier: Apache-2.0 */
/* formats.h: the formats, one a file, for the array of them in formats.c. */
#ifndef MEW_OUTPUT_FORMATS_H
#define MEW_OUTPUT_FORMATS_H

#include "output/output.h"

extern const struct mew_output_format mew_output_text; /* text.c */
extern const struct mew_output_format mew_output_csv;  /* csv.c */

#endif
