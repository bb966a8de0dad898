/** The decision about a request, shared by all lanes, and its inputs: settings, stored objects, time. */
@NullMarked
package io.millrace.proxy.exchange.decide;

import org.jspecify.annotations.NullMarked;
