/** The assembly of pages from ESI documents and their fragments, each of which is a request to this proxy. */
@NullMarked
package io.millrace.proxy.exchange.esi;

import org.jspecify.annotations.NullMarked;
