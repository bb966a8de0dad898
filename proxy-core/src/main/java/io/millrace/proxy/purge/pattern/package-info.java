/**
 * Purges by pattern, with which lookups compare stored responses. No I/O.
 *
 * <p>A sweep removes covered responses in the background. It reads the inventory, the table of stored objects.
 */
@NullMarked
package io.millrace.proxy.purge.pattern;

import org.jspecify.annotations.NullMarked;
