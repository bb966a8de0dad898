/**
 * Volumes: an append-only log of records in a ring of fixed-size segments, with one writer thread per volume.
 *
 * <p>{@link io.millrace.store.disk.Volume} is the entry point. The packages {@code disk.record} and
 * {@code disk.segment} define the byte layouts; {@code docs/reference/store-format.md} describes them together.
 * Integers on disk are little-endian; checksums are CRC32C.
 */
@NullMarked
package io.millrace.store.disk;

import org.jspecify.annotations.NullMarked;
