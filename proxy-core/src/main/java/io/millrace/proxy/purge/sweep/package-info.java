/**
 * The background sweeper, which carries out purges by pattern on all stored responses.
 *
 * <p>It reads the inventory, the table of stored objects.
 */
@NullMarked
package io.millrace.proxy.purge.sweep;

import org.jspecify.annotations.NullMarked;
