/** Keys and records of {@code origin}, {@code origins}, HTTP/2 and tunnels. */
@NullMarked
package io.millrace.proxy.config.origins;

import org.jspecify.annotations.NullMarked;
