/** Access control: filters, methods, trusted proxies, and the rights to purge and to use the forward proxy. */
@NullMarked
package io.millrace.proxy.access;

import org.jspecify.annotations.NullMarked;
