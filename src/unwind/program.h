/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h: whether a program of call frame instructions (DWARF 5, 6.4.2) may be given to libdw.
 * That makes room for every register up to the highest one named, and copies all of it for each
 * state that is remembered: a few bytes may ask for gigabytes.
 */
#ifndef MEW_UNWIND_PROGRAM_H
#define MEW_UNWIND_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEW_PROGRAM_REGISTERS 256 /* CPUs have half as many DWARF numbers */
#define MEW_PROGRAM_STATES 32     /* remembered at once */

/*
 * The program [p, end): whole known instructions within the limits. address_bytes: of an address as
 * the FDE encodes it. *ret_n: how many there are; set only when the program is good.
 */
bool mew_program_check(const uint8_t *p, const uint8_t *end, size_t address_bytes, size_t *ret_n);

/* The low 64 bits of a number in LEB128, and *p behind it. False: it does not end,
 * within the ten bytes that libdw reads. */
bool mew_program_number(const uint8_t **p, const uint8_t *end, uint64_t *ret);

#endif
