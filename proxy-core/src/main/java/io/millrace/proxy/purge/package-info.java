/** Invalidation of stored responses: stamps in force, undo, and removal of single URLs. */
@NullMarked
package io.millrace.proxy.purge;

import org.jspecify.annotations.NullMarked;
