/** The background sweeper, which carries out purges by pattern on all stored responses. */
@NullMarked
package io.millrace.proxy.purge.sweep;

import org.jspecify.annotations.NullMarked;
