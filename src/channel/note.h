/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note.h: the ELF note by which mew-perf knows a benchmark without starting it. mew/mew.h leaves it
 * in the program that uses MEW_MAIN or MEW_NOTE: an allocated SHT_NOTE section, so it lies in a
 * PT_NOTE segment. Its desc is one 32-bit word, the version of the conversation in message.h.
 */
#ifndef MEW_CHANNEL_NOTE_H
#define MEW_CHANNEL_NOTE_H

#define MEW_NOTE_SECTION ".note.mew"
#define MEW_NOTE_OWNER "mew" /* n_namesz counts its NUL: 4 */
#define MEW_NOTE_TYPE 1

#endif
