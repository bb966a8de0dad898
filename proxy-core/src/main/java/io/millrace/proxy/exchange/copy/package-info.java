/** Storing of responses that come from a file, by the rules for responses of origins. */
@NullMarked
package io.millrace.proxy.exchange.copy;

import org.jspecify.annotations.NullMarked;
