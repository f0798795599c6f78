/* The compiled image as bytes of the program. It is its own file so that the program that writes the image can be
 * linked without it; the assembler includes the file because a C array of that size would slow every build. */
#include "catalog/image.h"

#ifndef AP_IMAGE_PATH
#error "AP_IMAGE_PATH names the image to embed"
#endif

#ifdef __APPLE__
#define SECTION  ".section __DATA,__const\n"
#define SYMBOL   "_ap_image_bytes"
#define END      "_ap_image_bytes_end"
#define EPILOGUE ".text\n"
#else
#define SECTION  ".section .rodata.ap_image,\"a\"\n"
#define SYMBOL   "ap_image_bytes"
#define END      "ap_image_bytes_end"
#define EPILOGUE ".previous\n"
#endif

__asm__(SECTION ".balign 16\n"
                ".globl " SYMBOL "\n" SYMBOL ":\n"
                ".incbin \"" AP_IMAGE_PATH "\"\n"
                ".globl " END "\n" END ":\n"
                ".byte 0\n" EPILOGUE);

extern const unsigned char ap_image_bytes[], ap_image_bytes_end[];

const unsigned char *ap_image_builtin(size_t *ret_len)
{
    *ret_len = (size_t)(ap_image_bytes_end - ap_image_bytes);
    return ap_image_bytes;
}
