/** The one decision about a request that all lanes share, and what it reads: settings, stored objects, time. */
@NullMarked
package io.millrace.proxy.exchange.decide;

import org.jspecify.annotations.NullMarked;
