/** Text of {@code explain}: the rules that apply to a request, the decisions of the cache, and their reasons. */
@NullMarked
package io.millrace.proxy.explain;

import org.jspecify.annotations.NullMarked;
