/**
 * Segments: the file that holds them, their headers and summaries, their states and their readers.
 *
 * <p>{@link io.millrace.store.disk.segment.SegmentFile} reads and writes a volume's file;
 * {@link io.millrace.store.disk.segment.SegmentSummary} and {@link io.millrace.store.disk.segment.Superblock} own their byte
 * layouts, which {@code docs/reference/store-format.md} shows together.
 */
@NullMarked
package io.millrace.store.disk.segment;

import org.jspecify.annotations.NullMarked;
