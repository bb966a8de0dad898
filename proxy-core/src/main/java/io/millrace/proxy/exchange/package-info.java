/** The state machine of one request. This package alone calls the other steps of the request path. */
@NullMarked
package io.millrace.proxy.exchange;

import org.jspecify.annotations.NullMarked;
