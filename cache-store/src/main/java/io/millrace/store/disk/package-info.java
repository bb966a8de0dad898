/**
 * Volumes: an append-only log of records in a ring of fixed segments, with one writer thread each.
 *
 * <p>{@link io.millrace.store.disk.Volume} is the way in. The byte layouts are owned by the packages {@code disk.record} and
 * {@code disk.segment}; {@code docs/reference/store-format.md} shows them together. Integers on disk are little-endian;
 * checksums are CRC32C.
 */
@NullMarked
package io.millrace.store.disk;

import org.jspecify.annotations.NullMarked;
