/** Settings of the membership in a fleet (nodes that share purges): keys and record. */
@NullMarked
package io.millrace.proxy.config.fleet;

import org.jspecify.annotations.NullMarked;
