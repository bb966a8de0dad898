/** Text of {@code explain}: which rules hold for a request, what the cache would do, and why. */
@NullMarked
package io.millrace.proxy.explain;

import org.jspecify.annotations.NullMarked;
