/**
 * Records: the byte layout of heads, body blocks and tombstones, and the place of a body on disk.
 *
 * <p>{@link io.millrace.store.disk.record.RecordHeader} and {@link io.millrace.store.disk.record.BodyPlace} define the
 * byte layouts; {@code docs/reference/store-format.md} describes them together. This package does no I/O.
 */
@NullMarked
package io.millrace.store.disk.record;

import org.jspecify.annotations.NullMarked;
