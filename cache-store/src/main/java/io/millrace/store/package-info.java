/**
 * The store: keeps stored responses as keyed objects in RAM and on disk. An object is an opaque head and a body of
 * bytes; the store does not depend on HTTP.
 *
 * <p>{@link io.millrace.store.CacheStore} is the entry point. A {@link io.millrace.store.StoredObject} is a
 * reference-counted handle to one stored representation, an {@link io.millrace.store.ObjectWriter} fills a new one, and
 * a {@link io.millrace.store.HeadCodec} encodes the caller's heads. Callers use only this package and
 * {@code StoreEngine.open} in {@code engine}, the package that connects the others.
 *
 * <p>The package {@code memory} is the RAM tier, {@code index} the memory-mapped table, and {@code disk} contains
 * volumes, segments and records. {@code recover} rebuilds an index, {@code io} accesses the file system, and
 * {@code tool} is the offline checker and dump.
 *
 * <h2>Guarantees</h2>
 *
 * <ul>
 *   <li>Methods that take an executor never wait for a disk; nor do {@code get}, {@code contains}, {@code create} and
 *       {@code update}.
 *   <li>Content read from disk is checked before it is returned: key, tag of the segment, CRC32C.
 *   <li>An object stays removed after kill -9 once {@code remove} has replied. After a power failure this holds for
 *       removals older than the sync interval.
 *   <li>After a disk error writers fail and objects are reported as absent; methods throw no exception for it.
 * </ul>
 */
@NullMarked
package io.millrace.store;

import org.jspecify.annotations.NullMarked;
