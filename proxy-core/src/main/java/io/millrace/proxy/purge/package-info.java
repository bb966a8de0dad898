/** Purges of stored responses by URL, host, prefix, group, tag or pattern, and their undo. */
@NullMarked
package io.millrace.proxy.purge;

import org.jspecify.annotations.NullMarked;
