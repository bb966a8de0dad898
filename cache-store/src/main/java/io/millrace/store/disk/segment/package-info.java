/**
 * Segments: their file, their headers and summaries, their states and their readers.
 *
 * <p>{@link io.millrace.store.disk.segment.SegmentFile} reads and writes a volume's file.
 * {@link io.millrace.store.disk.segment.SegmentSummary} and {@link io.millrace.store.disk.segment.Superblock} define
 * their byte layouts; {@code docs/reference/store-format.md} describes them together.
 */
@NullMarked
package io.millrace.store.disk.segment;

import org.jspecify.annotations.NullMarked;
