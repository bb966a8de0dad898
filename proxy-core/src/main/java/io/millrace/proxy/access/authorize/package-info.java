/** Decisions of authorisation servers: the results that are remembered, and the requests that wait for one. */
@NullMarked
package io.millrace.proxy.access.authorize;

import org.jspecify.annotations.NullMarked;
