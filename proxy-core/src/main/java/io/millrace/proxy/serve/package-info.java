/** Step 8: what an answer looks like - stored responses, partial ones, and the answers that the proxy makes itself. */
@NullMarked
package io.millrace.proxy.serve;

import org.jspecify.annotations.NullMarked;
