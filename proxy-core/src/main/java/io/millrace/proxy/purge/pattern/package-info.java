/** Purges of stored responses by pattern: the list that lookups compare. No I/O. */
@NullMarked
package io.millrace.proxy.purge.pattern;

import org.jspecify.annotations.NullMarked;
