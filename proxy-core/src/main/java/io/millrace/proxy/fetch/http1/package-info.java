/** What is of HTTP/1 only on connections to origins, and knows neither pools nor calls. */
@NullMarked
package io.millrace.proxy.fetch.http1;

import org.jspecify.annotations.NullMarked;
