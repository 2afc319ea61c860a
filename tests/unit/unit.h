/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each unit test includes: cmocka and the headers that it wants first. One group of tests a
 * program (TAP has one plan), names are sentences, no skip().
 */
#ifndef MEW_TESTS_UNIT_H
#define MEW_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
