/* A zip archive that holds one file, as gpuhunt's catalog does. */
#ifndef AP_PRICES_UNZIP_H
#define AP_PRICES_UNZIP_H

#include <stdbool.h>
#include <stddef.h>

/* Unpacks the only entry (stored or deflated) of at most max_bytes into *ret_bytes, to be freed. Refuses: several
 * entries, names with folders, encryption, zip64, a wrong size or CRC. *ret_error is static text. */
bool ap_unzip_one(const unsigned char *zip, size_t len, size_t max_bytes, char **ret_bytes, size_t *ret_len,
                  const char **ret_error);

#endif
