/** Parts of origin connections that only HTTP/1.1 has: keep-alive and the PROXY header. Knows neither pools nor calls. */
@NullMarked
package io.millrace.proxy.fetch.http1;

import org.jspecify.annotations.NullMarked;
