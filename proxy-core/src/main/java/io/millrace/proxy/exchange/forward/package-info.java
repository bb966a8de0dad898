/** Parts of a fetch and of its answer that know no event loop: requests to origins, held events, heads, pumps. */
@NullMarked
package io.millrace.proxy.exchange.forward;

import org.jspecify.annotations.NullMarked;
