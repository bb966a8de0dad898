/** Purges by pattern, with which lookups compare stored responses. No I/O. */
@NullMarked
package io.millrace.proxy.purge.pattern;

import org.jspecify.annotations.NullMarked;
