/** Texts of the command {@code explain}: the rules and cache decisions for a request, with their reasons. */
@NullMarked
package io.millrace.proxy.explain;

import org.jspecify.annotations.NullMarked;
