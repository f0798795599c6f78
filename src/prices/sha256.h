/* SHA-256 (FIPS 180-4), for telling whether two answers or two files are the same. */
#ifndef AP_PRICES_SHA256_H
#define AP_PRICES_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct ap_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
} ap_sha256;

void ap_sha256_init(ap_sha256 *sha);
void ap_sha256_add(ap_sha256 *sha, const void *bytes, size_t len);
void ap_sha256_end(ap_sha256 *sha, char hex[65]);

#endif
