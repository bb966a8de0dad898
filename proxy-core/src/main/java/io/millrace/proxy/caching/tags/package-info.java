/** Cache tags: which fields name them, how they are read, and their keyed hashes. No I/O, no clock. */
@NullMarked
package io.millrace.proxy.caching.tags;

import org.jspecify.annotations.NullMarked;
