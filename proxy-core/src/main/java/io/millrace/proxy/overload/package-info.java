/**
 * Detects for each remap rule whether its origin or this proxy is overloaded. During an overload, stored responses are
 * served longer.
 */
@NullMarked
package io.millrace.proxy.overload;

import org.jspecify.annotations.NullMarked;
