/** Resources of the membership in a fleet: its state, and the purges that the launcher passes to its worker. */
@NullMarked
package io.millrace.proxy.admin.fleet;

import org.jspecify.annotations.NullMarked;
