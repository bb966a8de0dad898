/**
 * The stored responses of a proxy, for the application that embeds it: lookups, purges, listings and the estimated hit
 * ratios of other cache sizes. Only types of this package and of the JDK appear in it.
 */
@NullMarked
package io.millrace.proxy.cache;

import org.jspecify.annotations.NullMarked;
