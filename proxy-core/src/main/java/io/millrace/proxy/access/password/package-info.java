/** Verification of passwords off the event loops, and the results that are remembered. */
@NullMarked
package io.millrace.proxy.access.password;

import org.jspecify.annotations.NullMarked;
