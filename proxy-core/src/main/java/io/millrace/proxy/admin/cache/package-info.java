/** Admin resources of the cache: lookups, listings, explanations, purges, storage. */
@NullMarked
package io.millrace.proxy.admin.cache;

import org.jspecify.annotations.NullMarked;
