/** Name resolution: a cache of addresses per event loop, and non-blocking DNS queries. */
@NullMarked
package io.millrace.proxy.dns;

import org.jspecify.annotations.NullMarked;
