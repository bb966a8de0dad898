/**
 * Purges of stored responses by URL, host, prefix, group, tag or pattern, and their undo.
 *
 * <p>A stamp is a number that increases with each purge. A purge outdates covered responses with a lower stamp.
 */
@NullMarked
package io.millrace.proxy.purge;

import org.jspecify.annotations.NullMarked;
