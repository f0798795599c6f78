/* Compiled image: a file of named sections, each the records of one field table (schema's ap_image_write) or plain
 * bytes.
 *
 * tools/mkimage.c writes the catalog and whatever other layers want compiled in (calibration, rules) into one file;
 * builtin.c embeds it. A reader asks for its section by name and decodes only that, so an unused section costs nothing.
 */
#ifndef AP_CATALOG_IMAGE_H
#define AP_CATALOG_IMAGE_H

#include <stdbool.h>

#include "base/status.h"
#include "schema/schema.h"

enum { AP_SECTION_NAME_BYTES = 24 };

/* Appends a section. Names are at most 23 bytes and unique within a file. */
void ap_image_add_records(ap_sbuf *file, const char *section, const ap_object *object, const void *items, size_t count);
void ap_image_add_bytes(ap_sbuf *file, const char *section, const void *bytes, size_t len);

/* Bytes of a section (inside `file`), or NULL. Never reads outside file[0..len). */
const unsigned char *ap_image_find(const unsigned char *file, size_t len, const char *section, size_t *ret_len);
/* Decodes a section into the arena; the file must outlive it. A missing section gives no items and AP_OK; a damaged one
 * or one written by other field tables AP_BAD_DATA. */
AP_CHECKED ap_status ap_image_get_records(const unsigned char *file, size_t len, const char *section,
                                          const ap_object *object, ap_arena *arena, ap_any_list *ret);

/* The image embedded in the program (builtin.c); len 0 in the program that writes the image. */
const unsigned char *ap_image_builtin(size_t *ret_len);

#endif
