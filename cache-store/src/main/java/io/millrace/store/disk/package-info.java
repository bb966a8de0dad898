/**
 * Volumes: an append-only log of records in a ring of fixed segments, with one writer thread each.
 *
 * <p>{@link io.millrace.store.disk.Volume} is the way in. {@link io.millrace.store.disk.RecordHeader},
 * {@link io.millrace.store.disk.BodyPlace}, {@link io.millrace.store.disk.SegmentSummary} and
 * {@link io.millrace.store.disk.Superblock} own the byte layouts, which {@code docs/reference/store-format.md} shows together.
 * Integers on disk are little-endian; checksums are CRC32C.
 */
@NullMarked
package io.millrace.store.disk;

import org.jspecify.annotations.NullMarked;
