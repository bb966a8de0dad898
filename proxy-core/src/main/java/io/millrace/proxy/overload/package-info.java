/** Overload detection per rule, for an origin or this proxy. During an overload, stored responses are served longer. */
@NullMarked
package io.millrace.proxy.overload;

import org.jspecify.annotations.NullMarked;
