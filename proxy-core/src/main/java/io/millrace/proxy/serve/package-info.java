/** Step 8: responses to clients - stored ones, partial ones, and those that the proxy generates. */
@NullMarked
package io.millrace.proxy.serve;

import org.jspecify.annotations.NullMarked;
