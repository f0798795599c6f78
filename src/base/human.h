/* Numbers as people read them: grouped, in the unit that suits their size, with the digits that mean something. Every
 * text that is meant for people uses these, so that a table and a sentence never show one figure in two ways.
 *
 * Each adds to a buffer. Values are finite; unknown is the caller's matter. */
#ifndef AP_BASE_HUMAN_H
#define AP_BASE_HUMAN_H

#include "base/str.h"

/* So many significant digits with their zeros (1.50, 12.0); 1,234 from a thousand on. */
void ap_human_digits(ap_sbuf *out, double value, int digits);
/* Fixed decimals, commas between thousands for sizes of at least `from`. */
void ap_human_grouped(ap_sbuf *out, double value, int decimals, double from);
/* 3.2 h  45 min  12 d. `like` chooses the unit: the bounds of a range take that of its middle. */
void ap_human_hours(ap_sbuf *out, double hours, double like);
void ap_human_seconds(ap_sbuf *out, double seconds, double like, int digits);
void ap_human_count(ap_sbuf *out, double count, double like, int digits); /* 1.50 M */
void ap_human_usd(ap_sbuf *out, double usd);                              /* 12,345  1,234.50  0.0451 */

/* The same as a text of its own in the arena. */
const char *ap_human_hours_text(ap_arena *arena, double hours);
const char *ap_human_usd_text(ap_arena *arena, double usd);

#endif
