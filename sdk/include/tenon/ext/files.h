/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Extension of storage devices: ranges of a file as slabs, and bytes between slabs and host memory
 * without a copy in between. get_extension(TN_FILES_ID) answers a tn_files, or null.
 *
 * The rules of tenon/plugin.h on growth, errors, ownership and threads hold here too. Every message
 * names the path, what was expected and what was found. A file that another process shortens, or a
 * disk that fills up, is an error and never a signal.
 */
#ifndef TENON_EXT_FILES_H
#define TENON_EXT_FILES_H

#include "tenon/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TN_FILES_ID "org.tenon.files.v1"

/* Flags of open_range. */
#define TN_FILES_WRITE 1u /* the range may be written, and may lie beyond the end of the file */

typedef struct tn_files {
  TN_HEADER;
  /* Bytes of the file of the device, now. TN_ERROR_UNSUPPORTED for a device that has none. */
  int32_t (*file_size)(tn_device* device, uint64_t* out_size, tn_error* error);
  /* [offset, offset + size) of the file as a slab, destroyed by memory_free; the file stays. `size`
   * > 0. Without TN_FILES_WRITE the range lies inside the file. With it the file grows to the end
   * of the range and the space is reserved before the call returns; what lies between the old end
   * and `offset` becomes a hole of zeros. After an error the file is as it was. */
  int32_t (*open_range)(tn_device* device, uint64_t offset, uint64_t size, uint32_t flags,
                        tn_memory** out_memory, tn_error* error);
  /* Bytes [offset, offset + size) of any slab of the device from or to host memory, which may be
   * the mapped memory of another device. Any number of threads at once. */
  int32_t (*read)(tn_memory* memory, uint64_t offset, uint64_t size, void* destination,
                  tn_error* error);
  int32_t (*write)(tn_memory* memory, uint64_t offset, uint64_t size, const void* source,
                   tn_error* error);
  /* The file's own pages, to be read until `unpin`, as for memory_import of another device; one pin
   * of a slab at a time. TN_ERROR_UNSUPPORTED wherever another process could take them away
   * meanwhile: then use `read`. */
  int32_t (*pin)(tn_memory* memory, uint64_t offset, uint64_t size, void** out_pointer,
                 tn_error* error);
  void (*unpin)(tn_memory* memory);
} tn_files;

#ifdef __cplusplus
}
#endif
#endif
