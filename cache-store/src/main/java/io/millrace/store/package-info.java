/**
 * The store: keeps stored responses as keyed objects (an opaque head and a body of bytes) in RAM and on disk, and
 * knows nothing of HTTP.
 *
 * <p>{@link io.millrace.store.CacheStore} is the way in. A {@link io.millrace.store.StoredObject} is a reference
 * counted handle to one stored representation, an {@link io.millrace.store.ObjectWriter} fills a new one, and a
 * {@link io.millrace.store.HeadCodec} turns the caller's heads into bytes. Only this package is meant for callers, and
 * {@code StoreEngine.open} in {@code engine}, which joins the rooms: {@code memory} (the RAM tier), {@code index} (the
 * mapped table), {@code disk} (volumes, segments, records), {@code recover} (making an index whole again), {@code io}
 * (the seam to the file system) and {@code tool} (the offline checker and dump).
 *
 * <h2>Promises</h2>
 * <ul>
 *   <li>No method that takes an executor, and none of {@code get}, {@code contains}, {@code create} and
 *       {@code update}, waits for a disk.
 *   <li>Never a wrong byte: what is read from disk is checked (key, segment tag, CRC32C) before it is handed out.
 *   <li>What {@code remove} has answered for stays removed after kill -9; after a power failure everything older
 *       than the sync interval does.
 *   <li>A failing disk makes writers fail and objects absent; it never throws into the caller.
 * </ul>
 */
@NullMarked
package io.millrace.store;

import org.jspecify.annotations.NullMarked;
