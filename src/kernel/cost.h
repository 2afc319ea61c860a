/* SPDX-License-Identifier: Apache-2.0 */
/* cost.h: what a sample of an event costs the thread that it interrupts, measured on ourselves. */
#ifndef MEW_KERNEL_COST_H
#define MEW_KERNEL_COST_H

#include "kernel/event.h"

/*
 * Spin for a tenth of a second, in turns with and without the event (a clock, or hardware by
 * interval; stack copies and a ring as in a real run). Seconds a sample, 0 when it is below what
 * can be measured, NAN when the event cannot be opened on ourselves.
 */
double mew_event_tick_cost(const struct mew_event *event);

#endif
