/** Step 3: the state machine of one request. The only package that calls the other steps. */
@NullMarked
package io.millrace.proxy.exchange;

import org.jspecify.annotations.NullMarked;
