/** The sweeper of purges by pattern, with a thread of its own. */
@NullMarked
package io.millrace.proxy.purge.sweep;

import org.jspecify.annotations.NullMarked;
