/** Identity of a request in the cache: its key, and whether it may have one. */
@NullMarked
package io.millrace.proxy.caching.key;

import org.jspecify.annotations.NullMarked;
