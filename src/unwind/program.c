/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "unwind/program.h"

#include <dwarf.h>

#define HIGH_BITS 0xc0

/* What follows an instruction's byte, in order: a letter each. */
#define REGISTER 'r'
#define NUMBER 'n' /* LEB128, of either sign */
#define BLOCK 'b'  /* a length and as many bytes */
#define ADDRESS 'a'

/* The operands; digits are numbers of bytes. NULL: not known. */
static const char *operands(uint8_t op)
{
	static const char *const known[0x40] = {
		[DW_CFA_nop] = "",
		[DW_CFA_set_loc] = "a",
		[DW_CFA_advance_loc1] = "1",
		[DW_CFA_advance_loc2] = "2",
		[DW_CFA_advance_loc4] = "4",
		[DW_CFA_offset_extended] = "rn",
		[DW_CFA_restore_extended] = "r",
		[DW_CFA_undefined] = "r",
		[DW_CFA_same_value] = "r",
		[DW_CFA_register] = "rr",
		[DW_CFA_remember_state] = "",
		[DW_CFA_restore_state] = "",
		[DW_CFA_def_cfa] = "rn",
		[DW_CFA_def_cfa_register] = "r",
		[DW_CFA_def_cfa_offset] = "n",
		[DW_CFA_def_cfa_expression] = "b",
		[DW_CFA_expression] = "rb",
		[DW_CFA_offset_extended_sf] = "rn",
		[DW_CFA_def_cfa_sf] = "rn",
		[DW_CFA_def_cfa_offset_sf] = "n",
		[DW_CFA_val_offset] = "rn",
		[DW_CFA_val_offset_sf] = "rn",
		[DW_CFA_val_expression] = "rb",
		[DW_CFA_MIPS_advance_loc8] = "8",
		[DW_CFA_GNU_window_save] = "", /* AARCH64_negate_ra_state */
		[DW_CFA_GNU_args_size] = "n",
		[DW_CFA_GNU_negative_offset_extended] = "rn",
	};

	switch (op & HIGH_BITS) {
	case DW_CFA_advance_loc:
	case DW_CFA_restore:
		return "";
	case DW_CFA_offset:
		return "n";
	default:
		return known[op];
	}
}

bool mew_program_number(const uint8_t **p, const uint8_t *end, uint64_t *ret)
{
	uint64_t value = 0;
	unsigned shift;

	for (shift = 0; shift < 64 && *p < end; shift += 7) {
		uint8_t byte = *(*p)++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = value;
			return true;
		}
	}
	return false;
}

static bool take_operand(char kind, const uint8_t **p, const uint8_t *end, size_t address_bytes)
{
	uint64_t value = 0;
	size_t skip = 0;

	if ((kind == REGISTER || kind == NUMBER || kind == BLOCK) &&
	    !mew_program_number(p, end, &value))
		return false;
	if (kind == REGISTER && value >= MEW_PROGRAM_REGISTERS)
		return false;
	if (kind == BLOCK && value > (size_t)(end - *p))
		return false;
	if (kind == BLOCK)
		skip = (size_t)value;
	else if (kind == ADDRESS)
		skip = address_bytes;
	else if (kind >= '1' && kind <= '8')
		skip = (size_t)(kind - '0');
	if (skip > (size_t)(end - *p) || (kind == ADDRESS && !skip))
		return false;
	*p += skip;
	return true;
}

bool mew_program_check(const uint8_t *p, const uint8_t *end, size_t address_bytes, size_t *ret_n)
{
	size_t n = 0, n_states = 0;

	for (; p < end; n++) {
		uint8_t op = *p++;
		const char *kinds = operands(op);

		if (!kinds)
			return false;
		if (op == DW_CFA_remember_state && ++n_states > MEW_PROGRAM_STATES)
			return false;
		if (op == DW_CFA_restore_state && n_states)
			n_states--;
		for (; *kinds; kinds++) {
			if (!take_operand(*kinds, &p, end, address_bytes))
				return false;
		}
	}
	*ret_n = n;
	return true;
}
