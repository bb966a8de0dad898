/**
 * The store: keeps stored responses as keyed objects in RAM and on disk. An object is an opaque head and a body of
 * bytes; the store does not depend on HTTP.
 *
 * <p>{@link io.millrace.store.CacheStore} is the entry point. A {@link io.millrace.store.StoredObject} is a
 * reference-counted handle to one stored representation, an {@link io.millrace.store.ObjectWriter} fills a new one, and
 * a {@link io.millrace.store.HeadCodec} encodes the caller's heads. Callers use only this package and
 * {@code StoreEngine.open} in {@code engine}, which joins the other packages.
 *
 * <p>The package {@code memory} is the RAM tier, {@code index} the memory-mapped table, and {@code disk} contains
 * volumes, segments and records. {@code recover} rebuilds an index, {@code io} accesses the file system, and
 * {@code tool} is the offline checker and dump.
 *
 * <h2>Guarantees</h2>
 *
 * <ul>
 *   <li>No method that takes an executor, and none of {@code get}, {@code contains}, {@code create} and
 *       {@code update}, waits for a disk.
 *   <li>No wrong byte is returned: content read from disk is checked first (key, segment tag, CRC32C).
 *   <li>An object whose {@code remove} was answered stays removed after kill -9. After a power failure this holds for
 *       removals older than the sync interval.
 *   <li>After a disk error writers fail and objects are absent; no exception is thrown to the caller.
 * </ul>
 */
@NullMarked
package io.millrace.store;

import org.jspecify.annotations.NullMarked;
