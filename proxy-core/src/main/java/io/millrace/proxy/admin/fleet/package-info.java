/** Admin resources of the membership in a fleet (nodes that share purges): its state, and purges of other nodes. */
@NullMarked
package io.millrace.proxy.admin.fleet;

import org.jspecify.annotations.NullMarked;
